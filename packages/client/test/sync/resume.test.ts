/** A sync that goes on after it was interrupted, while something else has changed in between. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CheckpointError, createClient, memoryCheckpoint } from '../../src/index.ts'
import type { FeedEvent, ResyncReason, SyncOptions } from '../../src/index.ts'
import { createConsumer, Crash } from '../support/consumer.ts'
import { eventOf, eventsOf, ownReadsOver, pagesOver } from '../support/small-feed.ts'

const day = 86_400_000

function readerOf(fetch: typeof globalThis.fetch) {
  return createClient({ baseUrl: 'http://feed.example', key: 'k', fetch, sleep: async () => undefined })
}

describe('a first read of a plain feed that was interrupted', () => {
  /** 300 properties, a day apart: what the first read jumps over, no later window brings. */
  const events = eventsOf(300, { stepMs: day })

  async function interrupted(fetch: typeof globalThis.fetch, options: Partial<SyncOptions>) {
    const consumer = createConsumer('applyThenSave')
    const checkpoint = memoryCheckpoint()
    let batches = 0
    const apply: SyncOptions['apply'] = (batch) => {
      batches += 1
      if (batches === 13) throw new Crash()
      return consumer.apply(batch)
    }
    await assert.rejects(readerOf(fetch).sync({ checkpoint, batchSize: 10, ...options, apply }), Crash)
    return { consumer, checkpoint }
  }

  for (const withCopy of [true, false]) {
    const title = withCopy ? 'a view of the copy' : 'no view of the copy'
    it(`is whole in the end when it continues with pages of another size, with ${title} (spec §1)`, async () => {
      const fetch = pagesOver(() => events)
      for (const pageSize of [100, 7]) {
        const { consumer, checkpoint } = await interrupted(fetch, { pageSize: 10 })
        const copy = withCopy ? { copy: consumer.copy } : {}
        await readerOf(fetch).sync({ checkpoint, apply: consumer.apply, pageSize, ...copy })
        assert.equal(consumer.rows.size, 300)
      }
    })
  }

  it('is whole in the end when the server gives larger pages than before', async () => {
    const { consumer, checkpoint } = await interrupted(
      pagesOver(() => events, 10),
      { pageSize: 100 },
    )
    const fetch = pagesOver(() => events, 100)
    await readerOf(fetch).sync({ checkpoint, apply: consumer.apply, pageSize: 100 })
    assert.equal(consumer.rows.size, 300)
  })

  it('continues where it was when the pages have the same size', async () => {
    const fetch = pagesOver(() => events)
    const { consumer, checkpoint } = await interrupted(fetch, { pageSize: 10 })
    const result = await readerOf(fetch).sync({ checkpoint, apply: consumer.apply, pageSize: 10 })
    assert.equal(consumer.rows.size, 300)
    assert.ok(result.events < 300, `${result.events} were read`)
  })
})

/** The answers of a plain server of ours: their headers say the epoch. */
function inEpoch(fetch: typeof globalThis.fetch, epoch: () => string): typeof globalThis.fetch {
  return async (input, init) => {
    const { status, body } = await fetch(input, init)
    return new Response(body, { status, headers: { 'x-feed-epoch': epoch(), 'x-feed-revision': '0' } })
  }
}

it('gives no older event of a property after a newer one, although the times of the server mean nothing (spec §1)', async () => {
  const events = [eventOf(1, 'a'), eventOf(2, 'b'), eventOf(3, 'a'), eventOf(4, 'c')]
  const fetch = inEpoch(
    pagesOver(() => events.map((event) => ({ ...event, createdDate: 'ddoe' }))),
    () => 'a',
  )
  const { apply, copy, rows } = createConsumer('applyThenSave')
  const checkpoint = memoryCheckpoint()
  const dies: SyncOptions['apply'] = async (batch) => {
    await apply(batch)
    throw new Crash()
  }
  await assert.rejects(readerOf(fetch).sync({ checkpoint, copy, apply: dies }), Crash)
  // Its first page has the older event of `a` alone, and the consumer refuses that.
  await readerOf(fetch).sync({ checkpoint, copy, apply, batchSize: 1, pageSize: 1 })
  const held = Object.fromEntries([...rows].map(([subject, { sequenceNumber }]) => [subject, sequenceNumber]))
  assert.deepEqual(held, { a: 3, b: 2, c: 4 })
})

