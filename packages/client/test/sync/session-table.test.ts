/** What a sync does, by where reading stood and what answers: every state with every answer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, memoryCheckpoint, PropertyEventsError } from '../../src/index.ts'
import type { ErrorCode, ResyncReason, SyncResult } from '../../src/index.ts'
import { newCheckpoint } from '../../src/sync/checkpoint.ts'
import { firstWalk } from '../../src/sync/reading.ts'
import type { Reading } from '../../src/sync/reading.ts'
import { createConsumer } from '../support/consumer.ts'
import { eventOf, eventsOf, ownReadsOver, pagesOver, urlOf } from '../support/small-feed.ts'
import type { SmallFeed } from '../support/small-feed.ts'

type ReadBy = SyncResult['readBy']
/** Caught up, without or with a read of the whole feed before, or ended with an error. */
type Outcome = ReadBy | `${ResyncReason}, ${ReadBy}` | ErrorCode

const events = eventsOf(3)
const feed: SmallFeed = { tenantId: 't', epoch: 'a', events }

/** The contract's list beside the service's own reads. */
function serviceOf(small: SmallFeed): typeof fetch {
  const [own, pages] = [ownReadsOver(() => small), pagesOver(() => small.events)]
  return (input, init) => (urlOf(input).pathname.startsWith('/v1/') ? own : pages)(input, init)
}

function refusing(status: number, code: string): typeof fetch {
  return async () => Response.json({ code }, { status })
}

interface Answerer {
  readonly fetch: typeof fetch
  /** The properties of its feed; none where it gives no feed. */
  readonly feed: SmallFeed | undefined
}

const restored = { ...feed, epoch: 'b', events: eventsOf(2) }
const rewound = { ...feed, events: eventsOf(1) }
/** Superseded events were reduced: the latest are what they were (D17). */
const revised = { ...feed, revision: 1 }
const rewritten = { ...feed, events: [eventOf(7, 'p7'), eventOf(8, 'p8')] }
const foreign = { tenantId: 'other', epoch: 'b', events: [eventOf(1, 'q', { tenantId: 'other' })] }

const answerers = {
  'the service': { fetch: serviceOf(feed), feed },
  'the service in another epoch': { fetch: serviceOf(restored), feed: restored },
  'the service with fewer events than it showed': { fetch: serviceOf(rewound), feed: rewound },
  'the service after an erasure': { fetch: serviceOf(revised), feed: revised },
  "the service, with another tenant's key": { fetch: serviceOf(foreign), feed: undefined },
  'a plain server': { fetch: pagesOver(() => events), feed },
  'a plain server whose feed is another': { fetch: pagesOver(() => rewritten.events), feed: rewritten },
  'a refusal of the key': { fetch: refusing(401, 'key_expired'), feed: undefined },
  'a service that is busy': { fetch: refusing(503, 'overloaded'), feed: undefined },
  'a service whose store is damaged': { fetch: refusing(500, 'storage_damaged'), feed: undefined },
  'another program': { fetch: async () => new Response('<html>'), feed: undefined },
  'a redirect': {
    fetch: async () => new Response('', { status: 307, headers: { location: 'http://x.example' } }),
    feed: undefined,
  },
  nobody: { fetch: () => Promise.reject(new TypeError('fetch failed')), feed: undefined },
} as const satisfies Readonly<Record<string, Answerer>>

const newest = { id: 'e2', createdMs: Date.parse(`${events[1]?.createdDate.slice(0, 23)}Z`) }
const states: { readonly [Kind in Reading['kind']]: Reading & { readonly kind: Kind } } = {
  start: { kind: 'start' },
  snapshot: { kind: 'snapshot', epoch: 'a', revision: 0, head: 3, after: 1 },
  numbers: { kind: 'numbers', epoch: 'a', revision: 0, after: 2 },
  pages: { ...firstWalk, from: '2026-01-01 00:00:00.00', newest },
}

