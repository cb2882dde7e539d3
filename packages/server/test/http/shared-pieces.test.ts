/** What many readers are told at the same time is made once, and kept for a moment (L3, docs/decisions/0037). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedPieces } from '../../src/live/stream-pieces.ts'
import type { StoredEvent } from '../../src/events/event-log.ts'

const eventOf = (sequenceNumber: number): StoredEvent => ({ sequenceNumber, json: Buffer.from('{}') })

describe('what is made of events for many readers', () => {
  it('is made once for those who read the same, and by itself for others (P9)', () => {
    const shared = sharedPieces<string>(({ length }) => length)
    let made = 0
    const ask = (events: readonly StoredEvent[], ...by: readonly unknown[]) =>
      shared.of(events, by, () => `piece ${(made += 1)}`)
    const [events, others] = [[eventOf(1)], [eventOf(1)]]
    const form = {}
    const first = ask(events, undefined, 7)
    for (let reader = 0; reader < 1_000; reader += 1) assert.equal(ask(events, undefined, 7), first)
    assert.equal(made, 1)
    const pieces = [first, ask(events, form, 7), ask(events, undefined, 8), ask(others, undefined, 7)]
    assert.equal(new Set(pieces).size, 4)
    assert.equal(ask(events, form, 7), pieces[1])
  })

  it('is gone a tenth of a second later, whoever reads it then (D17)', (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const shared = sharedPieces<object>(() => 1)
    const events = [eventOf(1)]
    const ask = () => shared.of(events, [], () => ({}))
    const first = ask()
    test.mock.timers.tick(99)
    assert.equal(ask(), first)
    test.mock.timers.tick(1)
    const second = ask()
    assert.notEqual(second, first)
    test.mock.timers.tick(100)
    assert.notEqual(ask(), second)
  })

  it('is kept up to 8 MiB, and beyond that each reader has its own (L3)', () => {
    const shared = sharedPieces<{ readonly length: number }>(({ length }) => length)
    const ask = (events: readonly StoredEvent[]) => shared.of(events, [], () => ({ length: 3 * 2 ** 20 }))
    const [one, two, three] = [[eventOf(1)], [eventOf(2)], [eventOf(3)]]
    for (const kept of [one, two]) assert.equal(ask(kept), ask(kept))
    assert.notEqual(ask(three), ask(three))
    assert.equal(ask(one), ask(one))
  })
})
