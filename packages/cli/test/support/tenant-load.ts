/** Publishers and readers of one tenant, and what they have seen: to be compared with the feed in the end. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@property-events/client'
import type { Client, FeedEvent, Publication } from '@property-events/client'

/** An acknowledged event. */
export interface Acknowledged {
  readonly sequenceNumber: number
  readonly createdDate: string
}

/** What readers collect. */
export interface Seen {
  readonly acknowledged: Map<string, Acknowledged>
  /** By number, in the order they were read in. */
  readonly byNumber: FeedEvent[]
  /** Every poll asks for what came since the one before was asked. */
  readonly byWindow: Map<string, FeedEvent>
  /** The feed as last read page by page. */
  byPages: readonly FeedEvent[]
}

export interface TenantLoad {
  readonly seen: Seen
  /** Stops publishing, then lets every reader look once more. */
  stop(): Promise<Seen>
}

/** A client that is as patient as it has to be: it waits as `Retry-After` says. */
export function patientClient(baseUrl: string, key: string): Client {
  return createClient({ baseUrl, key, retry: { attempts: 60, baseDelayMs: 100, maxDelayMs: 500 } })
}

export function publication(id: string, text: string, subject: string = randomUUID()): Publication {
  return { id, payload: JSON.stringify({ agent_ref: subject, published: true, text }) }
}

export function loadTenant(baseUrl: string, key: string, publishers: number): TenantLoad {
  const client = patientClient(baseUrl, key)
  const seen: Seen = { acknowledged: new Map(), byNumber: [], byWindow: new Map(), byPages: [] }
  const going = { publishing: true, reading: true }

  const publish = async (): Promise<void> => {
    // One subject: then a node plans from what it remembers, and meets a closed feed under its lock alone.
    const subject = randomUUID()
    while (going.publishing) {
      const id = randomUUID()
      const { events } = await client.publish(publication(id, `under load £ 🏡 ${id}`, subject))
      const [line] = events
      assert.equal(line?.id, id)
      assert.ok(line.sequenceNumber !== undefined && line.createdDate !== undefined)
      seen.acknowledged.set(id, { sequenceNumber: line.sequenceNumber, createdDate: line.createdDate })
      await delay(10)
    }
  }
  const byNumber = async (): Promise<void> => {
    for (let last = false; !last;) {
      last = !going.reading
      const after = seen.byNumber.at(-1)?.sequenceNumber ?? 0
      const run = await client.after({ after, limit: 200 })
      seen.byNumber.push(...run.items)
      last &&= run.items.length === 0
      await delay(20)
    }
  }
  const byWindow = async (): Promise<void> => {
    let from = '2000-01-01T00:00:00'
    for (let last = false; !last;) {
      last = !going.reading
      const asked = new Date().toISOString().slice(0, -1)
      for await (const event of client.list({ from })) seen.byWindow.set(event.id, event)
      from = asked
      await delay(20)
    }
  }
  const byPages = async (): Promise<void> => {
    for (let last = false; !last;) {
      last = !going.reading
      const all: FeedEvent[] = []
      for await (const event of client.list({ pageSize: 50 })) all.push(event)
      assert.deepEqual(all.slice(0, seen.byPages.length), seen.byPages, 'what was read stays as it was')
      seen.byPages = all
      await delay(50)
    }
  }
  const writers = Array.from({ length: publishers }, publish)
  const readers = [byNumber(), byWindow(), byPages()]
  for (const one of [...writers, ...readers]) one.catch(() => undefined)

  return {
    seen,
    async stop() {
      going.publishing = false
      await Promise.all(writers)
      going.reading = false
      await Promise.all(readers)
      return seen
    },
  }
}

/** Nothing lost, nothing twice, numbers without a gap, and every reader has seen the same. Answers how many events there are. */
export function checkTenant({ acknowledged, byNumber, byWindow, byPages }: Seen): number {
  const numbers = byPages.map(({ sequenceNumber }) => sequenceNumber)
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
    'numbers without a gap',
  )
  const dates = byPages.map(({ createdDate }) => createdDate)
  assert.deepEqual(dates, [...new Set(dates)].toSorted(), 'dates that rise')
  assert.deepEqual(byNumber, byPages, 'read by number: every event once, in order')
  const ids = new Map(byPages.map((event) => [event.id, event]))
  assert.equal(ids.size, byPages.length, 'no id twice')
  for (const [id, { sequenceNumber, createdDate }] of acknowledged) {
    const event = ids.get(id)
    assert.deepEqual(
      [event?.sequenceNumber, event?.createdDate],
      [sequenceNumber, createdDate],
      'acknowledged',
    )
  }
  for (const event of byPages) assert.deepEqual(byWindow.get(event.id), event, 'polled by time')
  return byPages.length
}
