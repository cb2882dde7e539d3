/** Lists of current events: each walk is the fold of the feed at the moment that its first page named. */
import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { contact, property } from '../support/property.ts'
import type { TestProperty } from '../support/property.ts'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import type { Page } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { importProperties, sequence } from '../support/public-importer.ts'
import { withServiceClock } from '../support/service-with-clock.ts'
import type { TestService } from '../support/test-service.ts'
import { withEvents } from '../support/with-events.ts'

type Item = Page['items'][number]

const types = ['property', 'salesproperty', 'lettingsproperty'] as const
type ApiEventType = (typeof types)[number]

interface Walk {
  readonly apiEventType: ApiEventType
  readonly asOf: number
  readonly items: readonly Item[]
  readonly requests: number
}

interface WalkOptions {
  readonly apiEventType?: ApiEventType
  readonly pageSize?: number
  readonly query?: string
  /** Called between two pages. */
  readonly between?: () => Promise<void>
}

/** All pages, to the last that the totals name, each from the next of the nodes. */
async function walk(ports: readonly number[], key: string, options: WalkOptions = {}): Promise<Walk> {
  const { apiEventType = 'property', pageSize = 7, query = '&current=true', between } = options
  const items: Item[] = []
  const named = new Set<string | undefined>()
  const totals = new Set<string>()
  for (let page = 1; ; page += 1) {
    const path = `${listPath}?apiEventType=${apiEventType}&page=${page}&pageSize=${pageSize}${query}`
    const answer = await call({ port: ports[page % ports.length] ?? 0 }, path, { key })
    assert.equal(answer.status, 200, answer.text)
    const body = pageOf(answer)
    named.add(String(answer.headers['x-current-as-of']))
    totals.add(`${body.availableCount} ${body.totalPages}`)
    items.push(...body.items)
    assert.equal(
      body.items.length,
      Math.min(pageSize, Math.max(0, body.availableCount - (page - 1) * pageSize)),
    )
    if (page >= body.totalPages) {
      assert.equal(named.size, 1, 'every page names the same moment')
      assert.equal(totals.size, 1, 'the totals are those of the moment')
      assert.equal(items.length, body.availableCount)
      return { apiEventType, asOf: Number([...named][0]), items, requests: page }
    }
    await between?.()
  }
}

async function wholeFeed(
  { port }: Pick<TestService, 'port'>,
  key: string,
  type: ApiEventType,
): Promise<readonly Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const path = `${listPath}?apiEventType=${type}&pageSize=1000&page=${page}&current=false`
    const found = pageOf(await call({ port }, path, { key })).items
    if (found.length === 0) return items
    items.push(...found)
  }
}

/** Written for the test, from the whole history. */
function foldOf(all: readonly Item[], inType: readonly Item[], asOf: number): readonly Item[] {
  const numbers = new Set(inType.map(({ sequenceNumber }) => sequenceNumber))
  const last = new Map<string, Item>()
  for (const item of all) if (item.sequenceNumber <= asOf) last.set(item.transactionId, item)
  return [...last.values()]
    .filter(({ sequenceNumber }) => numbers.has(sequenceNumber))
    .toSorted((a, b) => a.sequenceNumber - b.sequenceNumber)
}

/** Each walk is exactly the fold, and each of its events the one that its id gives. */
async function assertFolds(
  service: Pick<TestService, 'port'>,
  key: string,
  walks: readonly Walk[],
): Promise<void> {
  const all = await wholeFeed(service, key, 'property')
  for (const { apiEventType, asOf, items } of walks) {
    const inType = apiEventType === 'property' ? all : await wholeFeed(service, key, apiEventType)
    assert.deepEqual(items, foldOf(all, inType, asOf))
  }
}

/** Makes a feed of some homes longer and longer: new ones, changes, removals, and moves between the categories. */
function market(service: TestService, seed: number): () => Promise<void> {
  const random = sequence(seed)
  const homes: TestProperty[] = []
  return async () => {
    const events = Array.from({ length: 6 }, () => {
      const old = homes[random(homes.length + 8)]
      const home = old ?? property()
      if (old === undefined) homes.push(home)
      const category = random(3) === 0 ? 'lettings' : 'sales'
      return {
        category,
        payload: { ...home, published: random(5) > 0, price_information: { price: random(1e6) } },
      }
    })
    await publish(service, events)
  }
}

