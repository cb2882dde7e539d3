/** Whether a feed takes a change, of each state that its row can have. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isFeedRefusal, refusalOf } from '../../src/events/feed.ts'
import type { FeedState } from '../../src/events/feed.ts'

/** A row, and what an event is answered and what adds no event, such as a hold. */
type Case = readonly [row: FeedState | undefined, event: string, nothing: string]

const cases: readonly Case[] = [
  [undefined, 'unknownFeed', 'unknownFeed'],
  [{ move: 'open', needsEpoch: false }, 'taken', 'taken'],
  [{ move: 'leaving', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ move: 'left', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ move: 'arriving one run', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ move: 'abandoned', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ move: 'deleting', needsEpoch: false }, 'tenantMoving', 'tenantMoving'],
  [{ move: 'open', needsEpoch: true }, 'epochRequired', 'taken'],
  // An operator begins the epoch first, whatever becomes of the tenant then.
  [{ move: 'leaving', needsEpoch: true }, 'epochRequired', 'tenantMoving'],
  [{ move: 'deleting', needsEpoch: true }, 'epochRequired', 'tenantMoving'],
]

describe('a feed', () => {
  for (const [row, event, nothing] of cases) {
    const name =
      row === undefined ? 'that is not there' : `${row.move}${row.needsEpoch ? ' without an epoch' : ''}`
    it(`${name} answers an event with ${event}, and a change without one with ${nothing} (PROTOCOL §5, D13)`, () => {
      assert.equal(refusalOf(row, 'event')?.kind ?? 'taken', event)
      assert.equal(refusalOf(row, 'nothing')?.kind ?? 'taken', nothing)
    })
  }

  it('is told from everything else that refuses a change, so that work in the background tries again', () => {
    for (const kind of ['unknownFeed', 'epochRequired', 'tenantMoving']) assert.ok(isFeedRefusal({ kind }))
    for (const kind of ['stored', 'onHold', 'clockBehind', 'unknownTarget'])
      assert.ok(!isFeedRefusal({ kind }))
  })
})
