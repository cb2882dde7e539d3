/** Retention goes on after `kill -9` at any moment, and nothing that it took comes back (D17, P7). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ticksPerSecond } from '@property-events/protocol'
import { isReducedPayload } from '../../src/events/append/reduced-event.ts'
import { draft, feedKey, uuid } from '../store/support/drafts.ts'
import { wholeText } from '../store/support/erasing.ts'
import { headOf, list, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'
import { eventsPerStep, killAfter, openPlace, places, stepsBefore } from './killed-program.ts'
import type { Place } from './killed-program.ts'

const canary = 'canary-06be'
const [events, kills] = isLongRun ? [100_000, 50] : [600, 3]
const perStep = eventsPerStep(events, kills)

async function goesOn(place: Place): Promise<void> {
  {
    await using store = await withTenants(await openPlace(place, true))
    for (let from = 0; from < events; from += 300) {
      const drafts = Array.from({ length: 300 }, (_, index) =>
        draft({ subject: index % 2 === 0 ? 'p' : 'q', text: `${canary} ${from + index}` }),
      )
      await publish(store, drafts)
    }
    await publish(
      store,
      ['p', 'q'].map((subject) => draft({ subject, text: 'present' })),
    )
  }
  const later = BigInt(Date.now()) * 10_000n + 86_400n * ticksPerSecond
  // The same node each time, so that no turn has to run out.
  const nodeId = 'the killed one'
  let before = 0
  for (let kill = 1; kill <= kills; kill += 1) {
    const words = [String(later), nodeId, String(perStep)]
    await killAfter('thin-steps.ts', place, words, stepsBefore(kill))
    await using store = await openPlace(place)
    let { thinned } = await headOf(store)
    let all = await list(store)
    // What a database's server was at when its client was killed, it may end after that.
    for (let now = await headOf(store); now.thinned !== thinned; now = await headOf(store)) {
      ;({ thinned } = now)
      all = await list(store)
    }
    const gone = all.filter(({ payload }) => isReducedPayload(payload)).length
    assert.ok(gone > before, 'a step that was told of is kept')
    before = gone
    // Each step takes as many, and has raised the counter with them.
    assert.equal(gone, thinned * perStep)
  }
  await using store = await openPlace(place)
  const span = { key: feedKey(), before: later, supersededBefore: later }
  while ((await store.retention.thin(span, 100, nodeId)).kind === 'thinned') continue
  assert.ok(!(await wholeText(store)).includes(canary))
  const kept = (await list(store)).filter(({ payload }) => !isReducedPayload(payload))
  assert.deepEqual(
    kept.map(({ transactionId }) => transactionId),
    [uuid('p'), uuid('q')],
  )
}

describe('retention that is killed', () => {
  for (const [engine, within] of places) {
    it(`continues where it was, and ends, on ${engine}; nothing that it removed comes back, and no latest event goes (D17, P7)`, () =>
      within(goesOn))
  }
})
