/** Whatever is asked of the tables of webhooks is found through an index: what waits, what was tried and what is told grow (P5). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { catalogues } from '@property-events/protocol'
import { openStorage, storeFileOf } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { tenantA } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import {
  eventNamed,
  leaseMs,
  leaseOf,
  progressOf,
  recordOf,
  secretNamed,
  withEndpoint,
} from '../store/support/webhooks.ts'
import { recordQueries, recordStatements, withoutValues } from '../support/recorded-statements.ts'

const growing = /\bwebhook_(?:waiting|given_up|version|delivery|notice)\b/
/** Endpoints and their secrets are few of each tenant, and nodes few; the rest are values that a statement is given. */
const isFew =
  /^SCAN (?:w|webhook|s|webhook_secret|webhook_sender|json_each|rows_given|CONSTANT|\d|\()(?=$|[ \d])/

/** Everything that the store of webhooks can be asked, on rows that are there. */
async function askAll(store: StorageEngine): Promise<void> {
  const { webhooks } = store
  const [one, other, copied] = [
    await withEndpoint(store),
    await withEndpoint(store),
    await withEndpoint(store),
  ]
  const { endpointId } = one
  const node = randomUUID()
  await webhooks.renew(node, leaseMs)
  const lease = await leaseOf(store, endpointId, node)
  const [first, second] = [eventNamed('Tŷ Gwyn', 101), eventNamed('Bwthyn £ 🏡', 102)]
  const waiting = [first, second].map((event) => ({ ...event, tries: 1, nextTryMs: 0 }))
  const deliveries = [{ event: first }, { event: second }]
  const rows = { waiting, givenUp: [first], removed: [second.subjectId] }
  await webhooks.save([progressOf(lease, { settled: 103, rows, versions: [first], deliveries })])
  await webhooks.save([progressOf(lease, { notice: 'webhook.failing' })])
  await webhooks.waiting(endpointId, 9)
  await webhooks.waiting(endpointId, 9, first.subjectId)
  await webhooks.givenUp(endpointId, 0, 9)
  await webhooks.givenUp(endpointId, 0, 9, first.subjectId)
  await webhooks.version(endpointId, first.subjectId)
  const page = { endpointId, before: undefined, limit: 9 }
  await webhooks.deliveries(page)
  await webhooks.deliveries({ ...page, subjectId: first.subjectId })
  await webhooks.notices({ tenantId: tenantA, feed: 'property', after: 0, limit: 9 })
  // These end the lease.
  await webhooks.resend(endpointId, second, 'cli:test')
  await webhooks.resend(endpointId, 'givenUp', 'cli:test')
  const secret = { added: secretNamed('second'), presentEndMs: 1 }
  await webhooks.change(endpointId, { cursor: { after: 100, epoch: 'epoch-1' }, secret }, 'cli:test')
  await webhooks.claim(node, 9, leaseMs)
  await webhooks.save([progressOf(await freshLease(store, other.endpointId), { disable: 'gone' })])
  await webhooks.secrets('', 9)
  await webhooks.prune()
  const paused = { kind: 'paused', reason: 'copied', sinceMs: 1 } as const
  await webhooks.change(copied.endpointId, { state: paused }, 'cli:test')
  const taken = {
    endpoint: { ...recordOf(copied), state: paused },
    waiting,
    givenUp: [{ ...first, atMs: 1 }],
  }
  await webhooks.take(taken, 'cli:test')
  await webhooks.release(node)
  await webhooks.remove(endpointId, 'cli:test')
  await store.startEpoch(1_000, 'cli:test')
}

async function freshLease(store: StorageEngine, endpointId: string) {
  const node = randomUUID()
  await store.webhooks.change(endpointId, { state: { kind: 'enabled' } }, 'cli:test')
  return leaseOf(store, endpointId, node)
}

describe('the plans of webhooks', () => {
  it('scan no table that grows on SQLite (P5, PROTOCOL §16)', async () => {
    using folder = temporaryFolder()
    const place = { kind: 'sqlite', folder: folder.path, create: true, writesOn: 'thisThread' } as const
    await using store = await withTenants(await openStorage({ ...place, catalogue: catalogues.default }))
    const db = new Database(storeFileOf(folder.path), { readonly: true })
    const recording = recordStatements(db, { writes: true })
    try {
      await askAll(store)
    } finally {
      recording.stop()
    }
    const asked = recording.sources().filter((sql) => growing.test(sql))
    const faults = asked.flatMap((sql) => {
      const plan = db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${withoutValues(sql)}`).all()
      const scans = plan.filter(({ detail }) => detail.startsWith('SCAN') && !isFew.test(detail))
      return scans.map(({ detail }) => `${detail}\n  ${sql}`)
    })
    db.close()
    assert.ok(asked.length > 25, `${asked.length} statements`)
    assert.deepEqual(faults, [])
  })

  it('scan no table that grows on PostgreSQL (P5, PROTOCOL §16)', async () => {
    const url = await (await sharedDatabases()).create()
    const place = { kind: 'postgres', url, create: true, readConnections: 2 } as const
    await using store = await withTenants(await openStorage({ ...place, catalogue: catalogues.default }))
    const recording = recordQueries()
    try {
      await askAll(store)
    } finally {
      recording.stop()
    }
    const queries = new Map(recording.queries().map((query) => [query.text, query]))
    const asked = [...queries.values()].filter(
      ({ text }) => growing.test(text) && /^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/.test(text),
    )
    const client = new Client({ connectionString: url })
    await client.connect()
    const faults: string[] = []
    // Where a table has few rows a scan is right; what is looked for is whether an index can serve.
    await client.query('SET enable_seqscan = off')
    for (const { text, values } of asked) {
      const explained = { text: `EXPLAIN ${text}`, values: [...values] }
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(explained)
      const scans = rows.map((row) => row['QUERY PLAN']).filter((line) => /Seq Scan on/.test(line))
      faults.push(...scans.filter((line) => growing.test(line)).map((line) => `${line}\n  ${text}`))
    }
    await client.end()
    assert.ok(asked.length > 25, `${asked.length} statements`)
    assert.deepEqual(faults, [])
  })
})