const readings = { usual: undefined, 'published-0': { eventTypes: 'published-0', current: true } } as const

function issueReader(
  service: TestService,
  reading: (typeof readings)[keyof typeof readings],
): Promise<{ readonly text: string }> {
  const grants = [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] as const }]
  return service.issue({ grants, ...(reading && { reading }) })
}

onEngines('current events', {}, (service) => {
  before(async () => {
    const grow = market(service(), 3)
    for (let round = 0; round < 8; round += 1) await grow()
  })

  it('a walk is the fold at the moment of its first page, while publishing continues, over two nodes, in each numbering (PROTOCOL §3.5)', async () => {
    const node = await service().another()
    try {
      const grow = market(service(), 5)
      for (const name of ['usual', 'published-0'] as const) {
        const { text: key } = await issueReader(service(), readings[name])
        const query = name === 'usual' ? '&current=true' : ''
        const walks: Walk[] = []
        for (let round = 0; round < (isLongRun ? 20 : 2); round += 1) {
          for (const apiEventType of types) {
            const ports = [service().port, node.port]
            walks.push(await walk(ports, key, { apiEventType, query, between: grow }))
          }
        }
        assert.ok(walks.some(({ requests }) => requests > 3))
        assert.ok(
          new Set(walks.map(({ asOf }) => asOf)).size === walks.length,
          'each walk has a moment of its own',
        )
        await assertFolds(service(), key, walks)
        const numbers = new Set(walks.flatMap(({ items }) => items.map(({ eventType }) => eventType)))
        assert.deepEqual(
          [...numbers].toSorted((a, b) => a - b),
          name === 'usual' ? [0, 1, 2] : [0, 1],
        )
      }
    } finally {
      await node.stop()
    }
  })

  it('gives walks with one key at the same time one moment, so that none loses its place (PROTOCOL §3.5)', async () => {
    const { text: key } = await issueReader(service(), undefined)
    const grow = market(service(), 9)
    const ports = [service().port]
    const walks: Walk[] = []
    const first = await walk(ports, key, {
      async between() {
        await grow()
        walks.push(await walk(ports, key, { pageSize: 11 }))
      },
    })
    await assertFolds(service(), key, [first, ...walks])
    assert.equal(walks[0]?.asOf, first.asOf)
    const later = await walk(ports, key)
    assert.ok(later.asOf > first.asOf)
  })

  it('lists what has just been published, and the number that a request names (P8)', async () => {
    const { text: key } = await issueReader(service(), undefined)
    const home = property()
    for (let price = 1; price <= 3; price += 1) {
      const { events } = await publish(service(), { payload: { ...home, price_information: { price } } })
      const path = `${listPath}?current=true&pageSize=1000`
      const answer = await call(service(), path, { key })
      assert.equal(answer.headers['x-current-as-of'], String(events.at(-1)?.sequenceNumber))
      assert.equal(pageOf(answer).items.at(-1)?.id, events.at(-1)?.id)
    }
    // A walk is under way from here on.
    const path = `${listPath}?current=true&pageSize=2`
    const { headers } = await call(service(), path, { key })
    const { events } = await publish(service(), { payload: home })
    const number = events[0]?.sequenceNumber ?? 0
    assert.equal(
      (await call(service(), path, { key })).headers['x-current-as-of'],
      headers['x-current-as-of'],
    )
    const seen = await call(service(), path, { key, headers: { 'x-feed-min-sequence': String(number) } })
    assert.equal(seen.headers['x-current-as-of'], String(number))
  })

  it('continues after a restart, and tells a reader without a moment to begin with page 1 (PROTOCOL §3.5)', async () => {
    const { text: key } = await issueReader(service(), undefined)
    const path = (page: number) => `${listPath}?current=true&pageSize=3&page=${page}`
    const early = await call(service(), path(2), { key })
    assert.deepEqual([early.status, problemOf(early).code], [409, 'moment_expired'])
    const first = await call(service(), path(1), { key })
    await publish(service(), { payload: property() })
    const node = await service().another()
    try {
      const second = await call(node, path(2), { key })
      assert.equal(second.status, 200)
      assert.equal(second.headers['x-current-as-of'], first.headers['x-current-as-of'])
      assert.deepEqual(pageOf(second).availableCount, pageOf(first).availableCount)
    } finally {
      await node.stop()
    }
    const other = (await issueReader(service(), undefined)).text
    assert.equal((await call(service(), path(2), { key: other })).status, 409, 'a moment is of one key')
    const sales = `${path(2)}&apiEventType=salesproperty`
    assert.equal((await call(service(), sales, { key })).status, 409, 'and of one view')
  })

  it('answers 304 while nothing has changed, and gives other tags than the whole list has (D4)', async () => {
    const { text: key } = await issueReader(service(), undefined)
    const path = `${listPath}?current=true&pageSize=1000`
    const first = await call(service(), path, { key })
    const etag = String(first.headers.etag)
    const again = await call(service(), path, { key, headers: { 'if-none-match': etag } })
    assert.deepEqual(
      [again.status, again.headers['x-current-as-of']],
      [304, first.headers['x-current-as-of']],
    )
    const whole = await call(service(), `${listPath}?pageSize=1000`, { key })
    assert.notEqual(whole.headers.etag, etag)
    assert.equal(whole.headers['x-current-as-of'], undefined)
    await publish(service(), { payload: property() })
    const changed = await call(service(), path, { key, headers: { 'if-none-match': etag } })
    assert.equal(changed.status, 200)
    const head = await call(service(), path, { key, method: 'HEAD' })
    assert.deepEqual(
      [head.headers.etag, head.headers['content-length']],
      [changed.headers.etag, changed.headers['content-length']],
    )
  })

  it('refuses a time window and invalid values, and follows the request rather than the key (P3, D19)', async () => {
    const usual = (await issueReader(service(), undefined)).text
    const current = (await issueReader(service(), readings['published-0'])).text
    const codesOf = async (query: string, key: string) => {
      const answer = await call(service(), `${listPath}?${query}`, { key })
      const errors = answer.status === 400 ? (problemOf(answer).errors ?? []) : []
      return [answer.status, ...errors.map(({ parameter, code }) => `${parameter} ${code}`)]
    }
    const window = 'from=2020-01-01&to=2030-01-01'
    const refused = [400, 'from not_with_current', 'to not_with_current']
    assert.deepEqual(await codesOf(`current=true&${window}`, usual), refused)
    assert.deepEqual(await codesOf(window, current), refused)
    assert.deepEqual(await codesOf(`current=false&${window}`, current), [200])
    assert.deepEqual(await codesOf('Current=true', usual), [200])
    for (const value of ['1', 'TRUE', '', 'yes']) {
      assert.deepEqual(await codesOf(`current=${value}`, usual), [400, 'current not_a_switch'])
    }
    assert.deepEqual(await codesOf('current=true&current=true', usual), [400, 'current repeated'])
    const whole = await wholeFeed(service(), usual, 'property')
    assert.equal((await wholeFeed(service(), current, 'property')).length, whole.length)
  })

  it('lists contacts, and an erased one in its present form, on the same pages (D17)', async () => {
    const { tenant } = service()
    const contacts = Array.from({ length: 5 }, () => contact())
    const payloads = [...contacts, ...contacts].map((payload) => ({ payload }))
    await publish(service(), payloads, { feed: 'contact' })
    const path = (page: number) =>
      `/api/func/api/v1/contactevents/getevents?current=true&pageSize=2&page=${page}`
    const first = await call(service(), path(1), { key: tenant.readKey })
    const before = pageOf(await call(service(), path(2), { key: tenant.readKey }))
    const [, , erased] = contacts
    const answer = await call(service(), '/v1/erasures', {
      method: 'POST',
      key: tenant.eraseKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ feed: 'contact', subjectId: erased?.['contact_ref'], reason: 'objection' }),
    })
    assert.equal(answer.status, 202)
    const isErased = async () => {
      const page = await call(service(), path(2), { key: tenant.readKey })
      assert.equal(page.headers['x-current-as-of'], first.headers['x-current-as-of'])
      const { items, availableCount } = pageOf(page)
      assert.deepEqual([availableCount, items.map(({ id }) => id)], [5, before.items.map(({ id }) => id)])
      return items[0]?.payload.includes('"erased":true') === true
    }
    for (const endsAt = Date.now() + 30_000; !(await isErased());)
      assert.ok(Date.now() < endsAt, 'never erased')
  })
})

