/** Filling the views of branches, and dropping them, goes on after `kill -9` at any moment: no hole, and no event twice (D11, P7). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { branchViewName } from '../../src/events/branches/branch-view.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { actor, assertViews, keyOfBranches, stateOf, stepAll } from '../store/support/branch-views.ts'
import { draft, feedKey, tenantA } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'
import { eventsPerStep, killAfter, openPlace, places, stepsBefore } from './killed-program.ts'
import type { Place } from './killed-program.ts'

const [events, kills] = isLongRun ? [50_000, 50] : [400, 2]
const perStep = eventsPerStep(events, kills)
const branches = ['north', 'south'] as const
let published = 0

/** Properties that move between four branches, of which two are granted. */
async function publishSome(store: StorageEngine, count: number): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const drafts = Array.from({ length: Math.min(500, count - from) }, () => {
      published += 1
      const branch = ['north', 'south', 'east', 'west'][(published * 7) % 4] ?? ''
      const category = published % 3 === 0 ? 'lettings' : 'sales'
      return draft({ subject: `p${published % 90}`, text: `${published}`, branch, category })
    })
    await publish(store, drafts)
  }
}

async function goesOnWhenKilled(place: Place): Promise<void> {
  {
    await using store = await withTenants(await openPlace(place, true))
    await publishSome(store, events)
    await store.keys.insertKey(keyOfBranches('k', branches), actor)
  }
  for (let kill = 1; kill <= kills; kill += 1) {
    await killAfter('fill-steps.ts', place, [String(perStep)], stepsBefore(kill))
    await using store = await openPlace(place)
    const view = branchViewName(branches, 'all')
    if ((await stateOf(store, branches)) === 'ready') await assertViews(store, branches)
    else await assert.rejects(store.events.locate({ key: feedKey(), view }), { code: 'view_being_made' })
    await publishSome(store, 3)
  }
  await using store = await openPlace(place)
  await stepUntilDone(store)
  await publishSome(store, 10)
  await assertViews(store, branches)
  await store.keys.revokeKey('k', 1, actor)
  for (let kill = 1; kill <= Math.min(kills, 5) - 1; kill += 1) {
    await killAfter('fill-steps.ts', place, [String(perStep)], stepsBefore(kill))
    await publishSome(store, 3)
  }
  await stepUntilDone(store)
  assert.equal(await stateOf(store, branches), undefined)
  const again = keyOfBranches('again', branches, { tenantId: tenantA })
  await store.keys.insertKey(again, actor)
  await stepUntilDone(store)
  await assertViews(store, branches)
}

/** What a server was at when its client was killed, it may end after that: until then the set is another session's. */
async function stepUntilDone(store: StorageEngine): Promise<void> {
  for (let due = await store.branchViews.due(); due.length > 0; due = await store.branchViews.due()) {
    await stepAll(store, perStep * 4).catch((error: unknown) => assert.match(String(error), /busy/))
  }
}

describe('filling the views of branches, when it is killed', () => {
  for (const [engine, within] of places) {
    it(`continues where it was, and ends, as dropping them does, on ${engine} (D11, P7)`, () =>
      within(goesOnWhenKilled))
  }
})
