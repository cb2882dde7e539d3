/** What a sync does when the feed is not the one it knew, and when a feed wants to empty a copy. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CheckpointError, createClient, MassRemovalError, memoryCheckpoint } from '../../src/index.ts'
import type { Batch, FeedEvent, ResyncReason, SyncOptions } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { createPlainServer, plainServerOverlapMs } from '../support/plain-server.ts'
import { randomOf } from '../support/random.ts'

const open = { maxShare: 1, minRemovals: 1_000 }

function readerOf(fetch: typeof globalThis.fetch, now = () => 0) {
  return createClient({ baseUrl: 'http://feed.example', key: 'k', fetch, now, sleep: async () => undefined })
}

/** A server of given events, which are all in every window. */
function fixedServer(events: () => readonly FeedEvent[]): typeof globalThis.fetch {
  return async (input) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (!url.pathname.endsWith('/getevents')) return new Response('no', { status: 404 })
    const [page, pageSize] = ['page', 'pageSize'].map((name) => Number(url.searchParams.get(name)))
    assert.ok(page !== undefined && pageSize !== undefined)
    const items = events().slice((page - 1) * pageSize, page * pageSize)
    const availableCount = events().length
    const totalPages = Math.ceil(availableCount / pageSize)
    return Response.json({ items, page, pageSize, availableCount, totalPages })
  }
}

function eventsOf(count: number, { published = true, from = 1, tenantId = 't' } = {}): readonly FeedEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    tenantId,
    sequenceNumber: from + index,
    eventType: published ? 0 : 1,
    eventTypeShortCode: 'x',
    payload: JSON.stringify({ agent_ref: `s${index}`, published }),
    transactionId: `s${index}`,
    id: `e${from + index}`,
    createdDate: `2026-01-31T09:00:00.${String(from + index).padStart(7, '0')}`,
  }))
}

describe('a copy that held something before the whole feed was read', () => {
  /** A copy of subject to number, with its checkpoint. */
  function smallCopy(rows: Map<string, number>) {
    return {
      checkpoint: memoryCheckpoint(),
      copy: {
        count: () => rows.size,
        countOf: (subjectIds: readonly string[]) => subjectIds.filter((id) => rows.has(id)).length,
        subjects: () => [...rows.keys()],
      },
      apply({ changes }: Batch) {
        for (const { kind, subjectId, sequenceNumber } of changes) {
          if (kind === 'remove') rows.delete(subjectId)
          else rows.set(subjectId, sequenceNumber)
        }
      },
      breaker: open,
    }
  }

  it('is looked through once, and not again by later rounds and runs', async () => {
    const rows = new Map([['gone', 1]])
    let events = eventsOf(5)
    const options = smallCopy(rows)
    const client = readerOf(fixedServer(() => events))
    await client.sync(options)
    assert.deepEqual([...rows.keys()].toSorted(), ['s0', 's1', 's2', 's3', 's4'])
    // A subject of the copy's own: only another read of the whole feed would find that the feed does not have it.
    rows.set('own', 1)
    events = [...events, ...eventsOf(1, { from: 6 })]
    const { changes, removals } = await client.sync(options)
    assert.deepEqual([changes, removals], [1, 0])
    assert.deepEqual([...rows.keys()].toSorted(), ['own', 's0', 's1', 's2', 's3', 's4'])
  })

  it('loses what a failed first batch had put into it, if the feed no longer has that', async () => {
    const rows = new Map<string, number>()
    let events = eventsOf(3)
    const options = smallCopy(rows)
    const client = readerOf(fixedServer(() => events))
    const failing = client.sync({
      ...options,
      apply({ changes }) {
        rows.set(changes[0]?.subjectId ?? '', 1)
        throw new Error('the disk is full')
      },
    })
    await assert.rejects(failing, /the disk is full/)
    assert.deepEqual([...rows.keys()], ['s0'])
    events = events.slice(1)
    await client.sync(options)
    assert.deepEqual([...rows.keys()], ['s1', 's2'])
  })
})

