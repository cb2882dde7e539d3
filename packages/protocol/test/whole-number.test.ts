import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readWholeNumber } from '@property-events/protocol'

describe('a whole number that somebody wrote', () => {
  it('is read as written, up to the largest that stays the same in a double', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (number) => assert.equal(readWholeNumber(String(number)), number)))
    assert.equal(readWholeNumber('9007199254740991'), Number.MAX_SAFE_INTEGER)
    assert.equal(readWholeNumber('9007199254740992'), undefined)
  })

  it('is within its range, ends included', () => {
    const range = { from: 1, to: 64 }
    const read = ['0', '1', '64', '65'].map((text) => readWholeNumber(text, range))
    assert.deepEqual(read, [undefined, 1, 64, undefined])
  })

  it('is no other text that JavaScript would accept as a number', () => {
    for (const text of [
      '',
      ' 1',
      '1 ',
      '01',
      '+1',
      '-1',
      '1.0',
      '1e3',
      '0x10',
      '1_000',
      '１',
      'Infinity',
      '1\n',
    ]) {
      assert.equal(readWholeNumber(text), undefined, JSON.stringify(text))
    }
  })
})
