/** An erasure goes on after `kill -9` at any moment, and nothing that was reduced comes back (D17, P7). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isErasedPayload } from '../../src/events/append/reduced-event.ts'
import { draft, tenantA, uuid } from '../store/support/drafts.ts'
import { begin, reduceAll, subject, wholeText } from '../store/support/erasing.ts'
import { list, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'
import { eventsPerStep, killAfter, openPlace, places, stepsBefore } from './killed-program.ts'
import type { Place } from './killed-program.ts'

const canary = 'canary-93aa'
const [eventsOfSubject, kills] = [sizeOf('EVENTS', 100_000, 600), sizeOf('KILLS', 50, 3)]
const perStep = eventsPerStep(eventsOfSubject, kills)

/** Of the long or the short form, unless the environment says otherwise. */
function sizeOf(name: string, long: number, short: number): number {
  return Number(process.env[`PROPERTY_EVENTS_TEST_ERASING_${name}`] ?? (isLongRun ? long : short))
}

/** A subject of many events among others, and an erasure of it that has begun. */
async function beginIn(place: Place): Promise<string> {
  await using store = await withTenants(await openPlace(place, true))
  for (let from = 0; from < eventsOfSubject; from += 300) {
    const drafts = Array.from({ length: 330 }, (_, index) =>
      index % 11 === 10
        ? draft({ subject: 'q', text: `${from + index}` })
        : draft({ subject: 'p', text: `${canary} ${from + index}` }),
    )
    await publish(store, drafts)
  }
  return (await begin(store, subject('p'))).erasureId
}

/** Every event that was reduced before is, and so many more; the copies of histories are told of each once. */
async function assertGoesOn(place: Place, erasureId: string, before: number): Promise<number> {
  await using store = await openPlace(place)
  const stateNow = async () => (await store.erasures.find(tenantA, erasureId)) ?? assert.fail('no erasure')
  let { reduced, revision } = await stateNow()
  let events = await list(store)
  // What a server was at when its client was killed, it may end after that.
  for (let now = await stateNow(); now.reduced !== reduced; now = await stateNow()) {
    ;({ reduced, revision } = now)
    events = await list(store)
  }
  assert.ok(reduced > before, 'a step that was told of is kept')
  const gone = events.filter(({ payload }) => isErasedPayload(payload)).length
  // The closing event never had one.
  assert.equal(gone, reduced + 1)
  const told = await store.erasures.reductions({ tenantId: tenantA, feed: 'property' }, 0, 1_000_000)
  assert.equal(told.at(-1)?.revision, revision)
  assert.equal(told.flatMap(({ sequenceNumbers }) => sequenceNumbers).length, reduced)
  return reduced
}

async function endsWhenKilled(place: Place): Promise<void> {
  const erasureId = await beginIn(place)
  let before = 0
  for (let kill = 1; kill <= kills; kill += 1) {
    await killAfter('erase-steps.ts', place, [erasureId, String(perStep)], stepsBefore(kill))
    before = await assertGoesOn(place, erasureId, before)
  }
  await using store = await openPlace(place)
  await reduceAll(store, erasureId)
  const erasure = await store.erasures.find(tenantA, erasureId)
  assert.deepEqual([erasure?.state, erasure?.reduced], ['reduced', erasure?.events])
  assert.ok(!(await wholeText(store)).includes(canary))
  const others = (await list(store)).filter(({ transactionId }) => transactionId === uuid('q'))
  assert.ok(others.length > 0 && others.every(({ payload }) => !isErasedPayload(payload)))
}

describe('an erasure that is killed', () => {
  for (const [engine, within] of places) {
    it(`continues where it was, and ends; nothing that was reduced comes back, on ${engine} (D17, P7)`, () =>
      within(endsWhenKilled))
  }
})
