/** The arithmetic of the list, without a browser. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  isAtEnd,
  lastPosition,
  longestScroll,
  mostRows,
  positionAround,
  positionToSee,
  rowAfterKey,
  rowsInPage,
  rowsSeen,
  scrolled,
  scrollHeightOf,
  scrollStateAt,
} from '../src/list/scale.ts'
import type { Shape } from '../src/list/scale.ts'

const million: Shape = { rowCount: 1_000_000, rowHeight: 36, viewHeight: 720 }
const shapes = fc.record({
  rowCount: fc.integer({ min: 0, max: 20_000_000 }),
  rowHeight: fc.constant(36),
  viewHeight: fc.integer({ min: 36, max: 44 * 36 }),
})

describe('a list of any length', () => {
  it('is never higher than 8 million pixels, and can be scrolled to every row (D31)', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, at) => {
        assert.ok(scrollHeightOf(shape) <= longestScroll)
        if (shape.rowCount === 0) return
        const row = at % shape.rowCount
        const { position, top } = scrollStateAt(shape, positionAround(shape, row))
        const seen = rowsSeen(shape, position)
        assert.ok(seen.first <= row && row <= seen.last, `row ${row} is seen`)
        assert.ok(top >= 0 && top <= Math.max(0, scrollHeightOf(shape) - shape.viewHeight))
      }),
    )
  })

  it('has at most 60 rows in the page, including all visible ones (D31)', () => {
    fc.assert(
      fc.property(shapes, fc.double({ min: 0, max: 1, noNaN: true }), (shape, share) => {
        const position = share * lastPosition(shape)
        const [seen, held] = [rowsSeen(shape, position), rowsInPage(shape, position)]
        assert.ok(held.last - held.first + 1 <= mostRows)
        assert.ok(held.first <= seen.first && held.last >= seen.last)
      }),
    )
  })

  it('moves by pixels with the wheel, and in proportion with the scroll bar (D31)', () => {
    const middle = scrollStateAt(million, 18_000_000)
    assert.equal(scrolled(million, middle, middle.top + 120).position, 18_000_120)
    const bar = scrolled(million, middle, (longestScroll - 720) / 4)
    assert.ok(Math.abs(bar.position - lastPosition(million) / 4) < 1)
    assert.equal(scrolled(million, middle, 0).position, 0)
    assert.equal(scrolled(million, middle, longestScroll - 720).position, lastPosition(million))
  })

  it('continues when the wheel reaches an end of the scroller that is not an end of the list (D31)', () => {
    const near = { position: 5_000, top: 100 }
    const turned = scrolled(million, near, 0)
    assert.equal(turned.position, 4_900)
    assert.ok(scrollStateAt(million, turned.position).top > 0, 'at rest the bar is put where the rows are')
  })

  it('knows its end, and moves only as far as needed to show a row (D31)', () => {
    assert.ok(isAtEnd(million, lastPosition(million)))
    assert.equal(positionToSee(million, 3_600, 100), 3_600)
    assert.equal(positionToSee(million, 3_600, 99), 3_564)
    assert.equal(positionToSee(million, 3_600, 120), 121 * 36 - 720)
  })

  it('can be walked through with the keyboard, and stops at both ends (D31)', () => {
    const press = (key: string, row: number) =>
      rowAfterKey({ key, ctrlKey: false, altKey: false, metaKey: false }, row, million)
    assert.equal(press('ArrowDown', 5), 6)
    assert.equal(press('ArrowUp', 0), 0)
    assert.equal(press('PageDown', 0), 19)
    assert.equal(press('End', 3), 999_999)
    assert.equal(press('Home', 999_999), 0)
    assert.equal(press('a', 3), undefined)
    assert.equal(
      rowAfterKey({ key: 'End', ctrlKey: true, altKey: false, metaKey: false }, 3, million),
      undefined,
    )
  })
})