onEngines('a known public client with a key for it', {}, (service) => {
  it('ends right, with a request for each 25 properties, whatever the length of the history (D12)', async () => {
    const { text: key } = await issueReader(service(), readings['published-0'])
    const random = sequence(13)
    const homes = Array.from({ length: 60 }, () => property())
    const live = new Map<string, unknown>()
    for (let history = 1; history <= 3; history += 1) {
      for (let batch = 0; batch < 2 * history; batch += 1) {
        const events = homes.map((home) => {
          const price_information = { price: random(1_000_000) }
          const published = random(4) > 0
          if (published) live.set(home.agent_ref, price_information)
          else live.delete(home.agent_ref)
          return { payload: { ...home, published, price_information } }
        })
        await publish(service(), events)
      }
      const { site, requests } = await importProperties(service(), key)
      assert.ok(live.size > 20 && live.size < 60)
      assert.deepEqual(site, live)
      assert.equal(requests, Math.ceil(60 / 25) + 1, 'and the empty page that it stops at')
    }
  })
})

it('a moment is over after 10 minutes (PROTOCOL §3.5)', async () => {
  await withServiceClock({}, async (service, advance) => {
    const key = service.tenant.readKey
    await publish(
      service,
      Array.from({ length: 9 }, () => ({ payload: property() })),
    )
    const ask = (page: number) => call(service, `${listPath}?current=true&pageSize=2&page=${page}`, { key })
    const first = await ask(1)
    advance(10 * 60_000 - 1)
    assert.equal((await ask(3)).headers['x-current-as-of'], first.headers['x-current-as-of'])
    advance(1)
    const late = await ask(4)
    assert.deepEqual([late.status, problemOf(late).code], [409, 'moment_expired'])
    await publish(service, { payload: property() })
    assert.equal(pageOf(await ask(1)).availableCount, 10)
    assert.equal((await ask(4)).status, 200)
  })
})

