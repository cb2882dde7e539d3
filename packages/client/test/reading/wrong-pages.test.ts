/** Caches and proxies that answer another request than the one that was made: a reader of the contract's list notices. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, InvalidAnswerError, memoryCheckpoint } from '../../src/index.ts'
import type { EventPage, FeedEvent } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { eventOf, eventsOf, ownReadsOver, pagesOver, urlOf } from '../support/small-feed.ts'

const all = eventsOf(765)

/** A server that would answer everything right, and what stands in front of it. */
type Between = (url: URL, ask: (url: URL) => Promise<EventPage>) => Promise<EventPage>

function through(between: Between, feed = pagesOver(() => all)): typeof fetch {
  const ask = async (url: URL) => (await (await feed(url)).json()) as EventPage
  return async (input, init) => {
    const url = urlOf(input)
    if (!url.pathname.endsWith('/getevents')) return feed(input, init)
    return Response.json(await between(url, ask))
  }
}

function withQuery(url: URL, changes: Readonly<Record<string, string | undefined>>): URL {
  const changed = new URL(url)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.searchParams.delete(name)
    else changed.searchParams.set(name, value)
  }
  return changed
}

const pageOf = (url: URL) => Number(url.searchParams.get('page'))
const older = pagesOver(() => all.slice(0, 450))
const theirs = pagesOver(() => eventsOf(765, { tenantId: 'other' }))
const ofContacts = pagesOver(() =>
  all.map((event) => ({
    ...event,
    eventTypeShortCode: 'ContactCreated',
    payload: JSON.stringify({ contact_ref: event.transactionId, name: 'Siân Ŵyn 😀' }),
  })),
)
const from = async (feed: typeof fetch, url: URL) => (await (await feed(url)).json()) as EventPage

/** What stands in between, and the words of the sentence. */
const wrong: Readonly<Record<string, readonly [Between, RegExp]>> = {
  'drops the query': [
    (url, ask) => ask(withQuery(url, { page: '1', pageSize: '100' })),
    /page [28].*page 1.*Is there a cache in front of the service that ignores the query\?/,
  ],
  'ignores the page alone': [(url, ask) => ask(withQuery(url, { page: '1' })), /page [28].*page 1.*cache/],
  'answers with larger pages than asked for': [
    (url, ask) => ask(withQuery(url, { pageSize: '200' })),
    /pageSize 100.*pageSize 200.*cache/,
  ],
  'changes the size of pages on the way': [
    (url, ask) => ask(withQuery(url, pageOf(url) < 3 ? {} : { pageSize: '50' })),
    /pageSize 50.*pageSize 100.*cache/,
  ],
  'gives one page for the next, as the page asked for': [
    async (url, ask) =>
      pageOf(url) === 4 ? { ...(await ask(withQuery(url, { page: '3' }))), page: 4 } : ask(url),
    /page 4.*cache/,
  ],
  'exchanges two pages': [
    async (url, ask) => {
      const given = { 3: '4', 4: '3' }[pageOf(url)]
      return given === undefined
        ? ask(url)
        : { ...(await ask(withQuery(url, { page: given }))), page: pageOf(url) }
    },
    /page 4.*cache/,
  ],
  'keeps one page from when the feed was shorter': [
    (url, ask) => (pageOf(url) === 5 ? from(older, url) : ask(url)),
    /availableCount/,
  ],
  'keeps the last page of a shorter feed as the page asked for, with fresh totals': [
    async (url, ask) => {
      const page = await ask(url)
      return pageOf(url) === 5
        ? { ...page, items: (await from(older, withQuery(url, { page: '4' }))).items }
        : page
    },
    /page 5.*cache/,
  ],
  'gives one page of another tenant': [
    (url, ask) => (pageOf(url) === 2 ? from(theirs, url) : ask(url)),
    /tenant/,
  ],
  'puts one event of another tenant on a page': [
    async (url, ask) => {
      const page = await ask(url)
      if (pageOf(url) !== 2) return page
      const items = page.items.with(50, { ...all[150], tenantId: 'other' } as FeedEvent)
      return { ...page, items }
    },
    /tenant/,
  ],
  'gives a page of the contact feed': [
    (url, ask) => (pageOf(url) === 3 ? from(ofContacts, url) : ask(url)),
    /contact.*property.*cache/,
  ],
}

