/** The log of SQLite beside a simple model of it, on random histories. PostgreSQL agrees with SQLite (`../postgres/model.test.ts`). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { catalogues, feedNames, ticksPerSecond } from '@property-events/protocol'
import type { FeedKey } from '../../src/events/feed-key.ts'
import { viewNames } from '../../src/events/branches/branch-view.ts'
import { temporaryStore } from '../support/temporary-store.ts'
import { uuid } from './support/drafts.ts'
import { batchOf, branchSets, logActions, subjects } from './support/histories.ts'
import type { LogAction } from './support/histories.ts'
import { logModel } from './support/log-model.ts'
import type { EventLog } from './support/log-model.ts'
import { list } from './support/read-back.ts'
import { testClock, ticks } from './support/test-clock.ts'

const { clock } = testClock('2025-01-31T12:00:00')
const numRuns = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 2000 : 100

/** What both answer to the same question, with bytes as text. */
type Ask = <T>(ask: (log: EventLog) => T | Promise<T>) => Promise<T>

function askBoth(store: EventLog, model: EventLog): Ask {
  return async (ask) => {
    const [own, wanted] = [await ask(store), await ask(model)]
    assert.deepEqual(readable(own), readable(wanted))
    return wanted
  }
}

function readable(answer: unknown): unknown {
  if (answer instanceof Uint8Array) return Buffer.from(answer).toString()
  if (Array.isArray(answer)) return answer.map(readable)
  if (typeof answer !== 'object' || answer === null) return answer
  // An epoch's id is random.
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, name === 'epoch' ? '' : readable(value)]),
  )
}

async function play(action: LogAction, tenants: readonly [string, string], ask: Ask): Promise<void> {
  switch (action.kind) {
    case 'append': {
      const groups = action.groups.map((group) => group.map((words) => batchOf(words, tenants)))
      await ask((log) => Promise.all(groups.map((batches) => log.events.append(batches))))
      return
    }
    case 'preview': {
      const asked = batchOf(action.request, tenants)
      await ask((log) => log.events.preview(asked))
      return
    }
    case 'clock':
      Atomics.add(clock, 0, BigInt(action.seconds) * ticksPerSecond)
      return
    case 'window': {
      const { fromSeconds, view } = action
      const from =
        fromSeconds === undefined ? 0n : Atomics.load(clock, 0) + BigInt(fromSeconds) * ticksPerSecond
      await ask((log) => log.events.locate({ key: { tenantId: tenants[0], feed: 'property' }, view, from }))
      return
    }
    case 'epoch':
      await ask(async (log) => void (await log.startEpoch(action.continueAfter, 'cli:test')))
  }
}

/** Every list, window and event of a feed, by every page size; and what is latest of its subjects. */
async function compare(key: FeedKey, ask: Ask): Promise<void> {
  const all = await ask((log) => list(log, { key }))
  await ask((log) => log.events.head(key))
  await ask(async (log) => {
    const counts = await log.events.counts(key.tenantId)
    return counts.toSorted((a, b) => a.key.feed.localeCompare(b.key.feed))
  })
  const times = all.slice(0, 5).map(({ createdDate }) => ticks(createdDate))
  const through = Math.ceil(all.length / 2)
  for (const view of viewNames) {
    const whole = await ask((log) => list(log, { key, view }))
    for (const pageSize of [1, 7])
      assert.deepEqual(await ask((log) => list(log, { key, view }, pageSize)), whole)
    for (const at of times) {
      const before = await ask((log) => list(log, { key, view, to: at }))
      assert.deepEqual(
        before,
        whole.filter(({ createdDate }) => ticks(createdDate) < at),
      )
      await ask((log) => list(log, { key, view, from: at, to: at + ticksPerSecond }))
    }
    const of = { key, view }
    await ask((log) => log.events.measureRange({ ...of, first: 1, count: whole.length }))
    await ask((log) => log.events.tally({ ...of, times }))
    await ask((log) => log.events.readNewest({ ...of, before: 9, limit: 5 }))
    await ask((log) => log.events.latestPositions({ ...of, after: 1, through, limit: 3 }))
    await ask(async (log) => {
      const { positions, next } = await log.events.earlierPositions({
        ...of,
        after: through,
        through,
        limit: 3,
      })
      return { positions: positions.toSorted((a, b) => a - b), next }
    })
    const [first, last] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
    await ask((log) => log.events.liveSubjects({ ...of, first, last, after: undefined, limit: 3 }))
    for (const latestOnly of [false, true]) {
      const after = all.at(2)?.sequenceNumber ?? 0
      await ask((log) => log.events.readAfter({ ...of, after, limit: 5, latestOnly }))
    }
  }
  for (const branches of [undefined, branchSets[0]]) {
    for (const subjectId of subjects.map((name) => uuid(name))) {
      await ask((log) => log.events.readLatest(key, subjectId, branches))
      await ask((log) => log.events.readLatest(key, subjectId, branches, all.at(-2)?.sequenceNumber ?? 0))
      await ask((log) => log.events.readSubject({ key, subjectId, after: 2, limit: 5, branches }))
    }
    for (const { id } of all) await ask((log) => log.events.readEvent(key, id, branches))
  }
  for (const { id } of all) await ask((log) => log.events.positionOf(key, id))
}

describe('the log on SQLite and a model of it', () => {
  it('agree on every outcome, list, window and event of random histories (P12, P4)', async () => {
    await using store = await temporaryStore({ clock, writesOn: 'ownThread' })
    const model = logModel(catalogues.default, clock)
    const ask = askBoth(store, model)
    let runs = 0
    await fc.assert(
      fc.asyncProperty(logActions(), async (history) => {
        runs += 1
        const tenants = [uuid(`run ${runs} a`), uuid(`run ${runs} b`)] as const
        for (const tenantId of tenants) {
          const tenant = { tenantId, name: tenantId, createdMs: 0, suspended: false }
          await store.tenants.createTenant(tenant, 'cli:test')
          model.addTenant(tenantId)
        }
        for (const action of history) await play(action, tenants, ask)
        for (const tenantId of tenants) {
          for (const feed of feedNames) await compare({ tenantId, feed }, ask)
        }
      }),
      { numRuns },
    )
  })
})