it('a new epoch ends the moments of the one before (D13)', async () => {
  await withServiceClock({}, async ({ storage, ...service }, advance) => {
    const key = service.tenant.readKey
    await publish(
      service,
      Array.from({ length: 5 }, () => ({ payload: property() })),
    )
    const ask = (page: number) => call(service, `${listPath}?current=true&pageSize=2&page=${page}`, { key })
    assert.equal((await ask(1)).status, 200)
    await storage.startEpoch(0, 'cli:test')
    advance(1_000)
    const after = await ask(2)
    assert.deepEqual([after.status, problemOf(after).code], [409, 'moment_expired'])
    assert.equal((await ask(1)).status, 200)
    assert.equal((await ask(2)).status, 200)
  })
})

it('says that there are too many current events for a list, and how to read them (PROTOCOL §8)', async () => {
  const wrap: NonNullable<Parameters<typeof withServiceClock>[0]['wrap']> = (storage) =>
    withEvents(storage, {
      latestPositions: async ({ after, limit }) => Array.from({ length: limit }, (_, n) => after + n + 1),
    })
  await withServiceClock({ wrap }, async (service) => {
    const answer = await call(service, `${listPath}?current=true`, { key: service.tenant.readKey })
    const [error] = problemOf(answer).errors ?? []
    assert.deepEqual([answer.status, error?.parameter, error?.code], [400, 'current', 'too_many_current'])
    assert.match(error?.message ?? '', /more than 100000 .*current=false.*\/v1\/property-events\/snapshot/)
  })
})

/** Stores whose own numbers are those that the other kind of key has. */
const others: readonly (readonly [EventTypeCatalogue, 'default' | 'published-0'])[] = [
  [catalogues.default, 'published-0'],
  [catalogues['published-0'], 'default'],
]
it('a page too long to be made whole is sent in pieces, with the numbers of the key (PROTOCOL §3.5)', async () => {
  for (const [catalogue, eventTypes] of others) {
    await withServiceClock({ catalogue }, async (service) => {
      const description = 'x'.repeat(240_000)
      const homes = Array.from({ length: 40 }, () => ({ payload: property({ details: { description } }) }))
      await publish(service, homes)
      const grants = [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] as const }]
      const { text: key } = await service.issue({ grants, reading: { eventTypes, current: true } })
      const answer = await call(service, `${listPath}?pageSize=40`, { key })
      assert.equal(answer.headers['content-length'], String(answer.body.byteLength))
      const { items } = pageOf(answer)
      const type = catalogues[eventTypes].property['PropertyPublished']
      assert.deepEqual(
        items.map(({ eventType }) => eventType),
        Array.from({ length: 40 }, () => type),
      )
    })
  }
})