describe('a plain feed that is not the one it was', () => {
  for (const withCopy of [true, false]) {
    it(`is read again when its newest known event is gone (copy ${withCopy ? 'looked through' : 'emptied'})`, async () => {
      const server = createPlainServer({ random: randomOf(7), order: 'descending', orderBy: 'created' })
      for (let left = 60; left > 0; left -= 1) server.publish()
      server.settle()
      const consumer = createConsumer('applyThenSave')
      const reasons: ResyncReason[] = []
      const starts: boolean[] = []
      const options: SyncOptions = {
        checkpoint: consumer.checkpoint,
        apply: (batch) => {
          starts.push(batch.startsOver)
          return consumer.apply(batch)
        },
        overlapMs: plainServerOverlapMs,
        pageSize: 7,
        onResync: (reason) => reasons.push(reason),
        ...(withCopy ? { copy: consumer.copy, breaker: open } : {}),
      }
      await readerOf(server.fetch).sync(options)
      consumer.checkEqual(server.fold())
      assert.deepEqual(reasons, [])
      assert.equal(starts[0], !withCopy)
      starts.length = 0

      server.forget(8)
      if (withCopy) {
        // Older numbers are the truth now: the checker must not expect them to rise.
        const fresh = createConsumer('applyThenSave')
        for (const [subject, row] of consumer.rows) fresh.rows.set(subject, row)
        fresh.checkpoint.save?.(await loaded(consumer))
        await readerOf(server.fetch).sync({
          ...options,
          checkpoint: fresh.checkpoint,
          apply: fresh.apply,
          copy: fresh.copy,
        })
        fresh.checkEqual(server.fold())
      } else {
        await readerOf(server.fetch).sync(options)
        consumer.checkEqual(server.fold())
        assert.equal(starts[0], true)
        assert.ok(starts.slice(1).every((start) => !start))
      }
      assert.deepEqual(reasons, ['feed_rewritten'])
    })
  }

  it('is read again when its headers show another epoch or revision (D13, D17)', async () => {
    let epoch = 'a'
    const server = createPlainServer({
      random: randomOf(3),
      order: 'ascending',
      orderBy: 'number',
      epoch: () => epoch,
    })
    for (let left = 20; left > 0; left -= 1) server.publish()
    const consumer = createConsumer('oneTransaction')
    const reasons: ResyncReason[] = []
    const options: SyncOptions = {
      checkpoint: consumer.checkpoint,
      apply: consumer.apply,
      overlapMs: plainServerOverlapMs,
      onResync: (reason) => reasons.push(reason),
    }
    await readerOf(server.fetch).sync(options)
    epoch = 'b'
    server.publish()
    server.settle()
    await readerOf(server.fetch).sync(options)
    consumer.checkEqual(server.fold())
    assert.deepEqual(reasons, ['epoch_changed'])
  })

  it('of another tenant, feed or category is refused before anything is applied: the checkpoint is not its own', async () => {
    let tenantId = 't'
    const fetch = fixedServer(() => eventsOf(3, { tenantId }))
    const checkpoint = memoryCheckpoint()
    let batches = 0
    const options: SyncOptions = { checkpoint, apply: () => void (batches += 1) }
    await readerOf(fetch).sync(options)
    assert.equal(batches, 1)
    tenantId = 'other'
    await assert.rejects(readerOf(fetch).sync(options), CheckpointError)
    tenantId = 't'
    await assert.rejects(readerOf(fetch).sync({ ...options, apiEventType: 'salesproperty' }), CheckpointError)
    const contacts = createClient({ baseUrl: 'http://feed.example', key: 'k', feed: 'contact', fetch })
    await assert.rejects(contacts.sync({ checkpoint, apply: () => assert.fail() }), CheckpointError)
    assert.equal(batches, 1)
  })

  it('with an invalid checkpoint, or one of a newer version, is not read: the error says so', async () => {
    const fetch = fixedServer(() => [])
    for (const stored of [
      'x',
      5,
      {},
      { format: 'property-events-checkpoint/9' },
      { format: 'property-events-checkpoint/1' },
    ]) {
      await assert.rejects(
        readerOf(fetch).sync({ checkpoint: { load: () => stored }, apply: () => assert.fail() }),
        CheckpointError,
      )
    }
  })

  it('that lacks a member is not read: it is damaged', async () => {
    const fetch = fixedServer(() => [])
    const checkpoint = memoryCheckpoint()
    await readerOf(fetch).sync({ checkpoint, apply: () => undefined })
    const kept = checkpoint.current()
    assert.ok(kept !== undefined)
    const reading = { kind: 'pages', page: 2, sawNewest: false }
    const damaged = Object.keys(kept).map((member) => ({ ...kept, [member]: undefined }))
    // The same number of a page with other sizes would be another place.
    for (const stored of [...damaged.slice(1), { ...kept, reading }]) {
      await assert.rejects(
        readerOf(fetch).sync({ checkpoint: { load: () => stored }, apply: () => assert.fail() }),
        /^CheckpointError: The checkpoint is damaged: a member is missing or wrong\.$/,
      )
    }
    const whole = { ...kept, reading: { ...reading, pageSize: 10 } }
    await readerOf(fetch).sync({ checkpoint: { load: () => whole }, apply: () => undefined })
  })
})

