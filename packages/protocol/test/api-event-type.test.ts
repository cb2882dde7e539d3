/** The pattern of `apiEventType` in the OpenAPI document takes what the service takes, and nothing else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { apiEventTypePattern, feedNames, feeds, viewOfApiEventType } from '../src/index.ts'

describe('the pattern of apiEventType', () => {
  it('accepts every spelling that the service accepts, and no other (D1, D21)', () => {
    for (const feed of feedNames) {
      const pattern = new RegExp(apiEventTypePattern(feed))
      const word = fc.constantFrom(
        ...Object.keys(feeds[feed].apiEventTypes),
        'event',
        'events',
        's',
        'sales',
        'x',
        '',
      )
      const spelled = fc.array(
        fc.oneof({ weight: 3, arbitrary: word }, fc.constantFrom(' ', '-', '_', '\n', '.')),
        {
          maxLength: 5,
        },
      )
      const cased = fc
        .tuple(spelled, fc.infiniteStream(fc.boolean()))
        .map(([words, upper]) =>
          Array.from(words.join(''), (letter) =>
            upper.next().value === true ? letter.toUpperCase() : letter,
          ).join(''),
        )
      let taken = 0
      fc.assert(
        fc.property(cased, (text) => {
          const isTaken = viewOfApiEventType(feed, text) !== undefined
          taken += isTaken ? 1 : 0
          assert.equal(pattern.test(text), isTaken, JSON.stringify(text))
        }),
        { numRuns: 2_000 },
      )
      assert.ok(taken > 50, `${taken} of ${feed}`)
    }
  })
})
