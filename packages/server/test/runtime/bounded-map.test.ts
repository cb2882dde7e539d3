/** A map that strangers fill: it stays within its limit and keeps what is in use. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { BoundedMap } from '../../src/runtime/bounded-map.ts'

it('holds at most its limit, whatever is put in', () => {
  const step = fc.record({ key: fc.nat(40), put: fc.boolean() })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 200 }), (limit, steps) => {
      const map = new BoundedMap<number, number>(limit)
      for (const [index, { key, put }] of steps.entries()) {
        if (put) map.set(key, index)
        else map.get(key)
        assert.ok(map.size <= limit)
        if (put) assert.equal(map.get(key), index)
      }
    }),
  )
})

it('keeps an entry that is read again and again, however many others come and go', () => {
  for (const limit of [2, 3, 10, 101]) {
    const map = new BoundedMap<string, number>(limit)
    map.set('in use', 1)
    for (let other = 0; other < 5 * limit; other += 1) {
      assert.equal(map.get('in use'), 1, `limit ${limit}, after ${other} others`)
      map.set(`other ${other}`, other)
    }
    assert.equal(map.size, limit)
  }
})