/** Compiles only if every state has an outcome with every answer. */
const table: {
  readonly [Answer in keyof typeof answerers]: { readonly [Kind in Reading['kind']]: Outcome }
} = {
  'the service': {
    start: 'numbers',
    snapshot: 'numbers',
    numbers: 'numbers',
    pages: 'server_changed, numbers',
  },
  'the service in another epoch': {
    start: 'numbers',
    snapshot: 'epoch_changed, numbers',
    numbers: 'epoch_changed, numbers',
    pages: 'server_changed, numbers',
  },
  'the service with fewer events than it showed': {
    start: 'numbers',
    snapshot: 'cursor_refused, numbers',
    numbers: 'cursor_refused, numbers',
    pages: 'server_changed, numbers',
  },
  'the service after an erasure': {
    start: 'numbers',
    snapshot: 'numbers',
    numbers: 'numbers',
    pages: 'server_changed, numbers',
  },
  "the service, with another tenant's key": {
    start: 'checkpoint',
    snapshot: 'checkpoint',
    numbers: 'checkpoint',
    pages: 'checkpoint',
  },
  'a plain server': {
    start: 'pages',
    snapshot: 'server_changed, pages',
    numbers: 'server_changed, pages',
    pages: 'pages',
  },
  'a plain server whose feed is another': {
    start: 'pages',
    snapshot: 'server_changed, pages',
    numbers: 'server_changed, pages',
    pages: 'feed_rewritten, pages',
  },
  'a refusal of the key': {
    start: 'key_expired',
    snapshot: 'key_expired',
    numbers: 'key_expired',
    pages: 'key_expired',
  },
  'a service that is busy': {
    start: 'overloaded',
    snapshot: 'overloaded',
    numbers: 'overloaded',
    pages: 'overloaded',
  },
  'a service whose store is damaged': {
    start: 'storage_damaged',
    snapshot: 'storage_damaged',
    numbers: 'storage_damaged',
    pages: 'storage_damaged',
  },
  'another program': {
    start: 'invalid_answer',
    snapshot: 'invalid_answer',
    numbers: 'invalid_answer',
    pages: 'invalid_answer',
  },
  'a redirect': { start: 'redirected', snapshot: 'redirected', numbers: 'redirected', pages: 'redirected' },
  nobody: { start: 'network', snapshot: 'network', numbers: 'network', pages: 'network' },
}

/** What becomes of a sync whose reading stood there, and of a copy that held p1, p2 and one that the feed does not have. */
async function synced(reading: Reading, answer: typeof fetch) {
  const consumer = createConsumer('applyThenSave')
  for (const { sequenceNumber, payload } of [...events.slice(0, 2), eventOf(2, 'gone')]) {
    const { agent_ref } = JSON.parse(payload) as { agent_ref: string }
    consumer.rows.set(agent_ref, { sequenceNumber, payload })
  }
  const fresh = newCheckpoint({ feed: 'property', apiEventType: null })
  const checkpoint = memoryCheckpoint({ ...fresh, tenantId: 't', reading, opens: reading.kind === 'start' })
  const reasons: string[] = []
  const client = createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    fetch: answer,
    retry: { attempts: 1 },
    sleep: async () => undefined,
  })
  const ended = await client
    .sync({
      checkpoint,
      apply: consumer.apply,
      copy: consumer.copy,
      allowMassRemoval: true,
      onResync: (reason) => void reasons.push(reason),
    })
    .then(
      ({ readBy }) => readBy,
      (error: unknown) => (error instanceof PropertyEventsError ? error.code : String(error)),
    )
  return { outcome: [...reasons, ended].join(', '), held: [...consumer.rows.keys()].toSorted() }
}

describe('a sync whose reading stood', () => {
  for (const [kind, reading] of Object.entries(states)) {
    for (const [name, answerer] of Object.entries<Answerer>(answerers)) {
      const expected = new Map(Object.entries(new Map(Object.entries(table)).get(name) ?? {})).get(kind)
      it(`at ${kind}, answered by ${name}: ${expected}`, async () => {
        const { outcome, held } = await synced(reading, answerer.fetch)
        assert.equal(outcome, expected)
        if (answerer.feed === undefined) {
          assert.deepEqual(held, ['gone', 'p1', 'p2'], 'the copy is left as it was')
          return
        }
        const subjects = answerer.feed.events.map(({ transactionId }) => transactionId)
        const isWhole = kind === 'start' || outcome.includes(',')
        // Read on from where it stood, nothing tells of what the feed never had.
        assert.deepEqual(held, isWhole ? subjects : ['gone', ...subjects].toSorted())
      })
    }
  }
})

it('a sync that begins ends with a fault that the operator has to mend, and does not take the service for a plain server', async () => {
  const pages = serviceOf(feed)
  const { outcome, held } = await synced(states.start, (input, init) =>
    urlOf(input).pathname === '/v1/heads'
      ? answerers['a service whose store is damaged'].fetch(input, init)
      : pages(input, init),
  )
  assert.equal(outcome, 'storage_damaged')
  assert.deepEqual(held, ['gone', 'p1', 'p2'], 'the copy is left as it was')
})
