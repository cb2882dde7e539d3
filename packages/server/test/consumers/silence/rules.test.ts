/** When a publisher or consumer is silent for too long, decided without any I/O (PROTOCOL §14.7). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  expectedInterval,
  forgottenMs,
  isOver,
  learningMs,
  nextPresence,
  needsStatus,
  savedEveryMs,
  seenAt,
  settlingMs,
  shortestLearnedMs,
  shortestPauseMs,
} from '../../../src/consumers/silence/rules.ts'
import type { CheckFacts, Seen } from '../../../src/consumers/silence/rules.ts'
import { newPresence } from '../../../src/consumers/silence/silence.ts'
import type { Presence } from '../../../src/consumers/silence/silence.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const nowMs = 20_000 * dayMs
const name = { kind: 'consumer', keyId: 'key', name: 'default' } as const

/** Watched and there for a month. */
function presence(changes: Partial<Presence> = {}): Presence {
  const there = { firstMs: nowMs - 30 * dayMs, lastMs: nowMs, activeMs: nowMs - 30 * dayMs }
  return { ...newPresence(name), ...there, ...changes }
}

function facts(changes: Partial<CheckFacts> = {}): CheckFacts {
  return { seen: undefined, watchedMs: nowMs - 30 * dayMs, nowMs, ...changes }
}

const seen = (ms: number): Seen => seenAt(undefined, ms, 0)

describe('the expected interval of a publisher or consumer', () => {
  const hour = presence({ pauses: [{ day: 19_999, ms: hourMs }] })
  const cases: readonly [string, Presence, ReturnType<typeof expectedInterval>][] = [
    ['half as long again as the longest pause', hour, { ms: 1.5 * hourMs, isSet: false }],
    [
      'the longest of all days counts',
      presence({
        pauses: [...[5, 60, 3].entries()].map(([day, hours]) => ({ day: 19_990 + day, ms: hours * hourMs })),
      }),
      { ms: 90 * hourMs, isSet: false },
    ],
    [
      'a pause of 14 days ago does not count any more',
      presence({
        pauses: [
          { day: 19_986, ms: 9 * hourMs },
          { day: 19_987, ms: hourMs },
        ],
      }),
      { ms: 1.5 * hourMs, isSet: false },
    ],
    ['never less than the floor', presence(), { ms: shortestLearnedMs, isSet: false }],
    ['nothing while it is being learned', { ...hour, firstMs: nowMs - learningMs + 1 }, undefined],
    ['nothing of one that was never there', { ...hour, firstMs: undefined }, undefined],
    ['as it was set', { ...hour, expectation: 600_000 }, { ms: 600_000, isSet: true }],
    [
      'as it was set, before it was ever there',
      presence({ firstMs: undefined, expectation: 5 }),
      { ms: 5, isSet: true },
    ],
    ['nothing where that was set', { ...hour, expectation: 'never' }, undefined],
  ]
  for (const [title, given, expected] of cases) {
    it(`is: ${title} (PROTOCOL §14.7)`, () => {
      assert.deepEqual(expectedInterval(given, nowMs), expected)
    })
  }
})

