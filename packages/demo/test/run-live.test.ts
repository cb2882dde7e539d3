/** The market of a demo that is left open: its pace, and where it ends. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Publisher } from '@property-events/server'
import { lastSaleMs } from '../src/demo-data/demo-market.ts'
import { pauseMs } from '../src/demo-data/live-market.ts'
import { randomOf } from '../src/demo-data/random.ts'
import { runLive } from '../src/run-live.ts'

const startMs = Date.UTC(2026, 0, 15, 9)
const hourMs = 3_600_000

/** Runs it by a clock that each pause sets forward, until so much time has passed. */
async function runFor(ms: number, mostEvents: number, stored: number, isFull = (_change: number) => false) {
  let nowMs = startMs
  const ends = new AbortController()
  const published: string[] = []
  const said: string[] = []
  const publish = async ({ key, body }: Parameters<Publisher['publish']>[0]): Promise<void> => {
    published.push(`${nowMs} ${key.tenantId} ${body.toString()}`)
    if (isFull(published.length)) throw new Error('the disk is full')
  }
  const position = (): number => (stored + published.length) / 3
  await runLive({
    storage: { events: { head: () => Promise.resolve({ ...head, position: position() }) } },
    publisher: { publish },
    market: { untilMs: lastSaleMs },
    signal: ends.signal,
    say: (line) => said.push(line),
    clock: () => nowMs,
    pause(pausedMs) {
      nowMs += pausedMs
      if (nowMs - startMs > ms) ends.abort()
      return Promise.resolve()
    },
    mostEvents,
  })
  return { published, said }
}
const head = { epoch: 'k3Jx0aQ9zT', revision: 0, position: 0, sequenceNumber: 0, created: 0n, thinned: 0 }

describe('a demo that is left open', () => {
  it('changes every few seconds for two hours, and then twice a minute', () => {
    const random = randomOf('pace')
    const pauses = Array.from({ length: 1_000 }, () => pauseMs(random, hourMs))
    assert.ok(Math.min(...pauses) >= 2_000 && Math.max(...pauses) <= 6_000)
    assert.equal(pauseMs(random, 3 * hourMs), 30_000)
  })

  it('publishes the same at the same moments for the same start, each at a time of its own', async () => {
    const [one, other] = [await runFor(600_000, 1_000, 0), await runFor(600_000, 1_000, 0)]
    assert.deepEqual(one.published, other.published)
    assert.ok(one.published.length >= 100 && one.published.length <= 300, `${one.published.length} changes`)
    assert.deepEqual(one.said, [])
  })

  it('leaves out what cannot be stored, and tells an outage in two lines, however long it lasts', async () => {
    const { said, published } = await runFor(300_000, 1_000, 0, (change) => change > 10 && change <= 40)
    assert.ok(published.length > 45, `${published.length} changes`)
    assert.deepEqual(said, [
      'A live change could not be stored: the disk is full',
      'Live changes are stored again; 30 could not be.',
    ])
  })

  it('stops once its store has as much as a demo can hold, and says so', async () => {
    const full = await runFor(hourMs, 320, 300)
    assert.equal(full.published.length, 20)
    assert.match(full.said.at(-1) ?? '', /stops changing now.*320 events/)
    const started = await runFor(hourMs, 300, 300)
    assert.deepEqual([started.published.length, started.said.length], [0, 1])
  })
})
