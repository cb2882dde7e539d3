import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedEvent } from '@property-events/protocol'
import { consumerKey } from '../../../src/consumers/consumers-of-feed.ts'
import { createTimesToLive } from '../../../src/consumers/time-to-live.ts'
import type { TimesToLive, TimeToLive } from '../../../src/consumers/time-to-live.ts'
import type { ConsumerResult } from '../../../src/consumers/consumer.ts'
import type { KeyRecord } from '../../../src/keys/key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, removal, tenantA, uuid } from '../support/drafts.ts'
import { begin, erase, subject } from '../support/erasing.ts'
import { headOf, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const histories = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 2_000 : 3

function key(keyId: string, tenantId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId,
    secretHash: new Uint8Array(32),
    pepperId: 'pepper-1',
    label: `Siop ${keyId} – £`,
    operator: false,
    grants: [{ tenantId, scopes: ['property:read'] }],
    createdMs: 0,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...changes,
  }
}

/** A consumer with what it is known to read. */
interface Reader {
  readonly record: KeyRecord
  readonly name: string
  readonly view: 'all' | 'sales'
}

function readersOf(tenantId: string, nowMs: number): readonly Reader[] {
  const id = (what: string) => `${what}-${tenantId.slice(0, 8)}`
  const branches = ['gogledd']
  const all = key(id('all'), tenantId)
  const of = (record: KeyRecord, name = 'default', view: 'all' | 'sales' = 'all') => ({ record, name, view })
  return [
    of(all),
    of(all, 'siop-1'),
    of(key(id('sales'), tenantId), 'default', 'sales'),
    of(key(id('branch'), tenantId, { grants: [{ tenantId, scopes: ['property:read'], branches }] })),
    of(key(id('late'), tenantId, { createdMs: nowMs - 20 * dayMs })),
    of(key(id('ended'), tenantId, { revokedMs: nowMs - dayMs })),
    of(key(id('quiet'), tenantId)),
  ]
}

async function addReaders(store: StorageEngine, tenantId: string, readers: readonly Reader[]): Promise<void> {
  for (const record of new Set(readers.map((reader) => reader.record)))
    await store.keys.insertKey(record, 'cli:test')
  await store.consumers.add(
    readers.map(({ record: { keyId }, name, view }) => {
      const answer = { askedMs: 1_000, quietMs: undefined, status: 200, route: 'list', minutes: [] } as const
      return { key: feedKey(tenantId), keyId, name, view, space: 'ordinals', epoch: 'e', ...answer } as const
    }),
  )
}

interface History {
  readonly store: StorageEngine
  readonly tenantId: string
  readonly nowMs: number
  readonly readers: readonly Reader[]
  readonly random: (below: number) => number
}

const houses = ['Tŷ Mawr', 'Mill Lane', '🏡', 'Gwesty', 'Rhif 5']
const outcomes = ['live', 'live', 'live', 'held', 'refused'] as const

/** Fifty days of publications, removals and reports, and perhaps an erasure. Answers the reports in their order. */
async function play({
  store,
  tenantId,
  nowMs,
  readers,
  random,
}: History): Promise<readonly ConsumerResult[]> {
  const reports: ConsumerResult[] = []
  const feed = { key: feedKey(tenantId) }
  const report = async (atMs: number): Promise<void> => {
    const { sequenceNumber: head } = await headOf(store, feed.key)
    const some = Array.from({ length: random(6) }, (_, at): ConsumerResult => {
      const reader = readers[random(readers.length - 1)] ?? assert.fail()
      return {
        tenantId,
        subjectId: uuid(`${tenantId} ${houses[random(houses.length)]}`),
        keyId: reader.record.keyId,
        name: reader.name,
        sequenceNumber: Math.max(1, head - random(4)),
        outcome: outcomes[random(outcomes.length)] ?? 'live',
        code: undefined,
        message: undefined,
        url: random(4) === 0 ? undefined : 'https://example.com/tŷ',
        resultMs: atMs + at,
      }
    })
    await store.consumers.putResults(some)
    reports.push(...some)
  }
  for (let step = 0; step < 60; step += 1) {
    const atMs = nowMs - (60 - step) * 20 * 60 * minuteMs + random(60) * minuteMs
    const words = {
      subject: `${tenantId} ${houses[random(houses.length)]}`,
      text: `£${step} –`,
      branch: random(3) === 0 ? 'de' : 'gogledd',
      category: random(3) === 0 ? ('lettings' as const) : ('sales' as const),
      requestedCreated: BigInt(atMs) * 10_000n,
    }
    const drawn = random(10)
    const type = drawn === 9 ? { type: 'PropertyPublished' } : {}
    const change =
      drawn < 3
        ? draft({ ...words, published: false })
        : drawn < 4
          ? removal(words)
          : draft({ ...words, ...type })
    const outcome = await store.events.append([{ ...feed, drafts: [change], unchanged: 'store' }])
    assert.ok(outcome[0]?.kind === 'stored' || outcome[0]?.kind === 'unknownSubject')
    if (outcome[0].kind === 'stored' && random(3) > 0) await report(atMs + (1 + random(300)) * minuteMs)
  }
  const erased = `${tenantId} ${houses[random(houses.length)]}`
  const isThere = (await list(store, feed)).some(({ transactionId }) => transactionId === uuid(erased))
  if (isThere && random(2) === 0) {
    await erase(store, subject(erased), feed)
    if (random(2) === 0) await publish(store, [draft({ subject: erased })], feed)
    await report(nowMs)
  }
  return reports
}

