/** A restriction, and its end, go on after `kill -9` at any moment: nothing of it is shown, nothing of it is lost (D17, P7, P9). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedEvent } from '@property-events/protocol'
import { isReducedPayload } from '../../src/events/append/reduced-event.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft } from '../store/support/drafts.ts'
import { list, publish } from '../store/support/read-back.ts'
import {
  beginLifting,
  beginRestriction,
  contacts,
  keptTexts,
  stateOf,
  stepAll,
} from '../store/support/restricting.ts'
import { withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'
import { eventsPerStep, killAfter, openPlace, places, stepsBefore } from './killed-program.ts'
import type { Place } from './killed-program.ts'

const canary = 'canary-5d10'
const [events, kills] = isLongRun ? [20_000, 20] : [400, 2]
const perStep = eventsPerStep(events, kills)
const query = { key: contacts, limit: events * 2 }

function isHidden({ payload }: FeedEvent): boolean {
  return isReducedPayload(payload)
}

/** A contact of many events among those of another one. */
async function fill(store: StorageEngine): Promise<readonly FeedEvent[]> {
  for (let from = 0; from < events; from += 200) {
    const drafts = Array.from({ length: 220 }, (_, index) =>
      index % 11 === 10
        ? draft({ subject: 'd', text: `${from + index}` })
        : draft({ subject: 'c', text: `${canary} ${from + index}` }),
    )
    await publish(store, drafts, { key: contacts })
  }
  return list(store, query)
}

/** Killed again and again: every event is as it was or hidden, and what a step was told of stays done. */
async function endsWhenKilled(
  place: Place,
  restrictionId: string,
  before: readonly FeedEvent[],
  isDone: (event: FeedEvent) => boolean,
): Promise<void> {
  let done = -1
  for (let kill = 1; kill <= kills; kill += 1) {
    await killAfter('restrict-steps.ts', place, [restrictionId, String(perStep)], stepsBefore(kill))
    await using store = await openPlace(place)
    const now = (await list(store, query)).slice(0, before.length)
    for (const [index, event] of now.entries()) {
      if (!isHidden(event)) assert.deepEqual(event, before[index])
    }
    const count = now.filter(isDone).length
    assert.ok(count > done, 'a step that was told of is kept')
    done = count
  }
  await using store = await openPlace(place)
  await stepAll(store, restrictionId)
}

async function goesOn(place: Place): Promise<void> {
  let before: readonly FeedEvent[]
  let restrictionId: string
  {
    await using store = await withTenants(await openPlace(place, true))
    before = await fill(store)
    ;({ restrictionId } = await beginRestriction(store, 'c'))
  }
  await endsWhenKilled(place, restrictionId, before, isHidden)
  {
    await using store = await openPlace(place)
    assert.equal(await store.restrictions.acknowledge(restrictionId, undefined), 'restricted')
    assert.ok(!JSON.stringify(await list(store, query)).includes(canary), 'nothing of it is shown')
    assert.ok((await keptTexts(store, 'c')).every((text) => String(text).startsWith(canary)))
    await beginLifting(store, restrictionId)
  }
  await endsWhenKilled(place, restrictionId, before, (event) => !isHidden(event))
  await using store = await openPlace(place)
  assert.deepEqual((await list(store, query)).slice(0, before.length), before, 'byte for byte')
  assert.equal((await stateOf(store, restrictionId)).state, 'lifted')
  assert.deepEqual(await keptTexts(store, 'c'), [])
}

describe('a restriction that is killed', () => {
  for (const [engine, within] of places) {
    it(`continues where it was, and ends, as does its end, on ${engine}; nothing is shown or lost (D17, P7, P9)`, () =>
      within(goesOn))
  }
})
