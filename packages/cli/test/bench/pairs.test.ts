import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lowerBound } from '../../../../bench/support/pairs.ts'

describe('the comparison of two builds', () => {
  it('gives the rank that a table of the sign test gives for the lower bound of a median (95 %)', () => {
    // Ranks as in tables of the binomial distribution: n = 5: 1, 8: 2, 11: 3, 15: 4, 20: 6, 30: 11.
    for (const [n, rank] of [
      [5, 1],
      [8, 2],
      [11, 3],
      [15, 4],
      [20, 6],
      [30, 11],
    ] as const) {
      const values = Array.from({ length: n }, (_, index) => index + 1).toReversed()
      assert.equal(lowerBound(values), rank, `of ${n}`)
    }
  })

  it('gives none where there are too few pairs to be that certain', () => {
    assert.ok(Number.isNaN(lowerBound([1, 2, 3, 4])))
  })
})