interface Folded {
  readonly subjectId: string
  readonly first: number
  readonly publishedMs: number
  readonly branch: string | undefined
  readonly isSale: boolean
  end: number
}

/** The listings of a feed in the simplest form, without those that an erasure took. */
function listingsOf(events: readonly FeedEvent[], sales: ReadonlySet<number>): readonly Folded[] {
  const open = new Map<string, Folded>()
  const before = new Map<string, string>()
  let all: Folded[] = []
  for (const event of events) {
    const { transactionId: subjectId, sequenceNumber, eventTypeShortCode: code, createdDate, payload } = event
    const { branch_id: branch, erased }: { branch_id?: string; erased?: boolean } = JSON.parse(payload)
    const isGone = code === 'PropertyUnpublished'
    const wasGone = (before.get(subjectId) ?? 'PropertyUnpublished') === 'PropertyUnpublished'
    before.set(subjectId, code)
    const last = open.get(subjectId)
    if (isGone && last !== undefined) {
      last.end = sequenceNumber
      open.delete(subjectId)
    }
    if (isGone && erased === true) all = all.filter((one) => one.subjectId !== subjectId)
    if (code !== 'PropertyPublished' || !wasGone) continue
    const publishedMs = Date.parse(`${createdDate.slice(0, 23)}Z`)
    const isSale = sales.has(sequenceNumber)
    const listing = { subjectId, first: sequenceNumber, publishedMs, branch, isSale, end: Infinity }
    open.set(subjectId, listing)
    all.push(listing)
  }
  return all
}

/** The reports that count: none is about an earlier number than the one before. */
function keptReports(reports: readonly ConsumerResult[]): readonly ConsumerResult[] {
  const last = new Map<string, number>()
  return reports.filter(({ subjectId, keyId, name, sequenceNumber }) => {
    const place = JSON.stringify([subjectId, keyId, name])
    if (sequenceNumber < (last.get(place) ?? 0)) return false
    last.set(place, sequenceNumber)
    return true
  })
}

function percentile(took: readonly number[], percent: number): number | undefined {
  const enough = took.filter(
    (one) => took.filter((other) => other <= one).length * 100 >= percent * took.length,
  )
  return enough.length === 0 ? undefined : Math.min(...enough)
}

function timesByFold(
  listings: readonly Folded[],
  reports: readonly ConsumerResult[],
  { readers, nowMs }: Pick<History, 'readers' | 'nowMs'>,
  asked?: readonly string[],
): TimesToLive {
  const found = new Map<string, TimeToLive>()
  const sinceMs = nowMs - 30 * dayMs
  const sees = (branches: readonly string[] | undefined, branch: string | undefined) =>
    branches === undefined || (branch !== undefined && branches.includes(branch))
  for (const { record, name, view } of readers) {
    const [grant] = record.grants
    if (record.revokedMs !== undefined) continue
    if (asked !== undefined && grant?.branches?.some((one) => asked.includes(one)) === false) continue
    const own = reports.filter((one) => one.keyId === record.keyId && one.name === name)
    const counted = listings.filter(
      ({ publishedMs, branch, isSale }) =>
        publishedMs >= Math.max(sinceMs, record.createdMs) &&
        sees(grant?.branches, branch) &&
        sees(asked, branch) &&
        (view === 'all' || isSale),
    )
    const [took, never, notYet]: [number[], Folded[], Folded[]] = [[], [], []]
    let isReporter = false
    for (const listing of counted) {
      const said = own.filter(
        ({ subjectId, sequenceNumber }) =>
          subjectId === listing.subjectId && sequenceNumber >= listing.first && sequenceNumber < listing.end,
      )
      isReporter ||= said.length > 0
      const live = said.find(({ outcome }) => outcome === 'live')
      if (live !== undefined) took.push(Math.max(0, live.resultMs - listing.publishedMs))
      else if (listing.end < Infinity) never.push(listing)
      else notYet.push(listing)
    }
    if (!isReporter) continue
    found.set(consumerKey({ keyId: record.keyId, name }), {
      sinceMs,
      live: took.length,
      p50Ms: percentile(took, 50),
      p95Ms: percentile(took, 95),
      notLiveYet: notYet.length,
      oldestMs: notYet.length === 0 ? undefined : Math.min(...notYet.map((one) => one.publishedMs)),
      neverLive: never.length,
    })
  }
  return found
}

async function eventsOf(store: StorageEngine, tenantId: string) {
  const window = { key: feedKey(tenantId) }
  const sales = await list(store, { ...window, view: 'sales' })
  return {
    events: await list(store, window),
    sales: new Set(sales.map(({ sequenceNumber }) => sequenceNumber)),
  }
}