describe('the breaker', () => {
  /** A copy of 100, and a feed that then removes so many of them. */
  async function remove(count: number, options: Partial<SyncOptions> = {}) {
    let events = eventsOf(100)
    const consumer = createConsumer('applyThenSave')
    const base: SyncOptions = {
      checkpoint: consumer.checkpoint,
      apply: consumer.apply,
      copy: consumer.copy,
      batchSize: 10,
    }
    let nowMs = 0
    const reader = readerOf(
      fixedServer(() => events),
      () => nowMs,
    )
    await reader.sync(base)
    assert.equal(consumer.rows.size, 100)
    const removeMore = (from: number, further: number) => {
      const all = eventsOf(from + further, { published: false, from: 101 })
      events = [...events, ...all.slice(from)]
    }
    removeMore(0, count)
    const run = (more: Partial<SyncOptions> = {}) => reader.sync({ ...base, ...options, ...more })
    return { consumer, run, removeMore, wait: (ms: number) => void (nowMs += ms) }
  }

  it('lets a quarter of the copy go', async () => {
    const { consumer, run } = await remove(25)
    await run()
    assert.equal(consumer.rows.size, 75)
  })

  it('stops before more is removed, says how much and how to continue, and loses nothing by stopping', async () => {
    const { consumer, run } = await remove(40)
    await assert.rejects(run(), (error) => {
      assert.ok(error instanceof MassRemovalError)
      assert.equal(error.code, 'mass_removal')
      assert.equal(error.removals, 40)
      assert.equal(error.held, 100)
      assert.match(error.message, /allowMassRemoval/)
      return true
    })
    assert.equal(consumer.rows.size, 100)
    await assert.rejects(run(), MassRemovalError)
    const result = await run({ allowMassRemoval: true })
    assert.equal(consumer.rows.size, 60)
    assert.equal(result.removals, 40)
  })

  it('counts what several runs of a day remove together', async () => {
    const { consumer, run, removeMore, wait } = await remove(15)
    await run()
    wait(3_600_000)
    removeMore(15, 15)
    await assert.rejects(run(), MassRemovalError)
    assert.equal(consumer.rows.size, 85)
    wait(86_400_000)
    await run()
    assert.equal(consumer.rows.size, 70)
  })

  it('does not count removals of what the copy never held', async () => {
    const consumer = createConsumer('applyThenSave')
    const events = [...eventsOf(5), ...eventsOf(200, { published: false, from: 6 })].map((event) =>
      event.sequenceNumber > 5 ? { ...event, payload: event.payload.replace('"s', '"old') } : event,
    )
    const base = { checkpoint: consumer.checkpoint, apply: consumer.apply, copy: consumer.copy }
    await readerOf(fixedServer(() => events)).sync(base)
    assert.equal(consumer.rows.size, 5)
  })

  it('also stops a resync that would empty the copy', async () => {
    let events = eventsOf(100)
    const consumer = createConsumer('applyThenSave')
    const base = { checkpoint: consumer.checkpoint, apply: consumer.apply, copy: consumer.copy }
    await readerOf(fixedServer(() => events)).sync(base)
    events = []
    await assert.rejects(readerOf(fixedServer(() => events)).sync(base), MassRemovalError)
    assert.equal(consumer.rows.size, 100)
    await readerOf(fixedServer(() => events)).sync({ ...base, allowMassRemoval: true })
    assert.equal(consumer.rows.size, 0)
  })
})

async function loaded(consumer: ReturnType<typeof createConsumer>) {
  const stored: unknown = await consumer.checkpoint.load()
  return stored as Parameters<NonNullable<typeof consumer.checkpoint.save>>[0]
}
