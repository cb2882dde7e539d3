/** What is kept of a consumer equals what it was sent, whatever way and through whatever node it read (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { branchViewName, StorageFailure } from '../../src/index.ts'
import type { ConsumerStore, FeedKey, Grant, SentRange, StoredRead, StorageEngine } from '../../src/index.ts'
import { pick, randomOf } from '../../../client/test/support/random.ts'
import type { Random } from '../../../client/test/support/random.ts'
import { openStream } from '../support/event-stream.ts'
import { call, getPath, listPath as list, pageOf, publish } from '../support/http-client.ts'
import type { Page } from '../support/http-client.ts'
import { isLongRun } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { startTestService, testEngines } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

type Event = Page['items'][number]
type View = 'all' | 'sales' | 'lettings'

const readsPerWay = isLongRun ? 900 : 90
const typeOf = { all: 'property', sales: 'salesproperty', lettings: 'lettingsproperty' } as const
const views = ['all', 'sales', 'lettings'] as const

/** The feed as a key sees it, read by another one that the test does not look at. */
interface Feed {
  readonly events: readonly Event[]
  /** By view, in order. */
  readonly numbers: Readonly<Record<View, readonly number[]>>
  readonly head: number
  readonly epoch: string
}

async function readFeed(service: TestService, key: string): Promise<Feed> {
  const read = async (view: View): Promise<readonly Event[]> => {
    const answer = await call(service, `${list}?pageSize=1000&apiEventType=${typeOf[view]}`, { key })
    assert.equal(answer.status, 200)
    return pageOf(answer).items
  }
  const [events, sales, lettings] = [await read('all'), await read('sales'), await read('lettings')]
  const numbersOf = (items: readonly Event[]) => items.map(({ sequenceNumber }) => sequenceNumber)
  const numbers = { all: numbersOf(events), sales: numbersOf(sales), lettings: numbersOf(lettings) }
  const heads = await call(service, '/v1/heads', { key })
  const { heads: all }: { heads: readonly { feed: string; epoch: string }[] } = JSON.parse(heads.text)
  const epoch = all.find(({ feed }) => feed === 'property')?.epoch ?? ''
  return { events, numbers, head: numbers.all.at(-1) ?? 0, epoch }
}

/** A question about who has seen something has the node add what it has noted. */
async function addNoted(service: TestService): Promise<void> {
  await call(service, `/v1/properties/${randomUUID()}/consumers`, { key: service.tenant.publishKey })
}

/** What a consumer was sent, by name and view; `single` for events that were asked for one by one. */
type Seen = Map<string, Set<number>>

function see(seen: Seen, name: string, view: string, numbers: readonly number[]): void {
  const known = seen.get(`${name} ${view}`) ?? new Set()
  seen.set(`${name} ${view}`, known)
  for (const number of numbers) known.add(number)
}

interface Read {
  readonly path: string
  readonly view: View | 'single'
  /** What an answer with this body has told. */
  readonly told: (text: string) => readonly number[]
}

function randomRead(random: Random, { events, numbers, head }: Feed): Read {
  const within = (from: number, below: number) => from + pick(random, below - from)
  const view = views[pick(random, views.length)] ?? 'all'
  const type = `apiEventType=${typeOf[view]}`
  const event = events[pick(random, events.length)]
  const { sequenceNumber = 0, createdDate = '', id = '', transactionId = '' } = event ?? {}
  const numbersIn = (text: string) =>
    Array.from(text.matchAll(/"sequenceNumber":(\d+)/g), ([, number]) => Number(number))
  const upTo = (from: number, through: number) =>
    numbers[view].filter((number) => number > from && number <= through)
  const reads: readonly Read[] = [
    { path: `${list}?page=${within(1, 9)}&pageSize=${within(1, 30)}&${type}`, view, told: numbersIn },
    { path: `${list}?from=${createdDate}&pageSize=${within(1, 20)}&${type}`, view, told: numbersIn },
    { path: `${list}?to=${createdDate}&page=2&pageSize=7&${type}`, view, told: numbersIn },
    {
      path: `/v1/property-events?after=${sequenceNumber}&limit=${within(1, 20)}&${type}`,
      view,
      told: numbersIn,
    },
    { path: `/v1/property-events?after=${sequenceNumber - 1}&limit=5&wait=1&${type}`, view, told: numbersIn },
    {
      path: `/v1/property-events/snapshot?after=${sequenceNumber - 1}&head=${head}&${type}`,
      view,
      told: () => upTo(sequenceNumber - 1, head),
    },
    { path: `/v1/property-events/snapshot?${type}`, view, told: () => upTo(0, head) },
    { path: `${getPath}/${id}`, view: 'single', told: numbersIn },
    { path: `/v1/properties/${transactionId}`, view: 'single', told: numbersIn },
    { path: `/v1/properties/${transactionId}/history`, view: 'single', told: numbersIn },
    { path: `/v1/properties/${transactionId}/history?changes=true`, view: 'single', told: numbersIn },
  ]
  const read = reads[pick(random, reads.length)]
  if (read === undefined) throw new Error('there is always a read')
  return read
}

