/** Servers that lead a reader in circles: a sync ends with an error that says so, or gets out, and never hammers. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, InvalidAnswerError } from '../../src/index.ts'
import type { FeedEvent, ResyncReason } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { eventOf, eventsOf, ownReadsOver, pagesOver, showing, urlOf } from '../support/small-feed.ts'

/** A sync whose requests and waits are counted; one that does not end is ended after 500 requests. */
async function synced(fetch: typeof globalThis.fetch, consumer = createConsumer('applyThenSave')) {
  const ended = new AbortController()
  const told = { requests: 0, waits: 0, reasons: new Array<ResyncReason>() }
  const outcome = await createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    fetch: (input, init) => {
      told.requests += 1
      if (told.requests > 500) ended.abort()
      return fetch(input, init)
    },
    sleep: async () => void (told.waits += 1),
  })
    .sync({
      checkpoint: consumer.checkpoint,
      apply: consumer.apply,
      onResync: (reason) => void told.reasons.push(reason),
      signal: ended.signal,
    })
    .then(
      (result) => result.ended,
      (error: unknown) => error,
    )
  return { ...told, outcome, consumer }
}

function assertInvalidAnswer(error: unknown, words: RegExp): void {
  assert.ok(error instanceof InvalidAnswerError, String(error))
  assert.match(error.message, words)
}

describe('a plain server whose nodes do not show the same', () => {
  const all = eventsOf(300)

  it('is read whole, although every second answer comes from a node that lags', async () => {
    let asked = 0
    const fetch = pagesOver(() => ((asked += 1) % 2 === 0 ? all.slice(0, 295) : all))
    for (const offset of [0, 1]) {
      asked = offset
      const { outcome, consumer, requests } = await synced(fetch)
      assert.equal(outcome, 'caughtUp')
      assert.equal(consumer.rows.size, 300)
      assert.ok(requests < 30, `${requests} requests`)
    }
  })

  it('is read whole when only a few answers come from the node that is ahead', async () => {
    let asked = 0
    const fetch = pagesOver(() => ((asked += 1) % 6 === 1 ? all : all.slice(0, 295)))
    const { outcome, consumer } = await synced(fetch)
    assert.equal(outcome, 'caughtUp')
    assert.ok(consumer.rows.size >= 295)
  })

  it('is still believed when events go for good while it is walked: nothing that moved up is jumped over', async () => {
    let asked = 0
    const consumer = createConsumer('applyThenSave')
    const { outcome } = await synced(
      pagesOver(() => ((asked += 1) > 4 ? all.slice(150) : all)),
      consumer,
    )
    assert.equal(outcome, 'caughtUp')
    for (const { transactionId } of all.slice(150)) assert.ok(consumer.rows.has(transactionId), transactionId)
  })

  it('ends with an error, after waits, when every page reports fewer events than the one before', async () => {
    const inner = pagesOver(() => all)
    const shrinking: typeof fetch = async (input, init) => {
      const answer = await inner(input, init)
      if (!answer.ok) return answer
      const page = (await answer.json()) as { page: number }
      return Response.json({ ...page, availableCount: 300 - page.page })
    }
    const { outcome, requests, waits } = await synced(shrinking)
    assertInvalidAnswer(outcome, /availableCount/)
    assert.ok(requests < 30 && waits > 5, `${requests} requests, ${waits} waits`)
  })
})

