import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createRequestCounts } from '../../src/reading/page-cache/segments/segment-cache.ts'
import type { SegmentId } from '../../src/reading/page-cache/segments/segment-id.ts'

const series = '5b0b3a3e-5c1f-4d0e-9d7e-0f6a3c1b2d4e/property UFl31oevV3/0 all'
const segment = (number: number): SegmentId => ({ series, number })
const [a, b] = [
  { series: 'a', number: 0 },
  { series: 'b', number: 0 },
]

describe('counts of requests', () => {
  it('are never lower than how often a segment was asked for, whatever else was, and fall by halves', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 500, size: 'max' }), (asked) => {
        const counts = createRequestCounts()
        const really = new Map<number, number>()
        for (const number of asked) {
          const times = (really.get(number) ?? 0) + 1
          really.set(number, times)
          assert.ok(counts.add(segment(number)) >= times)
        }
        counts.halve()
        for (const [number, times] of really) assert.ok(counts.add(segment(number)) > times >> 1)
      }),
    )
  })

  it('seldom confuse two segments: of 5,000 at most one in ten', () => {
    const counts = createRequestCounts()
    let taken = 0
    for (let number = 0; number < 5_000; number += 1) if (counts.add(segment(number * 7)) > 1) taken += 1
    assert.ok(taken <= 500, `${taken} found their place taken`)
  })

  it('can be raised to a known value, forgotten and cleared, and stop at the largest that fits', () => {
    const counts = createRequestCounts()
    counts.raise(a, 40)
    counts.raise(a, 3)
    assert.equal(counts.add(a), 41)
    counts.forget(a)
    assert.equal(counts.add(a), 1)
    counts.raise(b, 1e9)
    assert.equal(counts.add(b), 65_535)
    counts.clear()
    assert.deepEqual([counts.add(a), counts.add(b)], [1, 1])
  })
})
