import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { joinRanges, numberRanges } from '../../src/runtime/number-ranges.ts'

const ranges = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 8 })).map(([first, more]) => {
    return [first, first + more] as const
  }),
  { maxLength: 40 },
)

function numbersOf(of: readonly (readonly [number, number])[]): ReadonlySet<number> {
  return new Set(of.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n)))
}

function isTidy(of: readonly (readonly [number, number])[]): boolean {
  return of.every(([first, last], index) => first <= last && first > (of[index - 1]?.[1] ?? -1) + 1)
}

describe('ranges of numbers', () => {
  it('are the set of the numbers that were added, in ascending ranges that do not touch', () => {
    fc.assert(
      fc.property(ranges, ranges, (one, other) => {
        const added = numberRanges()
        for (const [first, last] of one) added.add(first, last)
        const held = added.ranges()
        assert.deepEqual(
          [...numbersOf(held)].toSorted((a, b) => a - b),
          [...numbersOf(one)].toSorted((a, b) => a - b),
        )
        assert(isTidy(held))
        assert.equal(added.size, held.length)
        const joined = joinRanges(held, other)
        assert.deepEqual(
          [...numbersOf(joined)].toSorted((a, b) => a - b),
          [...numbersOf([...one, ...other])].toSorted((a, b) => a - b),
        )
        assert(isTidy(joined))
      }),
    )
  })
})
