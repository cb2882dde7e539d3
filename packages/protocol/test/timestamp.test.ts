import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  formatTicks,
  millisecondsOfTicks,
  parseCreatedDate,
  parseWindowBound,
  ticksOfMilliseconds,
} from '../src/index.ts'

const anyTick = fc.bigInt({
  min: parseCreatedDate('1900-01-01T00:00:00.0000000') ?? 0n,
  max: 253_402_300_799_9999999n,
})

describe('createdDate', () => {
  it('reads back every tick it writes, in 27 characters (spec §2.1)', () => {
    fc.assert(
      fc.property(anyTick, (ticks) => {
        const text = formatTicks(ticks)
        assert.equal(text.length, 27)
        assert.equal(parseCreatedDate(text), ticks)
      }),
    )
  })

  it('sorts as text the way it sorts as time (P3)', () => {
    fc.assert(
      fc.property(anyTick, anyTick, (a, b) => {
        assert.equal(a < b, formatTicks(a) < formatTicks(b))
      }),
    )
  })

  it('keeps fractions of a millisecond to the tick (D25)', () => {
    assert.equal(ticksOfMilliseconds(1.5), 15_000n)
    assert.equal(millisecondsOfTicks(15_000n), 1)
    assert.equal(millisecondsOfTicks(-1n), -1)
  })
})

describe('a window bound', () => {
  const accepted = [
    ['2025-01-31', '2025-01-31T00:00:00.0000000', '2025-02-01T00:00:00.0000000'],
    ['2025-01-31 10:20:30', '2025-01-31T10:20:30.0000000', '2025-01-31T10:20:31.0000000'],
    ['2025-01-31T10:20:30Z', '2025-01-31T10:20:30.0000000', '2025-01-31T10:20:31.0000000'],
    ['2025-01-31 23:59:59.99', '2025-01-31T23:59:59.9900000', '2025-02-01T00:00:00.0000000'],
    ['2025-01-31T10:20:30.1234567', '2025-01-31T10:20:30.1234567', '2025-01-31T10:20:30.1234568'],
    ['2024-02-29', '2024-02-29T00:00:00.0000000', '2024-03-01T00:00:00.0000000'],
  ] as const
  for (const [text, from, to] of accepted) {
    it(`covers "${text}" from its first tick to the end of its last written digit (D5)`, () => {
      assert.equal(formatTicks(parseWindowBound('from', text) ?? 0n), from)
      assert.equal(formatTicks(parseWindowBound('to', text) ?? 0n), to)
    })
  }

  const refused = [
    '2025-02-30',
    '2025-02-29',
    '2025-04-31',
    '2025-13-01',
    '0000-00-00',
    '2025-00-10',
    '2025-01-00',
    '2025-01-01 24:00:00',
    '2025-01-01 23:60:00',
    '2025-01-01 23:59:60',
    '2025-01-01 10:20',
    '2025-1-1',
    '2025-01-01 10:20:30.',
    '2025-01-01 10:20:30.12345678',
    '2025-01-01T10:20:30+01:00',
    '2025-01-01Z',
    '1735689600',
    '',
    ' 2025-01-01',
    '2025-01-01 ',
    '2025-01-01  10:20:30',
    "'; DROP TABLE events;--",
    '٢٠٢٥-٠١-٠١',
  ]
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)} (D5)`, () => {
      assert.equal(parseWindowBound('from', text), undefined)
      assert.equal(parseWindowBound('to', text), undefined)
    })
  }

  it('laid end to end, never skips a tick (D5)', () => {
    fc.assert(
      fc.property(anyTick, fc.integer({ min: 0, max: 7 }), (ticks, digits) => {
        // A client that cuts a createdDate down to fewer digits and asks from there still sees that event.
        const text = formatTicks(ticks)
        const cut = digits === 0 ? text.slice(0, 19) : text.slice(0, 20 + digits)
        const from = parseWindowBound('from', cut)
        const to = parseWindowBound('to', cut)
        assert.ok(from !== undefined && to !== undefined && from <= ticks && ticks < to)
      }),
    )
  })
})
