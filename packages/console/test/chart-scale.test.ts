/** The arithmetic of charts: their axes, and what is read where somebody points. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TenantActivity } from '@property-events/protocol/wire'
import { pointAt, scaleOf, sparklineBars } from '../src/parts/chart-scale.ts'
import type { ChartPoint } from '../src/parts/chart-scale.ts'
import { hourPoints, hourTimes, publishedByHour, sumOf } from '../src/views/overview/activity-sums.ts'

const pointsOf = (...values: readonly (number | null)[]): readonly ChartPoint[] =>
  values.map((value, n) => ({
    from: n / values.length,
    to: (n + 1) / values.length,
    value,
    says: String(value),
  }))

describe('a chart', () => {
  it('has an axis of round numbers, from zero for bars, that no value leaves (D31)', () => {
    assert.deepEqual(scaleOf(pointsOf(0, 3, 17), true), { low: 0, high: 20, ticks: [0, 5, 10, 15, 20] })
    assert.deepEqual(scaleOf(pointsOf(0, 0), true), { low: 0, high: 1, ticks: [0, 1] })
    assert.deepEqual(
      scaleOf(pointsOf(310_000, null, 289_950), false).ticks,
      [280_000, 290_000, 300_000, 310_000, 320_000],
    )
    for (const values of [[1], [0, 1], [7, 1_204_511], [450_000], [1_300, 1_299]]) {
      const { low, high, ticks } = scaleOf(pointsOf(...values), false)
      assert.ok(ticks.length >= 2 && ticks.length <= 7, `${values.join()}: ${ticks.join()}`)
      assert.ok(
        low <= Math.min(...values) && Math.max(...values) <= high,
        `${values.join()}: ${ticks.join()}`,
      )
    }
  })

  it('says what is under the pointer, at its edges too (D31)', () => {
    const points = pointsOf(1, 2, 3)
    assert.equal(pointAt(points, 0.5)?.value, 2)
    assert.equal(pointAt(points, -1)?.value, 1)
    assert.equal(pointAt(points, 2)?.value, 3)
    assert.equal(pointAt([], 0.5), undefined)
  })

  it('has bars with the greatest at full height, and zero as a line (D31)', () => {
    assert.deepEqual(sparklineBars([0, 1, 50, 100], 20), [1, 2, 10, 20])
    assert.deepEqual(sparklineBars([0, 0], 20), [1, 1])
  })
})

describe('the activity of agencies together', () => {
  const factsOf = (published: readonly number[], live: number): TenantActivity => ({
    tenantId: 'x',
    sequenceNumber: 1,
    live,
    published,
    furthest: null,
    refused: 2,
  })
  const facts = [
    factsOf(
      Array.from({ length: 24 }, (_, n) => n),
      10,
    ),
    factsOf(
      Array.from({ length: 24 }, () => 1),
      0,
    ),
  ]

  it('is the sum of what each published, hour by hour, and of what is counted (PROTOCOL §12.11)', () => {
    const byHour = publishedByHour(facts)
    assert.deepEqual([byHour.length, byHour.at(0), byHour.at(-1)], [24, 1, 24])
    assert.deepEqual([sumOf(facts, 'live'), sumOf(facts, 'refused')], [10, 4])
  })

  it('has a bar for each hour that says its time and number (D31)', () => {
    const points = hourPoints(publishedByHour(facts), new Date(2026, 2, 1, 14).getTime())
    assert.equal(points.at(-1)?.says, '14:00: 24 events')
    assert.equal(points.at(0)?.says, '15:00: 1 event')
    assert.deepEqual(
      hourTimes(points).map(({ text }) => text),
      ['15:00', '21:00', '03:00', '09:00'],
    )
  })
})