describe('a plain server whose total says more than its pages hold', () => {
  const all = eventsOf(1_000)
  const feed = pagesOver(() => all)

  it('is read whole, although some of its pages are empty', async () => {
    const { outcome, consumer } = await synced(
      showing(feed, ({ sequenceNumber }) => sequenceNumber <= 250 || sequenceNumber > 600),
    )
    assert.equal(outcome, 'caughtUp')
    assert.equal(consumer.rows.size, 650)
  })

  it('is listed whole, event by event or page by page, from any page on', async () => {
    const shown = ({ sequenceNumber: number }: FeedEvent) => number <= 250 || number > 600
    const client = createClient({ baseUrl: 'http://feed.example', key: 'k', fetch: showing(feed, shown) })
    const listed: number[] = []
    for await (const { sequenceNumber } of client.list()) listed.push(sequenceNumber)
    assert.deepEqual(
      listed,
      all.filter(shown).map(({ sequenceNumber }) => sequenceNumber),
    )
    const pages: number[] = []
    for await (const { page } of client.list({ page: 5 }).pages()) pages.push(page)
    assert.deepEqual(pages, [7, 8, 9, 10])
  })

  it('is listed to its first empty page when the last one is empty, too', async () => {
    let requests = 0
    const half = showing(feed, ({ sequenceNumber }) => sequenceNumber <= 250)
    const fetch: typeof half = (input, init) => {
      requests += 1
      return half(input, init)
    }
    const listed = await Array.fromAsync(
      createClient({ baseUrl: 'http://feed.example', key: 'k', fetch }).list(),
    )
    assert.equal(listed.length, 250)
    // Three pages, the empty one, and the last.
    assert.equal(requests, 5)
  })

  it('is not walked to its supposed end when that is empty, too', async () => {
    const { outcome, consumer, requests } = await synced(
      showing(feed, ({ sequenceNumber }) => sequenceNumber <= 250),
    )
    assert.equal(outcome, 'caughtUp')
    assert.equal(consumer.rows.size, 250)
    // The question whose server it is, page 1 and the last, two more pages, the empty one, and the last again.
    assert.equal(requests, 7)
  })
})

describe('a service whose own reads lead nowhere', () => {
  const feed = { tenantId: 't', epoch: 'a', events: eventsOf(3) }
  const numbers = (run: () => Record<string, unknown>): typeof fetch => {
    const inner = ownReadsOver(() => feed)
    return async (input, init) =>
      urlOf(input).pathname === '/v1/property-events' ? Response.json(run()) : inner(input, init)
  }

  it('ends with an error when each run is of another epoch than the snapshot before it', async () => {
    const { outcome, requests, reasons } = await synced(
      numbers(() => ({ items: [], next: 3, head: 3, epoch: 'never the same', revision: 0 })),
    )
    assertInvalidAnswer(outcome, /epoch_changed/)
    assert.deepEqual(reasons, ['epoch_changed', 'epoch_changed', 'epoch_changed'])
    assert.ok(requests < 20, `${requests} requests`)
  })

  it('ends with an error when a run brings nothing and does not get on, after waits', async () => {
    for (const next of [0, 3]) {
      const { outcome, requests, waits } = await synced(
        numbers(() => ({ items: [], next, head: 10, epoch: 'a', revision: 0 })),
      )
      assertInvalidAnswer(outcome, /after 3/)
      assert.ok(requests < 15 && waits === 7, `${requests} requests, ${waits} waits`)
    }
  })

  it('ends with an error when it gives a history that does not get on', async () => {
    const stuck = { items: [eventOf(1, 'p1')], next: 1, head: 10, epoch: 'a', revision: 0 }
    const fetch = async () => Response.json(stuck)
    const client = createClient({ baseUrl: 'http://x', key: 'k', fetch, sleep: async () => undefined })
    const read: FeedEvent[] = []
    await assert.rejects(async () => {
      for await (const event of client.history('p1')) {
        read.push(event)
        assert.ok(read.length < 10)
      }
    }, InvalidAnswerError)
  })
})

describe('an answer out of an old cache', () => {
  it('with events at or below the requested number is not applied: none comes after a newer one', async () => {
    const events = [eventOf(1, 'a'), eventOf(2, 'b'), eventOf(3, 'a')]
    const feed = () => ({ tenantId: 't', epoch: 'a', events })
    const consumer = createConsumer('applyThenSave')
    assert.equal((await synced(ownReadsOver(feed), consumer)).outcome, 'caughtUp')
    events.push(eventOf(4, 'b'))
    const stale: typeof fetch = async (input, init) => {
      if (urlOf(input).pathname !== '/v1/property-events') return ownReadsOver(feed)(input, init)
      return Response.json({ items: [eventOf(1, 'a')], next: 4, head: 4, epoch: 'a', revision: 0 })
    }
    assertInvalidAnswer((await synced(stale, consumer)).outcome, /after 3.* 1/)
    assert.equal(consumer.rows.get('a')?.sequenceNumber, 3)
    assert.equal((await synced(ownReadsOver(feed), consumer)).outcome, 'caughtUp')
    assert.equal(consumer.rows.get('b')?.sequenceNumber, 4)
  })
})
