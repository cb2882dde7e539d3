/** Pages in tests: the store's reads made of one of them, and bodies that are expected to be made whole. */
import assert from 'node:assert/strict'
import type { RangeReads, StreamedBody } from '../../src/reading/page-cache/index.ts'
import type { PageBody } from '../../src/http/answer-body.ts'

/** All reads of ranges by the one that is given. Its events count as short. */
export function rangeReads(readRange: RangeReads['readRange']): RangeReads {
  return {
    readRange,
    async readRangeWithin(range, maxBytes) {
      const pieces = await readRange(range)
      return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0) > maxBytes ? undefined : pieces
    },
    measureRange: ({ count }) => Promise.resolve(Array.from({ length: count }, () => 1)),
  }
}

export function whole(body: PageBody | StreamedBody): PageBody {
  return body.kind === 'whole' ? body : assert.fail('a body to be sent in pieces')
}
