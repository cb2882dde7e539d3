/** Rows of notes that somebody else holds, on PostgreSQL: others are added, events are published, and no count is lost (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { catalogues } from '@property-events/protocol'
import type { WriteBuffer } from '../../src/runtime/write-buffer.ts'
import { createPublishHistory } from '../../src/publishing/history/publish-history.ts'
import { createReadCounts } from '../../src/consumers/read-counts.ts'
import { countUsage } from '../../src/usage/usage-counter.ts'
import { unreported } from '../../src/runtime/background-task.ts'
import { createUseLog } from '../../src/keys/use-log.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { actor, keyOfBranches } from '../store/support/branch-views.ts'
import { draft, feedKey, tenantA } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { holdFeed } from './support/hold-feed.ts'
import { sharedDatabases } from './test-databases.ts'

const keyCount = 1_200
const hour = 480_000
const clock = () => hour * 3_600_000
const key = feedKey(tenantA)
const rest = async (): Promise<void> => undefined
/** In the second of three statements, as keys are ordered there. */
const ids = Array.from({ length: keyCount }, (_, n) => `key${String(n).padStart(4, '0')}`)
const held = ids[700] ?? ''

interface Part {
  readonly table: string
  readonly note: (keyId: string) => void
  readonly notes: WriteBuffer
  /** Of one key, in the store. */
  readonly sum: (keyId: string) => Promise<number>
}

function partsOf(storage: StorageEngine): readonly Part[] {
  const usage = countUsage(storage.usage, clock)
  const published = createPublishHistory(storage.publications, clock)
  const receipt = { events: [], repeated: false, warnings: [] }
  const readings = createReadCounts(storage.consumers, { resultDays: 730, clock })
  const refusals = createReadCounts(storage.consumers, { resultDays: 730, clock })
  const minute = hour * 60
  const uses = createUseLog(storage.keys, unreported)
  /** One later each time. */
  const usedMs = new Map<string, number>()
  return [
    {
      table: 'usage_hour',
      note: (keyId) => usage.count(keyId, 'listPropertyEvents', 200, 10),
      notes: usage,
      sum: async (keyId) => (await storage.usage.hours(keyId, hour, hour))[0]?.requests ?? 0,
    },
    {
      table: 'key',
      note(keyId) {
        usedMs.set(keyId, (usedMs.get(keyId) ?? 0) + 1)
        uses.record(keyId, usedMs.get(keyId) ?? 0)
      },
      notes: uses,
      sum: async (keyId) => (await storage.keys.keys()).find((one) => one.keyId === keyId)?.lastUsedMs ?? 0,
    },
    {
      table: 'published',
      note: (keyId) => published.accepted(keyId, key, receipt),
      notes: published,
      async sum(keyId) {
        const within = { fromMinute: minute, toMinute: minute, before: undefined, limit: 10 }
        return (await storage.publications.list({ tenantId: tenantA, keyId, ...within }))[0]?.requests ?? 0
      },
    },
    {
      table: 'consumer_view',
      note(keyId) {
        const part = { key, view: 'all', space: 'ordinals', epoch: 'e1', route: 'list' } as const
        readings.note(keyId, 'default', { ...part, ranges: [[1, 1]], isQuiet: false }, 200)
      },
      notes: readings,
      async sum(keyId) {
        const kept = (await storage.consumers.readings(key)).filter((one) => one.keyId === keyId)
        return kept.length
      },
    },
    {
      table: 'consumer_refusal',
      note: (keyId) =>
        refusals.noteRefusal({
          keyId,
          name: 'default',
          tenantId: tenantA,
          code: 'epoch_changed',
          status: 409,
        }),
      notes: refusals,
      sum: async (keyId) => (await storage.consumers.refusals([keyId]))[0]?.count ?? 0,
    },
  ]
}

async function openStore() {
  const url = await (await sharedDatabases()).create()
  const given = { kind: 'postgres', url, readConnections: 1, create: true } as const
  const storage = await withTenants(await openStorage({ ...given, catalogue: catalogues.default }))
  return { url, storage, [Symbol.asyncDispose]: () => storage.close() }
}

async function makeKeys(storage: StorageEngine, database: Client): Promise<void> {
  await storage.keys.insertKey(keyOfBranches('pattern', ['Dale']), actor)
  await database.query(`INSERT INTO key OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(k, jsonb_build_object('key_no', 1000 + n, 'key_id', 'key' || lpad(n::text, 4, '0')))).*
    FROM key k, generate_series(0, ${keyCount - 1}) AS n WHERE k.key_id = 'pattern'`)
}

describe('rows of notes that another session holds', () => {
  it('keep back their own statement alone, no commit of events, and no sum (PROTOCOL §14)', async () => {
    await using opened = await openStore()
    const { url, storage } = opened
    const holder = new Client({ connectionString: url })
    await holder.connect()
    try {
      await makeKeys(storage, holder)
      const parts = partsOf(storage)
      const noteAll = () => parts.forEach(({ note }) => ids.forEach(note))
      noteAll()
      for (const { table, notes, sum } of parts) {
        await notes.flush(rest)
        assert.equal(await sum(held), 1, table)
      }
      await holder.query('BEGIN')
      for (const { table } of parts)
        await holder.query(`SELECT FROM ${table} WHERE key_id = $1 FOR UPDATE`, [held])
      noteAll()
      const state = { isOver: false }
      const flushing = Promise.all(
        parts.map(({ notes, table }) => assert.rejects(notes.flush(rest), { code: 'feed_locked' }, table)),
      ).finally(() => (state.isOver = true))
      // One after another, for as long as the rows are waited for.
      let commits = 0
      for (; !state.isOver; commits += 1) await publish(storage, [draft({ subject: `${commits}` })])
      await flushing
      assert.ok(commits > 1, `${commits} commits`)
      const [first = '', second = '', third = ''] = [ids[0], ids[600], ids[1_100]]
      for (const { table, sum } of parts) {
        // What was sent once more is the same.
        const twice = table === 'consumer_view' ? 1 : 2
        assert.deepEqual([await sum(first), await sum(held), await sum(third)], [twice, 1, twice], table)
      }

      await holder.query('COMMIT')
      for (const { table, notes, sum } of parts) {
        await notes.flush(rest)
        const twice = table === 'consumer_view' ? 1 : 2
        for (const keyId of [first, second, held, third])
          assert.equal(await sum(keyId), twice, `${table} ${keyId}`)
      }
    } finally {
      await holder.end()
    }
  })

  it('is not what a commit of events that waits for its feed keeps back (PROTOCOL §14)', async () => {
    await using opened = await openStore()
    const { url, storage } = opened
    const counter = await holdFeed(url, key)
    const state = { isOver: false }
    const commit = publish(storage, [draft({ subject: 'house' })]).finally(() => (state.isOver = true))
    try {
      for (const { table, note, notes, sum } of partsOf(storage)) {
        // There are no such keys, whose uses could be noted.
        if (table === 'key') continue
        ids.slice(0, 20).forEach(note)
        await notes.flush(rest)
        assert.equal(await sum(ids[7] ?? ''), 1, table)
      }
      assert.equal(state.isOver, false)
    } finally {
      await counter.release()
    }
    await commit
  })
})
