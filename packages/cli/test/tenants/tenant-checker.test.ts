/** Who checks the checker: each fault that a move could make, planted into what readers have seen. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { FeedEvent } from '@property-events/client'
import { checkTenant } from '../support/tenant-load.ts'
import type { Seen } from '../support/tenant-load.ts'

const tenantId = randomUUID()

function event(sequenceNumber: number): FeedEvent {
  return {
    id: randomUUID(),
    tenantId,
    sequenceNumber,
    eventType: 2,
    eventTypeShortCode: 'PropertyUpdated',
    transactionId: randomUUID(),
    createdDate: `2026-01-01T00:00:0${sequenceNumber}.0000000`,
    payload: '{}',
  }
}

/** What was seen of five events by readers that all have seen the same. */
function seenOf(events: readonly FeedEvent[], acknowledged: readonly FeedEvent[] = events): Seen {
  return {
    acknowledged: new Map(
      acknowledged.map(({ id, sequenceNumber, createdDate }) => [id, { sequenceNumber, createdDate }]),
    ),
    byNumber: [...events],
    byWindow: new Map(events.map((one) => [one.id, one])),
    byPages: [...events],
  }
}

const five = [1, 2, 3, 4, 5].map(event)
const [, second, third, fourth] = five
assert.ok(second !== undefined && third !== undefined && fourth !== undefined)
const without = (one: FeedEvent) => five.filter((other) => other !== one)
const withNew = (number: number, change: Partial<FeedEvent>) =>
  five.map((one) => (one.sequenceNumber === number ? { ...one, ...change } : one))

/** What a move could do wrong, and what is said of it. */
const faults: Readonly<Record<string, readonly [Seen, RegExp]>> = {
  'an acknowledged event is lost, and its number given to the next': [
    seenOf(
      without(third).map((one, index) => ({ ...one, sequenceNumber: index + 1 })),
      [third],
    ),
    /acknowledged/,
  ],
  'an event is lost with its number': [seenOf(without(third), without(third)), /numbers without a gap/],
  'an event is there twice': [seenOf(withNew(4, { id: third.id }), without(fourth)), /no id twice/],
  'a number is given twice': [seenOf(withNew(4, { sequenceNumber: 3 }), []), /numbers without a gap/],
  'an event has another number than was acknowledged': [
    seenOf(
      withNew(2, { id: third.id }).map((one) => (one === third ? { ...one, id: second.id } : one)),
      five,
    ),
    /acknowledged/,
  ],
  'an event has another time than was acknowledged': [
    seenOf(withNew(3, { createdDate: '2026-01-01T00:00:03.5000000' }), five),
    /acknowledged/,
  ],
  'the clock was set back': [
    seenOf(withNew(3, { createdDate: '2026-01-01T00:00:01.5000000' }), []),
    /dates that rise/,
  ],
  'a reader by number has missed an event': [{ ...seenOf(five), byNumber: without(third) }, /read by number/],
  'a reader by number was given an event twice': [
    { ...seenOf(five), byNumber: [...five.slice(0, 3), third, ...five.slice(3)] },
    /read by number/,
  ],
  'a reader by number was given other bytes': [
    { ...seenOf(five), byNumber: withNew(3, { payload: '{"price":1}' }) },
    /read by number/,
  ],
  'a reader by time has missed an event': [
    { ...seenOf(five), byWindow: seenOf(without(third)).byWindow },
    /polled by time/,
  ],
}

describe('the check of a tenant that was moved', () => {
  it('says how many events there are where all is right', () => {
    assert.equal(checkTenant(seenOf(five)), 5)
    // Stored, though its answer was lost: no fault.
    assert.equal(checkTenant(seenOf(five, without(third))), 5)
  })

  for (const [fault, [seen, expected]] of Object.entries(faults)) {
    it(`is red when ${fault}: this check can fail (P1, P3, P7, P9)`, () => {
      assert.throws(() => checkTenant(seen), expected)
    })
  }
})
