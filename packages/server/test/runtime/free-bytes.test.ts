import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freeBytes } from '../../src/runtime/memory/free-bytes.ts'

describe('freed bytes', () => {
  it('are freed if they own their memory', () => {
    for (const bytes of [new Uint8Array(10), Buffer.concat([Buffer.alloc(1e6)]), Buffer.alloc(1)]) {
      freeBytes(bytes)
      assert.equal(bytes.byteLength, 0)
      // A second time does no harm.
      freeBytes(bytes)
    }
  })

  it('leave alone what shares its memory with others', () => {
    const whole = Buffer.alloc(100, 'a')
    freeBytes(whole.subarray(0, 99))
    freeBytes(whole.subarray(1))
    assert.equal(whole.toString(), 'a'.repeat(100))
    const pooled = [Buffer.from('one'), Buffer.from('two')]
    for (const bytes of pooled) freeBytes(bytes)
    assert.deepEqual(pooled.map(String), ['one', 'two'])
    const shared = new Uint8Array(new SharedArrayBuffer(8))
    freeBytes(shared)
    assert.equal(shared.byteLength, 8)
  })
})