/** A client whose waits are counted; `ended` is called when there are too many for any of these tests. */
function clientOf(fetch: typeof globalThis.fetch, ended?: AbortController) {
  let waits = 0
  const client = createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    fetch,
    sleep: async () => {
      waits += 1
      if (waits > 50) ended?.abort()
    },
  })
  return { client, waits: () => waits }
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Error, 'it ended well')
  return error
}

describe('the contract’s list behind something that answers another request', () => {
  for (const [title, [between, words]] of Object.entries(wrong)) {
    it(`that ${title}: a sync ends with a sentence, and takes nothing out of the copy (spec §4.1)`, async () => {
      const consumer = createConsumer('applyThenSave')
      for (const { transactionId } of eventsOf(1_000)) {
        consumer.rows.set(transactionId, { sequenceNumber: 0, payload: '' })
      }
      const { client, waits } = clientOf(through(between))
      const options = { checkpoint: consumer.checkpoint, apply: consumer.apply, copy: consumer.copy }
      const error = await failureOf(client.sync({ ...options, allowMassRemoval: true }))
      assert.match(error.message, words)
      assert.ok(waits() < 12, `${waits()} waits`)
      assert.equal(consumer.rows.size, 1_000)
      // With nothing in between any more, the same checkpoint leads to the whole feed.
      await clientOf(pagesOver(() => all)).client.sync({ ...options, allowMassRemoval: true })
      assert.deepEqual([...consumer.rows.keys()].sort(), all.map(({ transactionId }) => transactionId).sort())
    })

    it(`that ${title}: a list ends with a sentence (spec §4.1)`, async () => {
      const { client } = clientOf(through(between))
      const read: FeedEvent[] = []
      const error = await failureOf(
        (async () => {
          for await (const event of client.list()) {
            read.push(event)
            assert.ok(read.length < 2_000)
          }
        })(),
      )
      assert.ok(error instanceof InvalidAnswerError, String(error))
      assert.match(error.message, words)
      assert.ok(
        read.every(({ tenantId, eventTypeShortCode: code }) => tenantId === 't' && !code.startsWith('C')),
      )
    })

    it(`that ${title}: a follower is told, and is given no event of it (spec §4.1)`, async () => {
      const ended = new AbortController()
      const troubles: string[] = []
      const { client } = clientOf(through(between), ended)
      const query = {
        after: 0,
        signal: ended.signal,
        onTrouble(error: Error) {
          troubles.push(error.message)
          ended.abort()
        },
      }
      const numbers: number[] = []
      for await (const event of client.follow(query)) {
        assert.equal(event.tenantId, 't')
        numbers.push(event.sequenceNumber)
      }
      assert.match(troubles.join(), words)
    })
  }

  it('is noticed when the window is ignored, whichever end of it (spec §4.1)', async () => {
    const at = (number: number) => (all[number - 1]?.createdDate ?? '').replace('T', ' ')
    const { client } = clientOf(
      through((url, ask) => ask(withQuery(url, { from: undefined, to: undefined }))),
    )
    const window = { pageSize: 1_000 }
    assert.match((await failureOf(client.list({ ...window, from: at(300) }))).message, /from.*cache/)
    assert.match((await failureOf(client.list({ ...window, to: at(300) }))).message, /to.*cache/)
    const whole = { from: at(1).slice(0, 19), to: at(765).slice(0, 19) }
    assert.equal((await client.list({ ...window, ...whole })).items.length, 765)
    assert.equal(
      (await client.list({ ...window, from: '2025-12-31T23:30:00-00:30', to: '2026-01-01' })).items.length,
      765,
    )
  })

  it('is noticed for one event: another event than the one asked for is not given (spec §4.2)', async () => {
    const { client } = clientOf(async () => Response.json(eventOf(1, 'p1')))
    assert.equal((await client.get('e1'))?.id, 'e1')
    assert.match((await failureOf(client.get('e2'))).message, /e2.*e1.*cache/)
    assert.match((await failureOf(client.subject('p2'))).message, /p2.*p1.*cache/)
  })
})

