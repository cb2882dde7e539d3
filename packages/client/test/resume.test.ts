/** A sync that goes on after it was interrupted, while something else has changed in between. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, memoryCheckpoint } from '../src/index.ts'
import type { Checkpoint, CheckpointStore, SyncOptions } from '../src/index.ts'
import { createConsumer, Crash } from './support/consumer.ts'
import { eventsOf, pagesOver } from './support/small-feed.ts'

const day = 86_400_000

function readerOf(fetch: typeof globalThis.fetch) {
  return createClient({ baseUrl: 'http://feed.example', key: 'k', fetch, sleep: async () => undefined })
}

/** Like the store, but as an earlier version would have written: its pages did not tell how large they were. */
function withoutPageSize(store: CheckpointStore & { current(): Checkpoint | undefined }): CheckpointStore {
  return {
    load() {
      const kept = store.current()
      if (kept?.reading.kind !== 'pages') return kept
      const { pageSize: _, ...reading } = kept.reading
      return { ...kept, reading }
    },
    save: (checkpoint) => store.save?.(checkpoint),
  }
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
    it(`is whole in the end when it goes on with pages of another size, with ${title} (spec §1)`, async () => {
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

  it('is whole in the end when an earlier version, which did not keep the size, has begun it', async () => {
    const fetch = pagesOver(() => events)
    const { consumer, checkpoint } = await interrupted(fetch, { pageSize: 10 })
    const store = withoutPageSize(checkpoint)
    await readerOf(fetch).sync({ checkpoint: store, apply: consumer.apply, pageSize: 100 })
    assert.equal(consumer.rows.size, 300)
  })

  it('goes on where it was when the pages are of the same size', async () => {
    const fetch = pagesOver(() => events)
    const { consumer, checkpoint } = await interrupted(fetch, { pageSize: 10 })
    const result = await readerOf(fetch).sync({ checkpoint, apply: consumer.apply, pageSize: 10 })
    assert.equal(consumer.rows.size, 300)
    assert.ok(result.events < 300, `${result.events} were read`)
  })
})
