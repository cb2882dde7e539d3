/** Which pages the list asks for, and what it holds of them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHeldPages, pageCount, pageOf, pageSize, rowOfPage } from '../src/list/pages.ts'
import { tickBefore } from '../src/list/jumps.ts'

const itemsOf = (page: number, total: number) =>
  Array.from(
    { length: Math.min(pageSize, Math.max(0, total - rowOfPage(page))) },
    (_, n) => rowOfPage(page) + n,
  )

function holding(total: number, ...pages: readonly number[]) {
  const held = createHeldPages<number>()
  for (const page of pages)
    held.take(page, { items: itemsOf(page, total), availableCount: total }, `"${page}"`)
  return held
}

describe('the pages that the list holds', () => {
  it('are the pages of the contract: row n is the item n of them (PROTOCOL §3.2)', () => {
    const held = holding(1_250, 1, 7, 13)
    assert.equal(held.total, 1_250)
    assert.equal(held.item(0), 0)
    assert.equal(held.item(650), 650)
    assert.equal(held.item(1_249), 1_249)
    assert.equal(held.item(400), undefined)
    assert.equal(pageCount(1_250), 13)
    assert.equal(pageOf(1_249), 13)
  })

  it('are requested if their rows are visible but not held, at most two for a screen (PROTOCOL §3.2)', () => {
    const held = holding(1_250, 1, 13)
    assert.deepEqual(held.missing({ first: 95, last: 130 }), [2])
    assert.deepEqual(held.missing({ first: 290, last: 330 }), [3, 4])
    assert.deepEqual(held.missing({ first: 1_210, last: 1_249 }), [])
    assert.deepEqual(createHeldPages().missing({ first: 0, last: -1 }), [1])
  })

  it('are requested again only if the last one has grown (PROTOCOL §3.2)', () => {
    const held = holding(150, 1, 2)
    held.grow(160)
    assert.deepEqual(held.missing({ first: 100, last: 140 }), [2])
    assert.deepEqual(held.missing({ first: 0, last: 99 }), [])
    held.take(2, { items: itemsOf(2, 160), availableCount: 160 }, '"b"')
    assert.deepEqual(held.missing({ first: 100, last: 159 }), [])
    assert.equal(held.etagOf(2), '"b"')
  })

  it('are at most forty, those that were seen last (D31)', () => {
    const held = holding(10_000, ...Array.from({ length: 40 }, (_, n) => n + 1))
    held.missing({ first: 0, last: 30 })
    held.take(60, { items: itemsOf(60, 10_000), availableCount: 10_000 }, undefined)
    assert.equal(held.item(0), 0, 'seen just now')
    assert.equal(held.item(100), undefined, 'the one that was not seen for longest')
  })

  it('never count fewer events than an earlier answer (P2)', () => {
    const held = holding(200, 2)
    held.take(1, { items: itemsOf(1, 199), availableCount: 199 }, undefined)
    assert.equal(held.total, 200)
  })
})

describe('the time before an event', () => {
  it('is one tick earlier, also across a second, a day and a year (P3)', () => {
    assert.equal(tickBefore('2026-03-01T09:31:07.0000001'), '2026-03-01T09:31:07.0000000')
    assert.equal(tickBefore('2026-03-01T00:00:00.0000000'), '2026-02-28T23:59:59.9999999')
    assert.equal(tickBefore('2026-01-01T00:00:00.0000000'), '2025-12-31T23:59:59.9999999')
  })
})