describe('a list that changes while it is read', () => {
  it('is read whole when events are published between all pages, in either order', async () => {
    for (const order of [1, -1]) {
      let shown: number = 300
      const feed = pagesOver(() => {
        shown = Math.min(765, shown + 7)
        return all
          .slice(0, shown)
          .toSorted((one, other) => order * (one.sequenceNumber - other.sequenceNumber))
      })
      const consumer = createConsumer('applyThenSave')
      const { client } = clientOf(feed)
      const listed = new Set(await Array.fromAsync(client.list({ pageSize: 20 }), ({ id }) => id))
      assert.ok(listed.size >= 300 && shown < 765, `${listed.size} of ${shown}`)
      const options = { checkpoint: consumer.checkpoint, apply: consumer.apply, pageSize: 20 }
      for (let syncs = 0; syncs < 20; syncs += 1) await client.sync(options)
      assert.equal(consumer.rows.size, 765)
    }
  })
})

describe('our own reads behind something that answers another request', () => {
  const feed = () => ({ tenantId: 't', epoch: 'a', events: all })
  const own = ownReadsOver(feed)

  it('are noticed: a run out of order, beyond its own end, or with an event of another tenant (PROTOCOL §11.1)', async () => {
    const runs: Readonly<Record<string, readonly [readonly FeedEvent[], RegExp]>> = {
      'out of order': [[eventOf(5, 'p5'), eventOf(4, 'p4')], /order/],
      'beyond next': [[eventOf(9, 'p9')], /next/],
      'another tenant': [[eventOf(4, 'p4'), eventOf(5, 'p5', { tenantId: 'other' })], /tenant/],
    }
    for (const [items, words] of Object.values(runs)) {
      const run = { items, next: 7, head: 7, epoch: 'a', revision: 0 }
      const { client } = clientOf(async () => Response.json(run))
      assert.match((await failureOf(client.after({ after: 3 }))).message, words)
    }
  })

  it('are noticed: a snapshot with one line of another tenant is not applied (PROTOCOL §11.3)', async () => {
    const mixed = ownReadsOver(() => ({
      ...feed(),
      events: all.with(700, eventOf(701, 'p701', { tenantId: 'other' })),
    }))
    const consumer = createConsumer('applyThenSave')
    const { client } = clientOf(mixed)
    const options = { checkpoint: memoryCheckpoint(), apply: consumer.apply, batchSize: 10_000 }
    assert.match((await failureOf(client.sync(options))).message, /tenant/)
    assert.equal(consumer.rows.size, 0)
    await clientOf(own).client.sync(options)
    assert.equal(consumer.rows.size, 765)
  })

  it('are noticed: a follower is not given an event of another tenant (PROTOCOL §13)', async () => {
    const ended = new AbortController()
    const told: string[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, searchParams } = urlOf(input)
      if (pathname.endsWith('/stream')) return new Response('no', { status: 404 })
      if (searchParams.get('after') !== '765') return own(input, init)
      const items = [eventOf(766, 'p766', { tenantId: 'other' })]
      return Response.json({ items, next: 766, head: 766, epoch: 'a', revision: 0 })
    }
    const onTrouble = (error: Error) => {
      told.push(error.message)
      ended.abort()
    }
    const query = { after: 760, epoch: 'a', signal: ended.signal, onTrouble }
    for await (const { tenantId } of clientOf(fetch, ended).client.follow(query)) assert.equal(tenantId, 't')
    assert.match(told.join(), /tenant/)
  })
})