describe('a first read whose first batch failed, of a feed that was then rebuilt with lower numbers', () => {
  const before = [eventOf(900, 'a'), eventOf(901, 'b'), eventOf(902, 'c')]
  const rebuilt = [eventOf(1, 'a'), eventOf(2, 'b')]

  /** What the copy holds after the batch failed in its middle, the feed was rebuilt and a second sync has ended. */
  async function heldAfter(fetch: typeof globalThis.fetch, rebuild: () => void, { withCopy = false } = {}) {
    const checkpoint = memoryCheckpoint()
    const rows = new Map<string, number>()
    const reasons: ResyncReason[] = []
    let fails = true
    const options: SyncOptions = {
      checkpoint,
      apply: ({ changes, startsOver }) => {
        if (startsOver) rows.clear()
        for (const { kind, subjectId, sequenceNumber } of changes) {
          if (kind === 'remove') rows.delete(subjectId)
          else rows.set(subjectId, sequenceNumber)
          if (fails && subjectId === 'b') throw new Crash()
        }
      },
      onResync: (reason) => void reasons.push(reason),
      ...(withCopy
        ? {
            copy: {
              count: () => rows.size,
              countOf: (ids: readonly string[]) => ids.filter((id) => rows.has(id)).length,
              subjects: () => rows.keys(),
            },
          }
        : {}),
    }
    await assert.rejects(readerOf(fetch).sync(options), Crash)
    fails = false
    rebuild()
    await readerOf(fetch).sync(options)
    return { held: Object.fromEntries(rows), reasons, pending: checkpoint.current()?.pending }
  }

  for (const withCopy of [true, false]) {
    const title = withCopy ? 'with a view of the copy' : 'without a view of the copy'
    it(`is read again from a service with an epoch (${title})`, async () => {
      let feed = { tenantId: 't', epoch: 'a', events: before }
      const rebuild = () => void (feed = { tenantId: 't', epoch: 'b', events: rebuilt })
      const { held, reasons } = await heldAfter(
        ownReadsOver(() => feed),
        rebuild,
        { withCopy },
      )
      assert.deepEqual(held, { a: 1, b: 2 })
      assert.deepEqual(reasons, ['epoch_changed'])
    })

    it(`is read again from a plain server (${title})`, async () => {
      let events: readonly FeedEvent[] = before
      const { held, reasons } = await heldAfter(
        pagesOver(() => events),
        () => void (events = rebuilt),
        { withCopy },
      )
      assert.deepEqual(held, { a: 1, b: 2 })
      assert.deepEqual(reasons, ['feed_rewritten'])
    })

    it(`continues with the same feed when it was not rebuilt (${title})`, async () => {
      const feed = { tenantId: 't', epoch: 'a', events: before }
      for (const fetch of [ownReadsOver(() => feed), pagesOver(() => before)]) {
        const { held, reasons, pending } = await heldAfter(fetch, () => undefined, { withCopy })
        assert.deepEqual(held, { a: 900, b: 901, c: 902 })
        assert.deepEqual(reasons, [])
        assert.deepEqual(pending, {}, 'what has come is no longer awaited')
      }
    })
  }

  it('is read again when its events have come back with their ids: the epoch in the headers says so (D13)', async () => {
    let feed = { epoch: 'a', events: before }
    const restored = before.map((event, index) => ({ ...event, sequenceNumber: index + 1 }))
    const { held, reasons } = await heldAfter(
      inEpoch(
        pagesOver(() => feed.events),
        () => feed.epoch,
      ),
      () => void (feed = { epoch: 'b', events: restored }),
    )
    assert.deepEqual(held, { a: 1, b: 2, c: 3 })
    assert.deepEqual(reasons, ['epoch_changed'])
  })

  it("and is now another tenant's, is refused", async () => {
    let feed = { tenantId: 't', epoch: 'a', events: before }
    const rebuild = () => void (feed = { tenantId: 'other', epoch: 'b', events: rebuilt })
    await assert.rejects(
      heldAfter(
        ownReadsOver(() => feed),
        rebuild,
      ),
      CheckpointError,
    )
  })
})
