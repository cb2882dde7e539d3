import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { randomOf } from '../src/demo-data/random.ts'
import { londonDay, londonTime } from '../src/demo-data/wall-time.ts'

describe('chance from a seed', () => {
  it('gives these numbers on every machine and in every version', () => {
    const random = randomOf('property')
    const drawn = [random.integer(0, 999), random.integer(0, 999), random.integer(0, 999), random.hex(12)]
    assert.deepEqual(drawn, [518, 30, 321, '116e9a47fe13'])
  })

  it('spreads evenly, also over seeds that differ in one character', () => {
    const counts = Array.from({ length: 10 }, () => 0)
    for (let seed = 0; seed < 10_000; seed += 1) {
      const drawn = randomOf(`home/${seed}`).integer(0, 9)
      counts[drawn] = (counts[drawn] ?? 0) + 1
    }
    for (const count of counts) assert.ok(count > 850 && count < 1_150, counts.join(' '))
  })

  it('samples without repeats and refuses an empty list', () => {
    const random = randomOf('sample')
    assert.equal(new Set(random.sample([1, 2, 3, 4, 5], 4)).size, 4)
    assert.equal(random.sample([1, 2], 9).length, 2)
    assert.throws(() => random.pick([]), RangeError)
  })
})

describe('London wall time', () => {
  it('is an hour ahead of UTC in summer, from one last Sunday to the other (D24)', () => {
    assert.equal(londonTime(Date.UTC(2022, 2, 27, 0, 59, 59)), '27-03-2022 00:59:59')
    assert.equal(londonTime(Date.UTC(2022, 2, 27, 1, 0, 0)), '27-03-2022 02:00:00')
    assert.equal(londonTime(Date.UTC(2022, 9, 30, 0, 59, 59)), '30-10-2022 01:59:59')
    assert.equal(londonTime(Date.UTC(2022, 9, 30, 1, 0, 0)), '30-10-2022 01:00:00')
    assert.equal(londonDay(Date.UTC(2022, 5, 30, 23, 30)), '01-07-2022')
  })
})
