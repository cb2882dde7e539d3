/** Pages that are made whole at the same time hold so much and no more: what finds no room is sent in pieces, with the same text. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { LocatedPage } from '../../src/reading/list.ts'
import { createPageReader } from '../../src/reading/page-cache/page-reader.ts'
import type { ContentCoding } from '../../src/http/answer-body.ts'
import { rangeReads } from '../support/range-reads.ts'
import { until } from '../support/until.ts'

const pageOf = (tenantId: string): LocatedPage => ({
  page: 1,
  pageSize: 10,
  availableCount: 10,
  totalPages: 1,
  head: { position: 10, sequenceNumber: 10, created: 1n, epoch: 'epoch', revision: 0, thinned: 0 },
  // Of two segments, read one after the other.
  range: { key: { tenantId, feed: 'property' }, view: 'all', first: 96, count: 10 },
})
const tenants = Array.from({ length: 20 }, () => randomUUID())
const eventBytes = 700_000

describe('pages that are made at the same time', () => {
  for (const coding of ['identity', 'gzip'] as const satisfies readonly ContentCoding[]) {
    it(`are made whole as far as there is room, ${coding} (P5)`, async () => {
      const gate = Promise.withResolvers<void>()
      let begun = 0
      const reads = rangeReads(async ({ count }) => {
        begun += 1
        await gate.promise
        // As engines do, in one piece.
        return [Buffer.alloc(count * eventBytes, 'x')]
      })
      const reader = createPageReader(reads, undefined)
      const asked = tenants.map((tenant) => Promise.resolve(reader.read(pageOf(tenant), coding)))
      // On a busy machine the reads begin in several turns of the event loop: with the gate open, the first would end before the last begins.
      await until(() => begun === tenants.length, { what: 'a read for each page' })
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
      assert.equal((await reader.read(pageOf(randomUUID()), coding)).kind, 'whole')
    })
  }

  for (const coding of ['identity', 'gzip'] as const satisfies readonly ContentCoding[]) {
    it(`count in what the node holds until they are made, and are sent in pieces where it is full, ${coding} (P5)`, async () => {
      let [held, most] = [0, 0]
      const roomBytes = 2 * 5 * eventBytes
      const count = (bytes: number): boolean => {
        held += bytes
        most = Math.max(most, held)
        return held <= roomBytes
      }
      const gate = Promise.withResolvers<void>()
      let begun = 0
      const reads = rangeReads(async ({ count: events }) => {
        begun += 1
        await gate.promise
        return [Buffer.alloc(events * eventBytes, 'x')]
      })
      const reader = createPageReader(reads, undefined, count)
      const kindOf = async (tenant: string): Promise<string> => {
        const body = await reader.read(pageOf(tenant), coding)
        if (body.kind === 'whole') body.release()
        return body.kind
      }
      const asked = tenants.map(kindOf)
      await until(() => begun === tenants.length, { what: 'a read for each page' })
      gate.resolve()
      const kinds = await Promise.all(asked)
      assert.ok(kinds.includes('streamed'), kinds.join(' '))
      assert.ok(most > roomBytes, `${most} bytes were counted`)
      assert.equal(held, 0)
      assert.equal(await kindOf(randomUUID()), 'whole')
    })
  }

  it('of one tenant are a few, and another tenant does not wait for them (P5)', async () => {
    const gates: PromiseWithResolvers<void>[] = []
    const asked: string[] = []
    const reads = rangeReads(async ({ key, count }) => {
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      asked.push(key.tenantId)
      await gate.promise
      return [Buffer.alloc(count * 100, 'x')]
    })
    const reader = createPageReader(reads, undefined)
    const [many = '', other = ''] = tenants
    const pages = Array.from({ length: 20 }, () => Promise.resolve(reader.read(pageOf(many), 'identity')))
    await until(() => asked.length >= 6, { what: 'a few reads' })
    await new Promise(setImmediate)
    assert.equal(asked.length, 6)
    const beside = Promise.resolve(reader.read(pageOf(other), 'identity'))
    await until(() => asked.length > 6, { what: 'the read of another tenant' })
    await new Promise(setImmediate)
    assert.deepEqual(asked.slice(6), [other])
    const opening = setInterval(() => gates.splice(0).forEach(({ resolve }) => resolve()), 1)
    for (const body of await Promise.all([...pages, beside])) assert.equal(body.kind, 'whole')
    clearInterval(opening)
    // Each has two parts.
    assert.equal(asked.filter((tenant) => tenant === many).length, 40)
  })
})
