/** Pages that are made whole at the same time hold so much and no more: what finds no room is sent in pieces, with the same text. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { LocatedPage } from '../../src/feed/list.ts'
import { createPageReader } from '../../src/pages/page-reader.ts'
import type { ContentCoding } from '../../src/pages/index.ts'
import { rangeReads } from '../support/range-reads.ts'

const key = { tenantId: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10', feed: 'property' } as const
const page: LocatedPage = {
  page: 1,
  pageSize: 10,
  availableCount: 10,
  totalPages: 1,
  head: { position: 10, sequenceNumber: 10, created: 1n, epoch: 'epoch', revision: 0 },
  // Of two segments, read one after the other.
  range: { key, view: 'all', first: 96, count: 10 },
}
const atOnce = 20
const eventBytes = 700_000

describe('pages that are made at the same time', () => {
  for (const coding of ['identity', 'gzip'] as const satisfies readonly ContentCoding[]) {
    it(`are made whole as far as there is room, ${coding} (P5)`, async () => {
      const gate = Promise.withResolvers<void>()
      const reads = rangeReads(async ({ count }) => {
        await gate.promise
        // As engines do, in one piece.
        return [Buffer.alloc(count * eventBytes, 'x')]
      })
      const reader = createPageReader(reads, undefined)
      const asked = Array.from({ length: atOnce }, () => Promise.resolve(reader.read(page, coding)))
      gate.resolve()
      const bodies = await Promise.all(asked)
      const kinds = bodies.map(({ kind }) => kind)
      assert.ok(kinds.includes('whole') && kinds.includes('streamed'), kinds.join(' '))
      const texts = new Set<string>()
      for (const body of bodies) {
        const pieces = body.kind === 'whole' ? body.pieces.map((piece) => Buffer.from(piece)) : []
        if (body.kind === 'streamed') for await (const piece of body.pieces()) pieces.push(Buffer.from(piece))
        else body.release()
        const bytes = Buffer.concat(pieces)
        texts.add((coding === 'gzip' ? gunzipSync(bytes) : bytes).toString())
      }
      assert.equal(texts.size, 1)
      // All room is there again.
      assert.equal((await reader.read(page, coding)).kind, 'whole')
    })
  }
})
