/** Whether the pages of a walk hold what their totals say, when they are walked once more. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EventPage } from '../../src/index.ts'
import { createWalkCheck } from '../../src/reading/walk-check.ts'
import { eventsOf } from '../support/small-feed.ts'

it('counts no place twice that the first walk found empty, when the feed has become shorter (PROTOCOL §3.2)', () => {
  const check = createWalkCheck()
  const first = eventsOf(2)
  const note = (page: number, items: EventPage['items'], availableCount: number): EventPage => {
    const noted = { items, page, pageSize: 2, availableCount, totalPages: availableCount / 2 }
    check.add(noted)
    return noted
  }
  // The second page is the first once more, as a cache gives it.
  note(1, first, 6)
  note(2, first, 6)
  assert.equal(check.missing(6, note(3, [], 6)), 2)
  check.restart()
  note(1, first, 4)
  assert.equal(check.missing(4, note(2, first, 4)), 2)
})

it('refuses a page that begins with one event of the page before, unless one has come meanwhile (spec §4.1)', () => {
  const events = eventsOf(61)
  const pageOf = (page: number, from: number, availableCount: number): EventPage => ({
    items: events.slice(from, from + 30),
    page,
    pageSize: 30,
    availableCount,
    totalPages: Math.ceil(availableCount / 30),
  })
  const check = createWalkCheck()
  check.add(pageOf(1, 0, 60))
  check.check(pageOf(2, 30, 60))
  check.check(pageOf(2, 29, 61))
  assert.throws(() => check.check(pageOf(2, 29, 60)), /ended with number 30: it has number 30/)
})
