/** The plan of a sync by itself: what is asked next, without a server. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EventPage, FeedEvent } from '../../src/index.ts'
import { createdMsOf } from '../../src/event.ts'
import {
  forgettableBeforeMs,
  stepAfterPage,
  stepAfterRun,
  wantsLastPage,
  windowBound,
} from '../../src/sync/plan.ts'
import { firstWalk } from '../../src/sync/reading.ts'
import type { PagesReading } from '../../src/sync/reading.ts'

const overlapMs = 60_000
const at = (minute: number, second = 0) =>
  `2026-01-31T09:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}.1234567`

function event(number: number, createdDate: string): FeedEvent {
  const members = { tenantId: 't', eventType: 0, eventTypeShortCode: '', payload: '{}', transactionId: 's' }
  return { ...members, sequenceNumber: number, id: `e${number}`, createdDate }
}

function pageOf(
  items: readonly FeedEvent[],
  page: number,
  totalPages: number,
  availableCount = totalPages * 2,
): EventPage {
  return { items, page, pageSize: 2, availableCount, totalPages }
}

function read(reading: PagesReading, page: EventPage, lastPage: readonly FeedEvent[] = [], mark?: string) {
  return stepAfterPage(reading, { page, lastPage, mark, overlapMs })
}

describe('the plan of a walk over pages', () => {
  it('plans the next window from what existed when the walk began, not from what came during it', () => {
    const first = pageOf([event(1, at(0)), event(2, at(1))], 1, 2)
    assert.equal(wantsLastPage(firstWalk, first), true)
    const more = read(firstWalk, first, [event(4, at(10))])
    assert.ok(more.kind === 'more')
    assert.equal(more.reading.page, 2)
    // While page 2 was asked for, a much newer event came; another may come that is older by less than the overlap.
    const done = read(more.reading, pageOf([event(4, at(10)), event(5, at(30))], 2, 2))
    assert.ok(done.kind === 'caughtUp')
    assert.equal(done.reading.from, '2026-01-31 09:09:00.12')
    assert.equal(done.reading.newest?.id, 'e5')
    assert.equal(done.reading.page, 1)
    // What is forgotten is older than the window by another overlap.
    assert.equal(forgettableBeforeMs(done.reading, overlapMs), Date.UTC(2026, 0, 31, 9, 8, 0, 120))
    // The next walk sees event 5 from its beginning: now the window follows.
    const again = read(done.reading, pageOf([event(4, at(10)), event(5, at(30))], 1, 1))
    assert.ok(again.kind === 'caughtUp')
    assert.equal(again.reading.from, '2026-01-31 09:29:00.12')
  })

  it('goes back as far as pages moved when events vanish', () => {
    const walking: PagesReading = { ...firstWalk, page: 9, available: 20 }
    const step = read(walking, pageOf([event(1, at(0))], 9, 9, 15))
    assert.ok(step.kind === 'more')
    assert.equal(step.reading.page, 6)
  })

  it('does not end at a short page, but at the last one, or at an empty one when the last is empty too', () => {
    const short = read({ ...firstWalk, page: 2, available: 10 }, pageOf([event(1, at(0))], 2, 5))
    assert.equal(short.kind, 'more')
    const empty = pageOf([], 3, 5)
    const walking: PagesReading = { ...firstWalk, page: 3, available: 10 }
    assert.equal(wantsLastPage(walking, empty), true)
    assert.equal(read(walking, empty).kind, 'caughtUp')
    assert.equal(read(walking, empty, [event(9, at(5))]).kind, 'more')
    assert.equal(wantsLastPage({ ...walking, page: 5 }, pageOf([], 5, 5)), false)
    assert.equal(read(firstWalk, pageOf([], 1, 0)).kind, 'caughtUp')
  })

  it('starts over when the newest known event is gone, or the marks in the headers change', () => {
    const known: PagesReading = { ...firstWalk, newest: { id: 'e9', createdMs: 0 }, mark: 'a/0' }
    assert.deepEqual(read(known, pageOf([event(1, at(0))], 1, 1)), {
      kind: 'startOver',
      reason: 'feed_rewritten',
    })
    const there = pageOf([event(9, at(0))], 1, 1)
    assert.equal(read(known, there).kind, 'caughtUp')
    assert.equal(read(known, there, [], 'a/0').kind, 'caughtUp')
    assert.deepEqual(read(known, there, [], 'b/0'), { kind: 'startOver', reason: 'epoch_changed' })
    assert.equal(
      read(known, there, [], 'a/1').kind,
      'caughtUp',
      'an erasure concerns those who keep the history (D17)',
    )
  })

  it('reads every page again when the times of a server mean nothing', () => {
    const done = read(firstWalk, pageOf([event(1, 'yesterday')], 1, 1))
    assert.ok(done.kind === 'caughtUp')
    assert.equal(done.reading.from, undefined)
  })

  it('writes bounds in the form of the contract, cut down', () => {
    assert.equal(windowBound(createdMsOf('2026-01-31T23:59:59.9999999')), '2026-01-31 23:59:59.99')
    assert.equal(createdMsOf('2026-01-31T00:00:00Z'), Date.UTC(2026, 0, 31))
    assert.equal(createdMsOf('2026-01-31T00:00:00.5'), Date.UTC(2026, 0, 31, 0, 0, 0, 500))
  })
})

describe('the plan of reading by numbers', () => {
  const reading = { kind: 'numbers', epoch: 'a', revision: 2, after: 5 } as const
  const run = { items: [], next: 7, head: 9, epoch: 'a', revision: 2 }

  it('continues after the run, up to the head', () => {
    assert.deepEqual(stepAfterRun(reading, run), { kind: 'more', reading: { ...reading, after: 7 } })
    assert.deepEqual(stepAfterRun(reading, { ...run, next: 9 }), {
      kind: 'caughtUp',
      reading: { ...reading, after: 9 },
    })
  })

  it('never goes back: a run that says to continue earlier leaves the place where it was (PROTOCOL §11.1)', () => {
    const reading = { kind: 'numbers', epoch: 'a', revision: 0, after: 40 } as const
    for (const next of [0, 7, 39, 40]) {
      for (const head of [next, 40, 90]) {
        const step = stepAfterRun(reading, { items: [], next, head, epoch: 'a', revision: 0 })
        assert.ok(step.kind !== 'startOver' && step.reading.after === 40, `${next} of ${head}`)
      }
    }
    const on = stepAfterRun(reading, { items: [], next: 41, head: 90, epoch: 'a', revision: 0 })
    assert.ok(on.kind === 'more' && on.reading.after === 41)
  })

  it('starts over in another epoch, and continues in another revision (D13, D17)', () => {
    assert.deepEqual(stepAfterRun(reading, { ...run, epoch: 'b' }), {
      kind: 'startOver',
      reason: 'epoch_changed',
    })
    assert.deepEqual(stepAfterRun(reading, { ...run, revision: 3 }), {
      kind: 'more',
      reading: { ...reading, revision: 3, after: 7 },
    })
  })
})
