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
    ['2025-01-31 10:20', '2025-01-31T10:20:00.0000000', '2025-01-31T10:21:00.0000000'],
    ['2025-01-31t10:20z', '2025-01-31T10:20:00.0000000', '2025-01-31T10:21:00.0000000'],
    ['2025-07-01T00:30:00+01:00', '2025-06-30T23:30:00.0000000', '2025-06-30T23:30:01.0000000'],
    ['2025-01-31 23:59-00:01', '2025-02-01T00:00:00.0000000', '2025-02-01T00:01:00.0000000'],
    ['2025-01-31T10:20:30.5+00:00', '2025-01-31T10:20:30.5000000', '2025-01-31T10:20:30.6000000'],
    ['2025-01-31T10:20:30-00:00', '2025-01-31T10:20:30.0000000', '2025-01-31T10:20:31.0000000'],
    ['2025-01-31T10:20:30.123456789', '2025-01-31T10:20:30.1234567', '2025-01-31T10:20:30.1234568'],
    ['2025-01-31T10:20:30.000000000000', '2025-01-31T10:20:30.0000000', '2025-01-31T10:20:30.0000001'],
    // As PHP's `O`, Python's `%z` and PostgreSQL write an offset.
    ['2025-07-01T10:20:30+0000', '2025-07-01T10:20:30.0000000', '2025-07-01T10:20:31.0000000'],
    ['2025-07-01 10:20:30.123456+00', '2025-07-01T10:20:30.1234560', '2025-07-01T10:20:30.1234570'],
    ['2025-07-01T10:20+0100', '2025-07-01T09:20:00.0000000', '2025-07-01T09:21:00.0000000'],
    ['2025-07-01T10:20:30-03', '2025-07-01T13:20:30.0000000', '2025-07-01T13:20:31.0000000'],
    ['2025-07-01T10:20:30.123456789+0545', '2025-07-01T04:35:30.1234567', '2025-07-01T04:35:30.1234568'],
    ['2025-07-01T10:20:30 0100', '2025-07-01T09:20:30.0000000', '2025-07-01T09:20:31.0000000'],
    ['2025-07-01 10:20 01', '2025-07-01T09:20:00.0000000', '2025-07-01T09:21:00.0000000'],
    // A plus that was not percent-encoded arrives as a blank.
    ['2025-07-01T10:20:30 01:00', '2025-07-01T09:20:30.0000000', '2025-07-01T09:20:31.0000000'],
    ['2025-07-01 10:20 01:00', '2025-07-01T09:20:00.0000000', '2025-07-01T09:21:00.0000000'],
    ['2025-07-01T10:20:30.123456789 05:45', '2025-07-01T04:35:30.1234567', '2025-07-01T04:35:30.1234568'],
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
    '2025-1-1',
    '2025-01-01 10:20:30.',
    '2025-01-01 10:20.5',
    '2025-01-01 10:20:30,5',
    '2025-01-01 10',
    '2025-01-01Z',
    '2025-01-01+01:00',
    '2025-01-01T10:20:30+010',
    '2025-01-01T10:20:30+01000',
    '2025-01-01T10:20:30+1',
    '2025-01-01T10:20:30+2400',
    '2025-01-01T10:20:30+0160',
    '2025-01-01T10:20:30+01:',
    '2025-01-01T10:20:30Z0100',
    '2025-01-01+0100',
    '2025-01-01 0100',
    '2025-01-01 01',
    '2025-01-01T10:20:30+1:00',
    '2025-01-01T10:20:30+24:00',
    '2025-01-01T10:20:30+01:60',
    '2025-01-01T10:20:30  01:00',
    '2025-01-01T10:20:30 +01:00',
    '2025-01-01T10:20:30Z+01:00',
    '2025-01-01T10:20:30 Z',
    '2025-01-01T10:20:30\u221201:00',
    '2025-02-30T00:30:00+01:00',
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

  /** A time as a client may write it, and what it means: worked out from its parts, not read from its text. */
  const written = fc
    .record({
      utcMs: fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2999, 0, 1) }),
      offsetMinutes: fc.option(fc.integer({ min: -1439, max: 1439 }), { nil: undefined }),
      zone: fc.constantFrom('', 'Z', 'z'),
      separator: fc.constantFrom('T', 't', ' '),
      plus: fc.constantFrom('+', ' '),
      offsetForm: fc.constantFrom('colon', 'digits', 'hours'),
      form: fc.constantFrom('minute', 'second', 'fraction'),
      fraction: fc.stringMatching(/^[0-9]{1,20}$/),
    })
    .map(({ utcMs, offsetMinutes: chosen, offsetForm, zone, separator, plus, form, fraction }) => {
      // Hours alone can only say whole hours.
      const offsetMinutes =
        offsetForm === 'hours' && chosen !== undefined ? Math.trunc(chosen / 60) * 60 : chosen
      const unitMs = form === 'minute' ? 60_000 : 1000
      const startMs = Math.floor(utcMs / unitMs) * unitMs
      const local = new Date(startMs + (offsetMinutes ?? 0) * 60_000).toISOString()
      const minutes = Math.abs(offsetMinutes ?? 0)
      const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
      const sign = (offsetMinutes ?? 0) < 0 ? '-' : plus
      const time = local.slice(11, form === 'minute' ? 16 : 19) + (form === 'fraction' ? `.${fraction}` : '')
      const digits = form === 'fraction' ? fraction.length : 0
      const day = local.slice(0, 10)
      const offset = offsetMinutes === undefined ? undefined : clock.join(':')
      const written = { colon: offset, digits: clock.join(''), hours: clock[0] }[offsetForm]
      return {
        text: day + separator + time + (offset === undefined ? zone : `${sign}${written}`),
        /** With a zone and at most three digits, as ECMA-262 has it. */
        standard: `${day}T${time.slice(0, 12).padEnd(form === 'fraction' ? 12 : 0, '0')}${offset === undefined ? 'Z' : sign.replace(' ', '+') + offset}`,
        // Seconds times 10^20, so that every digit counts.
        start:
          BigInt(startMs / 1000) * 10n ** 20n + BigInt(form === 'fraction' ? fraction.padEnd(20, '0') : 0),
        length: form === 'minute' ? 60n * 10n ** 20n : 10n ** BigInt(20 - digits),
      }
    })
  /** 10^20 parts of a second to ticks. */
  const partsPerTick = 10n ** 13n
  const floor = (parts: bigint) =>
    (parts - (((parts % partsPerTick) + partsPerTick) % partsPerTick)) / partsPerTick

  it('is the instant written, cut outward to whole ticks, in every form that is read (D5)', () => {
    fc.assert(
      fc.property(written, ({ text, start, length }) => {
        assert.equal(parseWindowBound('from', text), floor(start), text)
        assert.equal(parseWindowBound('to', text), -floor(-(start + length)), text)
      }),
      { numRuns: 2000 },
    )
  })

  it('is the instant that JavaScript reads in the same time, written as it knows it (D5)', () => {
    fc.assert(
      fc.property(written, ({ text, standard }) => {
        const from = parseWindowBound('from', text)
        assert(from !== undefined)
        assert.equal(millisecondsOfTicks(from), Date.parse(standard), `${text} as ${standard}`)
      }),
      { numRuns: 1000 },
    )
  })

  it('laid end to end, never skips a tick (D5)', () => {
    fc.assert(
      fc.property(
        // A day before the last that can be written, because an offset may carry the text over midnight.
        anyTick.map((ticks) => ticks - 864_000_000_000n),
        fc.integer({ min: -1, max: 12 }),
        fc.integer({ min: -1439, max: 1439 }),
        (ticks, digits, offsetMinutes) => {
          // A client that writes a createdDate by its own clock, to as many digits as it likes, and ends one window and
          // begins the next there still sees that event.
          const local = formatTicks(ticks + BigInt(offsetMinutes) * 60n * 10_000_000n)
          const minutes = Math.abs(offsetMinutes)
          const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
          const cut = digits === -1 ? 16 : digits === 0 ? 19 : 20 + digits
          const text = `${local}12345`.slice(0, cut) + (offsetMinutes < 0 ? '-' : '+') + clock.join(':')
          const from = parseWindowBound('from', text)
          const to = parseWindowBound('to', text)
          assert.ok(from !== undefined && to !== undefined && from <= ticks && ticks < to, text)
        },
      ),
    )
  })
})