/** A key that reads: the whole feed, or some branches of it. */
interface Reader {
  readonly text: string
  readonly keyId: string
  /** As it sees it. */
  readonly feed: Feed
  /** By the name that a view has in the store. */
  readonly viewOf: ReadonlyMap<string, View | 'single'>
}

async function openReader(service: TestService, branches: readonly string[] | undefined): Promise<Reader> {
  const { tenantId } = service.tenant
  const grant: Grant = {
    tenantId,
    scopes: ['property:read'],
    ...(branches === undefined ? {} : { branches }),
  }
  const [own, looking] = [await service.issue({ grants: [grant] }), await service.issue({ grants: [grant] })]
  const isReady = async () =>
    (await call(service, `${list}?pageSize=1`, { key: looking.text })).status === 200
  await until(isReady, { what: 'the views of the branches' })
  const nameOf = (view: View) => (branches === undefined ? view : branchViewName(branches, view))
  const viewOf = new Map<string, View | 'single'>([['single', 'single']])
  for (const view of views) viewOf.set(nameOf(view), view)
  return { ...own, feed: await readFeed(service, looking.text), viewOf }
}

/** What is kept, in sequence numbers. `all`: of the whole feed, in order. */
async function keptOf(
  store: ConsumerStore,
  key: FeedKey,
  { keyId, feed, viewOf }: Reader,
  all: readonly number[],
): Promise<Seen> {
  const kept: Seen = new Map()
  const numbersOf = ({ view, space, ranges }: Pick<StoredRead, 'view' | 'space' | 'ranges'>) => {
    const name = viewOf.get(view)
    assert(name !== undefined, `${view} is a view that this key does not read`)
    const of = name === 'single' ? feed.numbers.all : feed.numbers[name]
    const places = space === 'positions' ? all : of
    return space === 'numbers' || space === 'latest'
      ? of.filter((number) => ranges.some(([first, last]) => first <= number && number <= last))
      : ranges.flatMap(([first, last]) => places.slice(first - 1, last))
  }
  for (const reading of await store.readings(key)) {
    if (reading.keyId !== keyId) continue
    see(kept, reading.name, viewOf.get(reading.view) ?? '', numbersOf(reading))
  }
  for (const name of names) {
    const byView: Seen = new Map()
    let before: SentRange | undefined
    for (const row of await store.sentAfter({ key, keyId, name }, undefined, 100_000)) {
      see(byView, name, viewOf.get(row.view) ?? '', numbersOf({ ...row, ranges: [row.range] }))
      const isSamePart = row.view === before?.view && row.space === before.space && row.epoch === before.epoch
      if (isSamePart) assert.ok((before?.range[1] ?? 0) < row.range[0], 'no number is sent first twice')
      before = row
    }
    // When they were first sent says the same, and alone says what was asked for one by one.
    for (const [text, numbers] of byView) {
      if (text.endsWith(' single')) kept.set(text, numbers)
      else assert.deepEqual(sorted(numbers), sorted(kept.get(text)), text)
    }
  }
  return kept
}

function sorted(numbers: Iterable<number> = []): readonly number[] {
  return [...numbers].toSorted((a, b) => a - b)
}

function assertSame(kept: Seen, seen: Seen): void {
  const texts = (from: Seen) => [...from].filter(([, numbers]) => numbers.size > 0).map(([text]) => text)
  assert.deepEqual(texts(kept).toSorted(), texts(seen).toSorted())
  for (const [text, numbers] of seen) assert.deepEqual(sorted(kept.get(text)), sorted(numbers), text)
}