function randomFrom(start: number): (below: number) => number {
  let seed = start
  return (below) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
}

export function timeToLiveContract(factory: StoreFactory): void {
  describe('time to live', () => {
    it('is what a fold of the events and reports says, for every consumer and history (D28)', async () => {
      await using store = await factory.create()
      const counted = { live: 0, notLiveYet: 0, neverLive: 0 }
      for (let at = 0; at < histories; at += 1) {
        const tenantId = uuid(`agency ${at}`)
        const tenant = { tenantId, name: `Asiantaeth ${at}`, createdMs: at, suspended: false }
        await store.tenants.createTenant(tenant, 'cli:test')
        const nowMs = Date.now()
        const readers = readersOf(tenantId, nowMs)
        await addReaders(store, tenantId, readers)
        const history = { store, tenantId, nowMs, readers, random: randomFrom(at + 7) }
        const reports = await play(history)
        const { events, sales } = await eventsOf(store, tenantId)
        const closed = new Map(
          events
            .filter(({ payload }) => payload.includes('"erased":true'))
            .map((one) => [one.transactionId, one]),
        )
        const kept = keptReports(reports).filter(
          ({ subjectId, sequenceNumber }) => sequenceNumber >= (closed.get(subjectId)?.sequenceNumber ?? 0),
        )
        const listings = listingsOf(events, sales)
        const find = createTimesToLive(store, {
          clock: () => nowMs,
          resultDays: 730,
          turnsPerStep: at % 2 === 0 ? 7 : 500,
        })
        for (const branches of [undefined, ['gogledd'], ['de'], ['gogledd', 'de']]) {
          const expected = timesByFold(listings, kept, { readers, nowMs }, branches)
          const got = await find({ key: feedKey(tenantId), branches })
          assert.deepEqual(got, expected, `history ${at}, branches ${String(branches)}`)
          for (const one of got.values()) {
            counted.live += one.live
            counted.notLiveYet += one.notLiveYet
            counted.neverLive += one.neverLive
          }
        }
      }
      assert.ok(
        Object.values(counted).every((count) => count > 5),
        JSON.stringify(counted),
      )
    })

    it('leaves out what is being erased, and what is no longer kept or too much to read, and says since when it counts (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const nowMs = Date.now()
      const record = key('site', tenantA)
      await addReaders(store, tenantA, [{ record, name: 'default', view: 'all' }])
      const feed = { key: feedKey(tenantA) }
      for (const [days, house] of ['Tŷ Mawr', 'Mill Lane', 'Gwesty – £'].entries()) {
        const requestedCreated = BigInt(nowMs - (12 - days) * dayMs) * 10_000n
        await publish(store, [draft({ subject: house, requestedCreated })], feed)
      }
      const report = (house: string, sequenceNumber: number, daysAgo: number) => {
        const said = { outcome: 'live', code: undefined, message: undefined, url: undefined } as const
        const resultMs = nowMs - daysAgo * dayMs
        const from = { tenantId: tenantA, keyId: 'site', name: 'default' }
        return store.consumers.putResults([
          { ...from, subjectId: uuid(house), sequenceNumber, ...said, resultMs },
        ])
      }
      await report('Mill Lane', 2, 10)
      let clockMs = nowMs
      const find = createTimesToLive(store, { clock: () => clockMs, resultDays: 730 })
      const site = async () => (await find({ ...feed, branches: undefined })).get('site default')
      const before: TimeToLive = {
        sinceMs: nowMs - 30 * dayMs,
        live: 1,
        p50Ms: dayMs,
        p95Ms: dayMs,
        notLiveYet: 2,
        oldestMs: nowMs - 12 * dayMs,
        neverLive: 0,
      }
      assert.deepEqual(await site(), before)
      await begin(store, subject('Tŷ Mawr'), feed)
      await report('Gwesty – £', 3, 7)
      assert.deepEqual(await site(), before)
      clockMs += minuteMs
      assert.deepEqual(await site(), {
        ...before,
        sinceMs: clockMs - 30 * dayMs,
        live: 2,
        p95Ms: 3 * dayMs,
        notLiveYet: 0,
        oldestMs: undefined,
      })
      const askOnce = async (options: Partial<Parameters<typeof createTimesToLive>[1]>) => {
        const ask = createTimesToLive(store, { clock: () => nowMs, resultDays: 730, ...options })
        return (await ask({ ...feed, branches: undefined })).get('site default')
      }
      // The event that closes the house, and the newest publication.
      const newest = await askOnce({ mostTurns: 2 })
      assert.deepEqual([newest?.sinceMs, newest?.live], [nowMs - 10 * dayMs, 1])
      const kept = await askOnce({ resultDays: 11 })
      assert.deepEqual([kept?.sinceMs, kept?.live], [nowMs - 11 * dayMs, 2])
      assert.equal(await askOnce({ resultDays: 9 }), undefined)
    })
  })
}
