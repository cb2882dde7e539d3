/** Whether a feed takes a change, of each state that its row can have. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answersOpenWindows, isFeedRefusal, refusalOf } from '../../src/events/feed.ts'
import type { FeedState } from '../../src/events/feed.ts'

/** A row, and what an event is answered and what adds no event, such as a hold. */
type Case = readonly [row: FeedState | undefined, event: string, nothing: string]

const cases: readonly Case[] = [
  [undefined, 'unknownFeed', 'unknownFeed'],
  [{ closedBy: null, needsEpoch: false }, 'taken', 'taken'],
  [{ closedBy: 'leaving', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ closedBy: 'left', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ closedBy: 'arriving one run', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ closedBy: 'abandoned', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ closedBy: 'deleting', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ closedBy: null, needsEpoch: true }, 'epochRequired', 'taken'],
  // An operator begins the epoch first, whatever becomes of the tenant then.
  [{ closedBy: 'leaving', needsEpoch: true }, 'epochRequired', 'tenantMoving'],
  [{ closedBy: 'deleting', needsEpoch: true }, 'epochRequired', 'tenantMoving'],
]

describe('a feed', () => {
  for (const [row, event, nothing] of cases) {
    const name =
      row === undefined
        ? 'that is not there'
        : `${row.closedBy ?? 'open'}${row.needsEpoch ? ' without an epoch' : ''}`
    it(`${name} answers an event with ${event}, and a change without one with ${nothing} (PROTOCOL §5, D13)`, () => {
      assert.equal(refusalOf(row, 'event')?.kind ?? 'taken', event)
      assert.equal(refusalOf(row, 'nothing')?.kind ?? 'taken', nothing)
    })
  }

  it('answers open windows until its tenant is at home elsewhere (P3)', () => {
    const answered = cases.flatMap(([row]) =>
      row !== undefined && answersOpenWindows(row) ? [row.closedBy] : [],
    )
    assert.deepEqual(new Set(answered), new Set([null, 'leaving']))
  })

  it('is told from everything else that refuses a change, so that work in the background tries again', () => {
    for (const kind of ['unknownFeed', 'epochRequired', 'tenantMoving']) assert.ok(isFeedRefusal({ kind }))
    for (const kind of ['stored', 'onHold', 'clockBehind', 'unknownTarget'])
      assert.ok(!isFeedRefusal({ kind }))
  })
})