async function publishSome(service: TestService, count: number): Promise<void> {
  const refs = Array.from({ length: Math.ceil(count / 3) }, () => randomUUID())
  const events = Array.from({ length: count }, (_, index) => ({
    payload: property({
      agent_ref: refs[index % refs.length] ?? '',
      branch_id: ['Dale', 'Fell', 'Ely'][index % 3],
      details: { summary: randomUUID() },
    }),
    category: index % 5 === 0 ? 'lettings' : 'sales',
  }))
  await publish(service, events)
}

const branchSets = [undefined, ['Dale'], ['Dale', 'Ely']] as const

/** A store that loses every other addition for as long as `isIll`. */
function losing(storage: StorageEngine, isIll: () => boolean): StorageEngine {
  let additions = 0
  const add: ConsumerStore['add'] = async (readings) => {
    additions += 1
    if (isIll() && additions % 2 === 1)
      throw new StorageFailure('storage_unavailable', new Error('as the test wants'))
    await storage.consumers.add(readings)
  }
  return { ...storage, consumers: { ...storage.consumers, add } }
}

/** Many, so that each is sent a part of the feed alone: of one that has everything nothing can be too much. Three keys use them, and a feed keeps 200. */
const named = Math.min(readsPerWay / 6, 60)
const names = ['default', ...Array.from({ length: named }, (_, number) => `site-${number}`)]
const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 1_000_000)