describe('a look at a publisher or consumer', () => {
  const set = presence({ expectation: hourMs })
  const lateMs = nowMs + hourMs + settlingMs

  it('begins a silence after the interval and not before, and leaves it as it is until the end (PROTOCOL §14.7)', () => {
    assert.equal(nextPresence(set, facts({ nowMs: lateMs }), 'active'), set)
    const silent = nextPresence(set, facts({ nowMs: lateMs + 1 }), 'active')
    assert.deepEqual(silent, { ...set, silentMs: nowMs, isReported: false })
    const told = { ...silent, isReported: true }
    assert.equal(nextPresence(told, facts({ nowMs: lateMs + dayMs }), 'active'), told)
    const backMs = lateMs + dayMs
    const back = nextPresence(told, facts({ nowMs: backMs + 5, seen: seen(backMs) }), 'active')
    assert.deepEqual([back.silentMs, back.isReported, back.lastMs], [undefined, false, backMs])
    assert.deepEqual(back.pauses, [{ day: 20_001, ms: backMs - nowMs }])
  })

  it('reports nothing for a silence that ended before it was reported (PROTOCOL §14.7)', () => {
    const untold = nextPresence(set, facts({ nowMs: lateMs + 1 }), 'active')
    assert.equal(untold.isReported, false)
    assert.equal(
      nextPresence(untold, facts({ nowMs: lateMs + 9, seen: seen(lateMs + 2) }), 'active').isReported,
      true,
    )
  })

  it('gives a whole interval after a gap between looks, and after it became active again (PROTOCOL §14.7)', () => {
    const watchedMs = nowMs + dayMs
    const within = facts({ nowMs: watchedMs + hourMs + settlingMs, watchedMs })
    assert.equal(nextPresence(set, within, 'active').silentMs, undefined)
    assert.equal(nextPresence(set, { ...within, nowMs: within.nowMs + 1 }, 'active').silentMs, nowMs)
    const paused = nextPresence(set, facts({ nowMs: watchedMs }), 'paused')
    assert.equal(paused.activeMs, undefined)
    const resumed = nextPresence(paused, facts({ nowMs: watchedMs }), 'active')
    assert.equal(resumed.activeMs, watchedMs)
    assert.equal(nextPresence(resumed, { ...within, watchedMs: 0 }, 'active').silentMs, undefined)
  })

  it('lets no gap between looks end a silence, or count as a pause (PROTOCOL §14.7)', () => {
    const silent = presence({ expectation: hourMs, silentMs: nowMs })
    const watchedMs = nowMs + dayMs
    assert.equal(nextPresence(silent, facts({ nowMs: watchedMs + 1, watchedMs }), 'active').silentMs, nowMs)
    const back = facts({ nowMs: watchedMs + hourMs, watchedMs, seen: seen(watchedMs + hourMs / 2) })
    assert.deepEqual(nextPresence(presence(), back, 'active').pauses, [{ day: 20_001, ms: hourMs / 2 }])
  })

  it('ends a silence when nothing is expected any more (PROTOCOL §14.7)', () => {
    const silent = presence({ expectation: hourMs, silentMs: nowMs })
    const later = facts({ nowMs: nowMs + 2 * hourMs })
    for (const standing of ['paused', 'ended', 'gone'] as const) {
      assert.equal(nextPresence(silent, later, standing).silentMs, undefined, standing)
    }
    assert.equal(nextPresence({ ...silent, expectation: 'never' }, later, 'active').silentMs, undefined)
    assert.equal(nextPresence({ ...silent, expectation: dayMs }, later, 'active').silentMs, undefined)
    assert.equal(nextPresence(silent, later, 'active'), silent)
  })

  it('writes a row every five minutes while somebody is present (PROTOCOL §14.7)', () => {
    const there = presence({ lastMs: nowMs - savedEveryMs })
    assert.equal(nextPresence(there, facts({ seen: seen(nowMs - 1) }), 'active'), there)
    assert.equal(nextPresence(there, facts({ seen: seen(nowMs) }), 'active').lastMs, nowMs)
  })

  it('forgets what is over, and never a setting (PROTOCOL §14.7)', () => {
    const old = presence({ lastMs: nowMs - forgottenMs - 1, expectation: undefined })
    assert.equal(isOver(old, facts(), 'active'), true)
    assert.equal(needsStatus(old, facts()), true)
    assert.equal(isOver({ ...old, expectation: 1 }, facts(), 'ended'), false)
    assert.equal(isOver({ ...old, expectation: 1 }, facts(), 'gone'), true)
    assert.equal(isOver(presence(), facts(), 'ended'), true)
    assert.equal(isOver(presence(), facts(), 'paused'), false)
  })

  it('is right without the standing wherever it is not needed (PROTOCOL §14.7)', () => {
    const time = fc.integer({ min: nowMs - 40 * dayMs, max: nowMs })
    const given = fc.record({
      firstMs: fc.option(time, { nil: undefined }),
      lastMs: fc.option(time, { nil: undefined }),
      activeMs: fc.option(time, { nil: undefined }),
      silentMs: fc.option(time, { nil: undefined }),
      expectation: fc.constantFrom(undefined, 'never' as const, hourMs, 3 * dayMs),
      pauses: fc.constantFrom([], [{ day: 19_995, ms: 20 * hourMs }]),
    })
    fc.assert(
      fc.property(given, fc.option(time, { nil: undefined }), time, (row, seenMs, watchedMs) => {
        const before = presence(row)
        const around = facts({ seen: seenMs === undefined ? undefined : seen(seenMs), watchedMs })
        const after = nextPresence(before, around, 'active')
        if (needsStatus(before, around)) return
        assert.equal(after.silentMs, undefined)
        assert.equal(isOver(before, around, 'active'), false)
      }),
    )
  })
})

describe('moments at which a publisher was seen', () => {
  it('are joined to the same pauses, however they are divided among looks (PROTOCOL §14.7)', () => {
    const minutes = fc.uniqueArray(fc.integer({ min: 1, max: 3 * 1_440 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(minutes, fc.array(fc.nat(60), { maxLength: 5 }), (given, cuts) => {
        const times = given.toSorted((a, b) => a - b).map((minute) => nowMs - 4 * dayMs + minute * 60_000)
        const whole = times.slice(1).map((ms, index) => ms - (times[index] ?? ms))
        const longestMs = Math.max(0, ...whole.filter((ms) => ms >= shortestPauseMs))
        let row = presence({ firstMs: undefined, lastMs: undefined })
        let from = 0
        for (const to of [...cuts.toSorted((a, b) => a - b), times.length]) {
          const some = times
            .slice(from, to)
            .reduce<Seen | undefined>((one, ms) => seenAt(one, ms, 0), undefined)
          row = nextPresence(row, facts({ seen: some, watchedMs: 0 }), 'active')
          from = Math.max(from, to)
        }
        const learnedMs = Math.max(0, ...row.pauses.map(({ ms }) => ms))
        // What is kept of the last time may be some minutes old.
        assert(learnedMs >= longestMs && learnedMs < Math.max(longestMs, shortestPauseMs) + savedEveryMs + 1)
      }),
    )
  })
})
