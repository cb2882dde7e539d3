/** Ids that follow from names (D16). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol'
import * as fc from 'fast-check'
import { uuidV5 } from '../../src/runtime/hashes.ts'

describe('UUIDs', () => {
  it('of version 5 follow the standard for names of any length (D16)', () => {
    assert.equal(
      uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com'),
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    )
    fc.assert(
      fc.property(fc.uuid(), fc.string({ unit: 'binary', maxLength: 300 }), (namespace, name) => {
        const digest = createHash('sha1')
          .update(bytesOfUuid(namespace))
          .update(new TextEncoder().encode(name))
          .digest()
        digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50
        digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
        assert.equal(uuidV5(namespace, name), uuidOfBytes(digest))
      }),
    )
  })
})