describe(`what is kept of consumers (seed ${seed})`, () => {
  for (const engine of testEngines) {
    it(`is what they were sent, one addition later and never more, through three nodes and both transports, on ${engine} (PROTOCOL §14)`, async () => {
      const random = randomOf(seed)
      let isIll = true
      const service = await startTestService({ engine, wrap: (storage) => losing(storage, () => isIll) })
      const nodes = [service, await service.another(), await service.another({ plainConnections: false })]
      try {
        const { tenantId } = service.tenant
        const key = { tenantId, feed: 'property' } as const
        await publishSome(service, 90)
        const readers = await Promise.all(branchSets.map((branches) => openReader(service, branches)))
        const all = readers[0]?.feed.numbers.all ?? []
        const seen = new Map(readers.map((reader) => [reader, new Map<string, Set<number>>()]))
        const kept = (reader: Reader) => keptOf(service.storage.consumers, key, reader, all)
        let [reader, consumer, node] = [readers[0], names[0] ?? '', nodes[0] ?? service]
        assert(reader !== undefined)
        for (let read = 0; read < readsPerWay; read += 1) {
          // Each goes on for a while, as consumers do: what is remembered of the last request is used.
          if (pick(random, 3) === 0) reader = readers[pick(random, readers.length)] ?? reader
          if (pick(random, 3) === 0) consumer = names[pick(random, names.length)] ?? consumer
          if (pick(random, 3) === 0) node = nodes[pick(random, 3)] ?? node
          const { path, view, told } = randomRead(random, reader.feed)
          const headers = {
            'accept-encoding': pick(random, 2) === 0 ? 'gzip' : 'identity',
            ...(consumer === 'default' ? {} : { 'x-feed-consumer': consumer }),
          }
          // A head asks for the same, and is sent nothing.
          const method = pick(random, 8) === 0 ? 'HEAD' : 'GET'
          const answer = await call(node, path, { method, key: reader.text, headers })
          assert.equal(answer.status, 200, `${path}: ${answer.text}`)
          if (method === 'HEAD') continue
          const isGzip = answer.headers['content-encoding'] === 'gzip'
          const text = isGzip ? gunzipSync(answer.body).toString() : answer.text
          see(seen.get(reader) ?? new Map(), consumer, view, told(text))
          // Some additions fail, and a later one has it all.
          if (read % 10 === 0) await addNoted(service)
        }
        for (const [reader, model] of seen) {
          for (const [text, numbers] of await kept(reader)) {
            const isModel = (number: number) => model.get(text)?.has(number) === true
            assert(sorted(numbers).every(isModel), `${text}: never more`)
          }
        }
        isIll = false
        for (const node of nodes.slice(1)) await node.stop()
        await service.service.close()
        for (const [reader, model] of seen) assertSame(await kept(reader), model)
      } finally {
        await service.stop()
      }
    })
  }

  it('has nothing of an answer that was broken off, and the part of a stream that was taken (PROTOCOL §14)', async () => {
    const service = await startTestService({ limits: { markEveryMs: 100 } })
    try {
      const { tenantId, readKey } = service.tenant
      const key = { tenantId, feed: 'property' } as const
      const long = 'x'.repeat(60_000)
      const events = Array.from({ length: 200 }, () => ({
        payload: property({ details: { summary: long } }),
      }))
      await publish(service, events.slice(0, 100))
      await publish(service, events.slice(100))
      // 12 MB, more than the kernel takes of an answer that nobody reads.
      await new Promise<void>((resolve, reject) => {
        const asked = request(
          {
            host: '127.0.0.1',
            port: service.port,
            path: `${list}?pageSize=1000`,
            headers: { 'x-api-key': readKey, 'x-feed-consumer': 'broken' },
          },
          (answer) => {
            answer.on('error', () => undefined)
            answer.once('data', () => {
              answer.destroy()
              resolve()
            })
          },
        )
        asked.on('error', reject)
        asked.end()
      })
      const stream = await openStream(service, '/v1/property-events/stream?after=190', {
        key: readKey,
        headers: { 'x-feed-consumer': 'stream' },
      })
      await stream.until(({ numbers }) => numbers().length === 10, 'all events')
      const readings = async (name: string) => {
        await addNoted(service)
        return (await service.storage.consumers.readings(key)).filter((one) => one.name === name)
      }
      await until(async () => (await readings('stream'))[0]?.quietMs !== undefined, { what: 'a mark' })
      stream.close()
      const [followed] = await readings('stream')
      assert.deepEqual(
        [followed?.view, followed?.space, followed?.route, followed?.ranges],
        ['all', 'numbers', 'stream', [[191, 200]]],
      )
      assert.deepEqual(
        (await readings('broken')).flatMap(({ ranges }) => ranges),
        [],
      )
    } finally {
      await service.stop()
    }
  })

  it('says when each last asked, when it was last told that there is nothing new, and the outcome (PROTOCOL §14)', async () => {
    let nowMs = Date.parse('2026-03-01T09:00:00Z')
    const service = await startTestService({ clock: () => nowMs })
    try {
      const { tenantId, readKey } = service.tenant
      const key = { tenantId, feed: 'property' } as const
      await publish(service, { payload: property() })
      const first = await call(service, list, { key: readKey })
      nowMs += 61_000
      const headers = { 'if-none-match': first.headers.etag ?? '' }
      assert.equal((await call(service, list, { key: readKey, headers })).status, 304)
      await addNoted(service)
      const [reading] = await service.storage.consumers.readings(key)
      assert.deepEqual(
        [reading?.askedMs, reading?.quietMs, reading?.status, reading?.route, reading?.ranges],
        [nowMs, nowMs, 304, 'list', [[1, 1]]],
      )
      nowMs += 60_000
      await call(service, '/v1/property-events?after=1', { key: readKey })
      await addNoted(service)
      const run = (await service.storage.consumers.readings(key)).find(({ space }) => space === 'numbers')
      assert.deepEqual(
        [run?.askedMs, run?.quietMs, run?.status, run?.route, run?.ranges],
        [nowMs, nowMs, 200, 'run', []],
      )
    } finally {
      await service.stop()
    }
  })

  it('refuses an invalid name when a feed is read (PROTOCOL §14)', async () => {
    const service = await startTestService()
    try {
      const { readKey, publishKey } = service.tenant
      for (const name of ['two words', 'a/b', '-x', 'é', 'x'.repeat(65), 'a, b']) {
        const headers = { 'x-feed-consumer': Buffer.from(name).toString('latin1') }
        const answer = await call(service, list, { key: readKey, headers })
        assert.equal(answer.status, 400, name)
        assert.match(answer.text, /"parameter":"x-feed-consumer","code":"not_a_name"/)
      }
      for (const name of ['default', 'a', 'My.site_2-b', 'x'.repeat(64)]) {
        assert.equal(
          (await call(service, list, { key: readKey, headers: { 'x-feed-consumer': name } })).status,
          200,
        )
      }
      const headers = { 'x-feed-consumer': 'two words', 'content-type': 'application/json' }
      const body = JSON.stringify({ payload: property() })
      const published = await call(service, '/v1/property-events', {
        method: 'POST',
        key: publishKey,
        headers,
        body,
      })
      assert.equal(published.status, 201)
    } finally {
      await service.stop()
    }
  })
})
