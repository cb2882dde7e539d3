/** The ends of the feeds that readers wait for (docs/decisions/0037): nothing is missed, and nothing is told that the store would not tell. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { unreported } from '../../src/runtime/background-task.ts'
import { createLiveTail } from '../../src/live/tail.ts'
import type { FeedFollower } from '../../src/live/tail.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { Head, StoredEvent } from '../../src/events/event-log.ts'
import { until, within } from '../support/until.ts'

const key: FeedKey = { tenantId: 'tenant', feed: 'property' }
const never = new AbortController().signal
const longMs = 30_000

/** A store of one feed, whose answers can be held back. */
function feedStore() {
  let epoch = 'a'
  let revision = 0
  let events: StoredEvent[] = []
  const listeners = new Set<(key: FeedKey | undefined) => void>()
  const calls = { heads: 0, readAfter: 0 }
  let held: Promise<void> | undefined
  const head = (): Head => ({
    position: events.length,
    sequenceNumber: events.length,
    created: undefined,
    epoch,
    revision,
    thinned: 0,
  })
  return {
    calls,
    events: {
      async heads(keys: readonly FeedKey[]) {
        calls.heads += 1
        // As they are now; what is held back is the answer.
        const found = keys.map(head)
        await held
        return found
      },
      async readAfter({ after, limit }: { readonly after: number; readonly limit: number }) {
        calls.readAfter += 1
        return events.slice(after, after + limit)
      },
      watch(listener: (key: FeedKey | undefined) => void) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    listeners,
    /** Answers of `heads` are held back until the function returned is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    },
    publish(text: string, tells = true): void {
      events.push({ sequenceNumber: events.length + 1, json: Buffer.from(text) })
      if (tells) for (const listener of listeners) listener(key)
    },
    /** The same numbers with other bytes. */
    change(of: 'epoch' | 'revision', text: string): void {
      if (of === 'epoch') epoch += 'b'
      else revision += 1
      events = events.map(({ sequenceNumber }) => ({ sequenceNumber, json: Buffer.from(text) }))
      for (const listener of listeners) listener(key)
    },
  }
}

/** It looks by itself in no test but the one about that. */
const byHintsAlone = { report: unreported, checkEveryMs: 1_000_000 }

const textsOf = ({ events }: { readonly events: readonly StoredEvent[] }) =>
  events.map(({ json }) => Buffer.from(json).toString())

async function headOf(follower: FeedFollower): Promise<Head> {
  return (await follower.head()) ?? assert.fail('the feed is there')
}

describe('the tail of a feed', () => {
  it('hears of what is stored while it reads the head for the first time (L2)', async () => {
    const store = feedStore()
    const tail = createLiveTail({ ...byHintsAlone, events: store.events })
    const release = store.hold()
    const follower = tail.follow(key)
    await until(() => store.calls.heads === 1)
    store.publish('one')
    release()
    const seen = await headOf(follower)
    await within(follower.moved({ ...seen, sequenceNumber: 0 }, longMs, never))
    await until(async () => (await headOf(follower)).sequenceNumber === 1, { what: 'the event' })
    follower.stop()
    tail.close()
  })

  it('reads an event once for all who wait for it (docs/decisions/0037)', async () => {
    const store = feedStore()
    const tail = createLiveTail({ ...byHintsAlone, events: store.events, lingerMs: 1 })
    const followers = Array.from({ length: 100 }, () => tail.follow(key))
    const seen = await Promise.all(followers.map(headOf))
    for (const follower of followers) await follower.read('all', 0, 65_536)
    store.calls.readAfter = 0
    const waiting = followers.map(async (follower, index) => {
      await follower.moved(seen[index] ?? assert.fail(), longMs, never)
      return textsOf(await follower.read('all', 0, 65_536))
    })
    store.publish('one')
    for (const texts of await Promise.all(waiting)) assert.deepEqual(texts, ['one'])
    assert.equal(store.calls.readAfter, 1)
    for (const follower of followers) follower.stop()
    await until(() => store.listeners.size === 0, { what: 'that nobody listens for nobody' })
  })

  it('reads an event once also for those who wait for it with one request after the other (docs/decisions/0037)', async () => {
    const store = feedStore()
    const tail = createLiveTail({ ...byHintsAlone, events: store.events })
    const calls: number[] = []
    for (let round = 1; round <= 3; round += 1) {
      const followers = Array.from({ length: 100 }, () => tail.follow(key))
      const seen = await Promise.all(followers.map(headOf))
      const waiting = followers.map(async (follower, index) => {
        await follower.moved(seen[index] ?? assert.fail(), longMs, never)
        return follower.read('all', round - 1, 65_536)
      })
      const before = store.calls.readAfter
      store.publish(`round ${round}`)
      const readings = await Promise.all(waiting)
      for (const reading of readings) {
        assert.deepEqual(textsOf(reading), [`round ${round}`])
        assert.equal(reading, readings[0], 'one object, of which the answer is made once')
      }
      calls.push(store.calls.readAfter - before)
      // All are answered, and come back.
      for (const follower of followers) follower.stop()
    }
    assert.deepEqual(calls, [1, 1, 1])
    tail.close()
  })

  it('follows a feed on for a while, so that who comes back with the next request asks the store for nothing (docs/decisions/0037)', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const store = feedStore()
    const tail = createLiveTail({ ...byHintsAlone, events: store.events })
    const first = tail.follow(key)
    const { sequenceNumber } = await headOf(first)
    await first.read('all', sequenceNumber, 65_536)
    first.stop()
    test.mock.timers.tick(1_900)
    const asked = { ...store.calls }
    const second = tail.follow(key)
    assert.notEqual(second.known, 'unread')
    await second.read('all', sequenceNumber, 65_536)
    assert.deepEqual(store.calls, asked)
    test.mock.timers.tick(1_000)
    assert.equal(store.listeners.size, 1, 'it has come back')
    second.stop()
    test.mock.timers.tick(2_000)
    assert.equal(store.listeners.size, 0)
    assert.equal(tail.follow(key).known, 'unread')
    tail.close()
  })

  for (const what of ['epoch', 'revision'] as const) {
    it(`uses nothing that was read before the ${what} changed (D13, D17)`, async () => {
      const store = feedStore()
      const tail = createLiveTail({ ...byHintsAlone, events: store.events })
      const follower = tail.follow(key)
      await follower.read('all', (await headOf(follower)).sequenceNumber, 65_536)
      store.publish('secret')
      await until(async () => (await headOf(follower)).sequenceNumber === 1)
      assert.deepEqual(textsOf(await follower.read('all', 0, 65_536)), ['secret'])
      const before = await headOf(follower)
      store.change(what, 'other')
      await within(follower.moved(before, longMs, never))
      assert.deepEqual(textsOf(await follower.read('all', 0, 65_536)), ['other'])
      store.change(what, 'third')
      tail.forget(key)
      assert.deepEqual(
        textsOf(await follower.read('all', 0, 65_536)),
        ['third'],
        'told by the erasure itself',
      )
      follower.stop()
      tail.close()
    })
  }

  it('looks by itself, as a notice may be lost (docs/decisions/0037)', async () => {
    const store = feedStore()
    const tail = createLiveTail({ report: unreported, checkEveryMs: 20, events: store.events })
    const follower = tail.follow(key)
    const seen = await headOf(follower)
    store.publish('one', false)
    await within(follower.moved(seen, longMs, never))
    assert.equal((await headOf(follower)).sequenceNumber, 1)
    follower.stop()
    tail.close()
  })

  it('keeps a limited number of bytes of all views together, and reads again what it dropped (L3)', async () => {
    const store = feedStore()
    const tail = createLiveTail({ ...byHintsAlone, events: store.events, bufferBytes: 1_000 })
    const follower = tail.follow(key)
    const first = await headOf(follower)
    await follower.read('all', first.sequenceNumber, 65_536)
    for (let n = 0; n < 50; n += 1) store.publish(String(n).padStart(100, ' '))
    await until(async () => (await headOf(follower)).sequenceNumber === 50)
    let after = 0
    const read: string[] = []
    while (after < 50) {
      const reading = await follower.read('all', after, 350)
      read.push(...textsOf(reading))
      after = reading.through
      await turn()
    }
    assert.deepEqual(
      read.map((text) => Number(text)),
      Array.from({ length: 50 }, (_, n) => n),
    )
    follower.stop()
    tail.close()
  })
})
