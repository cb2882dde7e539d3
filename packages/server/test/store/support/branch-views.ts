/** Short ways to grant branches, to have their views filled, and to say what should stand in them. */
import assert from 'node:assert/strict'
import {
  branchSetId,
  branchSetOf,
  branchViewName,
  viewNames,
} from '../../../src/events/branches/branch-view.ts'
import type { BranchSetId, FeedView } from '../../../src/events/branches/branch-view.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { KeyRecord } from '../../../src/keys/key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { EventRecord } from '../../../src/store/store-records.ts'
import { feedKey, tenantA } from './drafts.ts'
import { list, numbers } from './read-back.ts'

export const actor = 'cli:test'

/** A key that reads the properties of some branches of a tenant. */
export function keyOfBranches(
  keyId: string,
  branches: readonly string[],
  given: Partial<KeyRecord> & { readonly tenantId?: string } = {},
): KeyRecord {
  const { tenantId = tenantA, ...others } = given
  return {
    keyId,
    secretHash: new Uint8Array(32),
    pepperId: 'pepper-1',
    label: 'Website',
    operator: false,
    grants: [{ tenantId, scopes: ['property:read'], branches: branchSetOf(branches) }],
    createdMs: 1,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...others,
  }
}

/** The views of these branches, filled. Answers how many steps that took. */
export async function grantBranches(
  store: StorageEngine,
  branches: readonly string[],
  given: { readonly tenantId?: string; readonly limit?: number } = {},
): Promise<number> {
  const { tenantId = tenantA, limit = 7 } = given
  const keyId = `of ${tenantId} ${branchSetId(branches)}`
  await store.keys.insertKey(keyOfBranches(keyId, branches, { tenantId }), actor)
  return await stepAll(store, limit)
}

/** All steps that are before all sets. */
export async function stepAll(store: StorageEngine, limit = 7): Promise<number> {
  let steps = 0
  for (const set of await store.branchViews.due()) {
    for (let outcome = 'more'; outcome === 'more'; steps += 1) {
      outcome = await store.branchViews.step(set, limit)
      assert.notEqual(outcome, 'busy')
    }
  }
  return steps
}

export async function stateOf(store: StorageEngine, branches: readonly string[], tenantId = tenantA) {
  const id: BranchSetId = branchSetId(branches)
  const sets = await store.branchViews.sets()
  return sets.find((one) => one.tenantId === tenantId && one.set === id)?.state
}

/** Where everything stands: as another store would be given it. */
export async function recordsOf(
  store: StorageEngine,
  key: FeedKey = feedKey(),
): Promise<readonly EventRecord[]> {
  const found: EventRecord[] = []
  await store.exportRecords(
    () => 0,
    async (records) => {
      for (const record of records) {
        if (record.kind !== 'event') continue
        if (record.key.tenantId === key.tenantId && record.key.feed === key.feed) found.push(record)
      }
    },
  )
  return found
}

/** Every way of reading the three views of these branches shows what a fold of the whole feed, filtered by branch, shows. */
export async function assertViews(
  store: StorageEngine,
  branches: readonly string[],
  key: FeedKey = feedKey(),
): Promise<void> {
  const records = await recordsOf(store, key)
  const smallPage = Math.max(3, Math.ceil(records.length / 10))
  const last = new Map(records.map(({ subjectId, position }) => [subjectId, position]))
  for (const name of viewNames) {
    const view = branchViewName(branches, name)
    const wanted = records.filter(
      ({ branch, category }) =>
        branch !== null && branches.includes(branch) && (name === 'all' || category === name),
    )
    const wantedNumbers = numbers(wanted)
    for (const pageSize of [smallPage, 1000]) {
      assert.deepEqual(numbers(await list(store, { key, view }, pageSize)), wantedNumbers, `list of ${name}`)
    }
    const range = (await store.events.locate({ key, view }))?.range
    assert.ok(range)
    const lengths = wanted.map(({ json }) => Buffer.byteLength(json))
    assert.deepEqual(await store.events.measureRange(range), lengths)
    for (const at of [0, Math.floor(records.length / 2), records.length - 1]) {
      const bound = records[at]
      if (bound === undefined) continue
      const from = numbers(
        await list(store, { key, view, from: bound.created, to: bound.created + 10n ** 15n }),
      )
      assert.deepEqual(
        from,
        wantedNumbers.filter((number) => number >= bound.sequenceNumber),
        'from a time',
      )
      const to = numbers(await list(store, { key, view, to: bound.created }))
      assert.deepEqual(
        to,
        wantedNumbers.filter((number) => number < bound.sequenceNumber),
        'to a time',
      )
      const after = { key, view, after: bound.sequenceNumber, limit: 1000 }
      const read = numbers(await store.events.readAfter({ ...after, latestOnly: false }))
      assert.deepEqual(
        read,
        wantedNumbers.filter((number) => number > bound.sequenceNumber).slice(0, after.limit),
        'after a number',
      )
    }
    const latest = wanted.filter(({ subjectId, position }) => last.get(subjectId) === position)
    const query = { key, view, after: 0, limit: 1000 }
    assert.deepEqual(
      numbers(await store.events.readAfter({ ...query, latestOnly: true })),
      numbers(latest),
      `latest of ${name}`,
    )
    for (const through of new Set([0, Math.floor(records.length / 2), records.length])) {
      assert.deepEqual(
        await currentPositions(store, { key, view }, through, smallPage),
        foldAt(records, through).filter((position) => wanted.some((one) => one.position === position)),
        `current in ${name} as of ${through}`,
      )
    }
  }
}

/** Of each subject the last event up to a position. */
function foldAt(records: readonly EventRecord[], through: number): readonly number[] {
  const last = new Map(records.slice(0, through).map(({ subjectId, position }) => [subjectId, position]))
  return [...last.values()].toSorted((a, b) => a - b)
}

async function currentPositions(
  store: StorageEngine,
  of: { readonly key: FeedKey; readonly view: FeedView },
  through: number,
  limit: number,
): Promise<readonly number[]> {
  const found: number[] = []
  for (let after = 0; ;) {
    const step = await store.events.latestPositions({ ...of, after, through, limit })
    found.push(...step)
    after = step.at(-1) ?? after
    if (step.length < limit) break
  }
  for (let after: number | undefined = through; after !== undefined;) {
    const step = await store.events.earlierPositions({ ...of, after, through, limit: limit + 1 })
    found.push(...step.positions)
    after = step.next
  }
  return found.toSorted((a, b) => a - b)
}
