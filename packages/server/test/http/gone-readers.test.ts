/** What is left of requests that waited and have ended: no feed is followed for them any more (L3, docs/decisions/0037). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageEngine } from '../../src/index.ts'
import { openStream } from '../support/event-stream.ts'
import { call } from '../support/http-client.ts'
import { startTestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events'

/** Counts who listens to changes of feeds. */
function counted() {
  const counts = { listeners: 0 }
  const wrap = (storage: StorageEngine): StorageEngine => ({
    ...storage,
    events: {
      ...storage.events,
      watch(listener) {
        const stop = storage.events.watch(listener)
        counts.listeners += 1
        return () => {
          counts.listeners -= 1
          stop()
        }
      },
    },
  })
  return { counts, wrap }
}

describe('requests that waited and have ended', () => {
  for (const [what, waitAndEnd] of [
    ['a stream whose reader has gone', streamed],
    ['a long-poll whose client has gone', abandoned],
    ['a long-poll whose time was over', timedOut],
    ['a read that waited for a number', waitedForNumber],
  ] as const) {
    it(`leave no feed that is followed: ${what} (L3)`, async () => {
      const { counts, wrap } = counted()
      const service = await startTestService({ wrap, limits: { minSequenceWaitMs: 300 } })
      try {
        const before = counts.listeners
        await waitAndEnd({ port: service.port, key: service.tenant.readKey }, async () => {
          await until(() => counts.listeners > before, { what: 'a feed that is followed' })
        })
        await until(() => counts.listeners === before, { what: 'that no feed is followed' })
      } finally {
        await service.stop()
      }
    })
  }
})

interface Reader {
  readonly port: number
  readonly key: string
}

async function streamed({ port, key }: Reader, waits: () => Promise<void>): Promise<void> {
  const reader = await openStream({ port }, `${path}/stream?after=head`, { key })
  await waits()
  reader.close()
}

async function abandoned({ port, key }: Reader, waits: () => Promise<void>): Promise<void> {
  const gone = new AbortController()
  const asked = call({ port }, `${path}?after=0&wait=30`, { key, signal: gone.signal })
  await Promise.all([assert.rejects(asked), waits().then(() => gone.abort())])
}

async function timedOut({ port, key }: Reader, waits: () => Promise<void>): Promise<void> {
  const [answer] = await Promise.all([call({ port }, `${path}?after=0&wait=1`, { key }), waits()])
  assert.equal(answer.status, 200)
}

async function waitedForNumber({ port, key }: Reader, waits: () => Promise<void>): Promise<void> {
  const headers = { 'x-feed-min-sequence': '1' }
  const [answer] = await Promise.all([call({ port }, `${path}?after=0`, { key, headers }), waits()])
  assert.notEqual(answer.status, 200)
}
