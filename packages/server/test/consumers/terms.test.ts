/** The terms of a property at a moment are those of a fold over everything that happened to it, which the test keeps (PROTOCOL §14.8). */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { parseCreatedDate } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import type { PropertyTerms } from '@property-events/protocol/wire'
import { pick, randomOf } from '../../../client/test/support/random.ts'
import type { Random } from '../../../client/test/support/random.ts'
import type { NewRead, ReadRoute } from '../../src/consumers/consumer.ts'
import { propertyTerms } from '../../src/consumers/terms.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { postgresStores } from '../postgres/postgres-stores.ts'
import { draft, feedKey, tenantA, uuid } from '../store/support/drafts.ts'
import { erase, subject } from '../store/support/erasing.ts'
import { list, publish } from '../store/support/read-back.ts'
import { sqliteStores, withTenants } from '../store/support/stores.ts'
import { isLongRun } from '../support/on-engines.ts'

const engines = { sqlite: sqliteStores('thisThread'), postgres: postgresStores() } as const
after(async () => {
  for (const stores of Object.values(engines)) await stores.clean()
})

/** Fewer on PostgreSQL, where each answer takes longer. */
const histories = { sqlite: isLongRun ? 2_000 : 100, postgres: isLongRun ? 2_000 : 40 } as const
const key = feedKey()
const names = ['website', 'Ty-Mawr'] as const
const minuteMs = 60_000

/** What the test knows of an event, and what is left of it. */
interface Version {
  readonly name: string
  readonly number: number
  readonly createdDate: string
  readonly created: Ticks
  readonly published: boolean
  readonly payload: Payload
  record: 'kept' | 'erased' | 'retention'
}

type Payload = Readonly<Record<string, unknown>>

function payloadOf(random: Random, name: string, published: boolean): Payload {
  const some = <T>(value: T): T | undefined => (pick(random, 3) === 0 ? undefined : value)
  const price = {
    price: some(100_000 + pick(random, 9) * 1_000),
    price_qualifier: some(pick(random, 8)),
    price_qualifier_string: some('Pris £ – 🏡 tŷ'),
    rent_frequency: some(12),
    deposit: some(pick(random, 3) * 500),
  }
  return {
    agent_ref: uuid(name),
    published,
    status: some(1 + pick(random, 6)),
    contract_months: some(pick(random, 13)),
    minimum_term: some(6),
    price_information: pick(random, 9) === 0 ? undefined : price,
    details: { council_tax_band: some('D'), parking: some(pick(random, 2) === 0 ? [] : [13]) },
  }
}

/** Events of many properties, one after another in one feed. */
async function publishAll(store: StorageEngine, random: Random, count: number): Promise<Version[]> {
  const versions: Version[] = []
  const subjects = Array.from({ length: count }, (_, at) => `tŷ ${at}`)
  for (let round = 0; round < 4; round += 1) {
    const chosen = subjects.filter(() => round === 0 || pick(random, 2) === 0)
    const payloads = chosen.map((name) => payloadOf(random, name, round === 0 || pick(random, 4) !== 0))
    const drafts = chosen.map((name, at) => {
      const { published } = payloads[at] ?? {}
      return draft({ subject: name, json: JSON.stringify(payloads[at]), published: published === true })
    })
    for (let from = 0; from < drafts.length; from += 500) await publish(store, drafts.slice(from, from + 500))
    const events = (await list(store)).slice(versions.length)
    for (const [at, { sequenceNumber: number, createdDate }] of events.entries()) {
      const payload = payloads[at] ?? {}
      const created = parseCreatedDate(createdDate) ?? 0n
      const published = payload['published'] === true
      versions.push({
        name: chosen[at] ?? '',
        number,
        createdDate,
        created,
        published,
        payload,
        record: 'kept',
      })
    }
  }
  return versions
}

function ofName(versions: readonly Version[], name: string): readonly Version[] {
  return versions.filter((one) => one.name === name)
}

function nextOf(versions: readonly Version[], version: Version): Version | undefined {
  return ofName(versions, version.name).find(({ number }) => number > version.number)
}

async function reduceSome(store: StorageEngine, random: Random, versions: Version[]): Promise<void> {
  const middle = versions[Math.floor(versions.length / 2)]?.created ?? 0n
  const later = versions[Math.floor(versions.length * 0.8)]?.created ?? 0n
  const span = { key, before: middle, supersededBefore: later }
  let outcome
  do outcome = await store.retention.thin(span, 200, 'one node')
  while (outcome.kind === 'thinned')
  assert.equal(outcome.kind, 'finished')
  for (const version of versions) {
    const next = nextOf(versions, version)
    if (version.created < middle && next !== undefined && next.created < later) version.record = 'retention'
  }
  const erased = [...new Set(versions.map(({ name }) => name))].filter(() => pick(random, 20) === 0)
  for (const name of erased) {
    const { closing } = await erase(store, subject(name))
    for (const version of ofName(versions, name)) version.record = 'erased'
    const createdDate = (await list(store)).at(-1)?.createdDate ?? ''
    versions.push({
      name,
      number: closing?.sequenceNumber ?? 0,
      createdDate,
      created: parseCreatedDate(createdDate) ?? 0n,
      published: false,
      payload: {},
      record: 'erased',
    })
  }
}

/** A read of a consumer, by numbers. */
interface Read {
  readonly name: string
  readonly route: ReadRoute
  readonly minute: number
  readonly from: number
  readonly through: number
}

async function readSome(
  store: StorageEngine,
  random: Random,
  versions: readonly Version[],
): Promise<readonly Read[]> {
  const last = versions.at(-1)?.number ?? 0
  const firstMinute = Math.floor(Number((versions.at(-1)?.created ?? 0n) / 10_000n) / minuteMs) + 2
  const reads: Read[] = []
  for (let at = 0; at < 60; at += 1) {
    const from = 1 + pick(random, last)
    const through = Math.min(last, from + pick(random, Math.ceil(last / 10)))
    const route = (['run', 'snapshot', 'list', 'event'] as const)[pick(random, 4)] ?? 'run'
    const name = names[pick(random, 2)] ?? 'website'
    reads.push({
      name,
      route,
      minute: firstMinute + Math.floor(at / 4),
      from,
      through: route === 'event' ? from : through,
    })
  }
  const { epoch = '' } = (await store.events.head(key)) ?? {}
  for (const { name, route, minute, from, through } of reads) {
    const part = {
      run: { view: 'all', space: 'numbers', epoch: '' },
      snapshot: { view: 'all', space: 'latest', epoch: '' },
      // Numbers of the first epoch are positions.
      list: { view: 'all', space: 'ordinals', epoch },
      event: { view: 'single', space: 'numbers', epoch: '' },
    } as const
    const place = part[route as keyof typeof part]
    const answer = { askedMs: minute * minuteMs, status: 200, route, quietMs: undefined }
    const sent: NewRead = {
      key,
      keyId: 'key',
      name,
      ...place,
      ...answer,
      minutes: [{ minute, route, ranges: [[from, through]] }],
    }
    await store.consumers.add([sent])
  }
  return reads
}

/** Snapshots leave out what was superseded, and all of it was when these were read. */
function firstRead(
  reads: readonly Read[],
  name: string,
  version: Version,
  isLatest: boolean,
): number | undefined {
  const found = reads
    .filter((one) => one.name === name && one.from <= version.number && version.number <= one.through)
    .filter(({ route }) => route !== 'snapshot' || isLatest)
    .map(({ minute }) => minute)
  return found.length === 0 ? undefined : Math.min(...found)
}

/** By the rules in the simplest form. */
function expectedOf(
  versions: readonly Version[],
  reads: readonly Read[],
  name: string,
  before: Ticks | undefined,
) {
  const own = ofName(versions, name)
  const version = own.findLast(({ created }) => before === undefined || created < before)
  const next = version === undefined ? undefined : nextOf(versions, version)
  if (version === undefined) return { number: undefined, record: 'none', published: null, terms: null }
  const price = version.payload['price_information']
  const money: Payload = typeof price === 'object' && price !== null ? { ...price } : {}
  const value = (of: Payload, member: string) => of[member] ?? null
  return {
    number: version.number,
    createdDate: version.createdDate,
    next: next?.number,
    record: version.record,
    published: version.published,
    terms:
      version.record === 'kept'
        ? {
            status: value(version.payload, 'status'),
            price: value(money, 'price'),
            priceQualifier: value(money, 'price_qualifier'),
            priceQualifierText: value(money, 'price_qualifier_string'),
            rentFrequency: value(money, 'rent_frequency'),
            deposit: value(money, 'deposit'),
            contractMonths: value(version.payload, 'contract_months'),
            minimumTerm: value(version.payload, 'minimum_term'),
          }
        : null,
    facts: version.record === 'kept' ? factsOf(version.payload) : undefined,
    sent: names.map((one) => firstRead(reads, one, version, next === undefined)),
  }
}

function factsOf({ details }: Payload) {
  const of: Payload = typeof details === 'object' && details !== null ? { ...details } : {}
  const { parking } = of
  return { band: of['council_tax_band'] === 'D', parking: Array.isArray(parking) && parking.length > 0 }
}

function shownOf(terms: PropertyTerms | undefined) {
  assert.ok(terms !== undefined)
  const { event, supersededBy, record, published, material, consumers } = terms
  if (event === null) return { number: undefined, record, published, terms: terms.terms }
  const isStated = (name: string) => material?.some((fact) => fact.name === name && fact.stated) === true
  const minutes = names.map((name) => {
    const { sentAt = null, sent } = consumers.find((one) => one.name === name) ?? {}
    assert.equal(sent, sentAt === null ? 'no_record' : 'first')
    return sentAt === null ? undefined : Date.parse(sentAt) / minuteMs
  })
  return {
    number: event.sequenceNumber,
    createdDate: event.createdDate,
    next: supersededBy?.sequenceNumber,
    record,
    published,
    terms: terms.terms,
    facts:
      material === null ? undefined : { band: isStated('council tax band'), parking: isStated('parking') },
    sent: minutes,
  }
}

async function addKey(store: StorageEngine): Promise<void> {
  const grants = [{ tenantId: tenantA, scopes: ['property:read'] as const }]
  const ends = { expiresMs: undefined, revokedMs: undefined, lastUsedMs: undefined, rate: undefined }
  const made = {
    secretHash: new Uint8Array(32),
    pepperId: 'any',
    label: 'Gwefan 🏡',
    operator: false,
    createdMs: 1,
  }
  await store.keys.insertKey({ keyId: 'key', grants, ...made, ...ends }, 'cli:test')
}

const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 1_000_000)

describe(`the terms of a property (seed ${seed})`, () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const count = histories[engine]
    it(`are those of a fold over ${count} histories, with erasures and retention, on ${engine} (PROTOCOL §14.8)`, async () => {
      const random = randomOf(seed)
      await using store = await withTenants(await engines[engine].create())
      await addKey(store)
      const versions = await publishAll(store, random, count)
      const reads = await readSome(store, random, versions)
      await reduceSome(store, random, versions)
      const nowMs = Date.now() + 3_600_000
      for (let at = 0; at < count; at += 1) {
        const name = `tŷ ${at}`
        const own = ofName(versions, name)
        const version = own[pick(random, own.length)]
        // One tick before a version, at it, a moment at random, or now.
        const moments = [
          version?.created,
          version && version.created + 1n,
          versions[pick(random, versions.length)]?.created,
          undefined,
        ]
        const before = moments[pick(random, moments.length)]
        const query = { key, subjectId: uuid(name), keyId: undefined, branches: undefined, before, nowMs }
        const terms = await propertyTerms(store, { ...query, recordedFromMs: 0 })
        assert.deepEqual(
          shownOf(terms),
          expectedOf(versions, reads, name, before),
          `${name} before ${before}`,
        )
      }
    })
  }

  it('say that a consumer showed the property from its report until the next one, and not while it was withdrawn (PROTOCOL §14.8)', async () => {
    await using store = await withTenants(await engines.sqlite.create())
    await addKey(store)
    for (const [at, published] of [true, true, false, true].entries())
      await publish(store, [draft({ subject: 'tŷ', text: `£${at}`, published })])
    const events = await list(store)
    const numbers = events.map(({ sequenceNumber }) => sequenceNumber)
    const created = events.map(({ createdDate }) => parseCreatedDate(createdDate) ?? 0n)
    const startMs = Number((created.at(-1) ?? 0n) / 10_000n) + 1_000
    const url = 'https://example.com/tŷ'
    for (const [at, sequenceNumber] of numbers.entries()) {
      const said = { tenantId: tenantA, subjectId: uuid('tŷ'), keyId: 'key', name: 'website', sequenceNumber }
      const report = { outcome: 'live', code: undefined, message: undefined, url } as const
      await store.consumers.putResults([{ ...said, ...report, resultMs: startMs + at * 1_000 }])
    }
    const at = async (before: Ticks | undefined) => {
      const query = { key, subjectId: uuid('tŷ'), keyId: undefined, branches: undefined, before }
      const times = { nowMs: startMs + 9_000, recordedFromMs: 0 }
      const terms = await propertyTerms(store, { ...query, ...times })
      return terms?.consumers[0]?.live.map(({ from, until, url: where, sequenceNumber }) => {
        const ms = (time: string | null) => (time === null ? undefined : Date.parse(time) - startMs)
        return [ms(from), ms(until), where, sequenceNumber]
      })
    }
    assert.deepEqual(await at(undefined), [
      [0, 2_000, url, numbers[0]],
      [3_000, undefined, url, numbers[3]],
    ])
    assert.deepEqual(await at((created[0] ?? 0n) + 1n), [[0, 2_000, url, numbers[0]]])
    // What is older than the log is kept is said to have begun at a time that is not recorded.
    await store.consumers.tidy({ consumers: [], mostRows: 1, beforeMs: startMs + 5_000 })
    assert.deepEqual(await at(undefined), [[undefined, undefined, url, numbers[3]]])
  })

  it('say that a sending is not recorded where the event is older than the record (PROTOCOL §14.8)', async () => {
    await using store = await withTenants(await engines.sqlite.create())
    await addKey(store)
    await publish(store, [draft({ subject: 'tŷ' })])
    const query = { key, subjectId: uuid('tŷ'), keyId: undefined, branches: undefined, before: undefined }
    const at = async (recordedFromMs: number) => {
      const terms = await propertyTerms(store, { ...query, nowMs: Date.now(), recordedFromMs })
      return [terms?.consumers[0]?.sent, terms?.consumers[0]?.sentence.split('.')[0]]
    }
    assert.deepEqual(await at(0), ['no_record', 'The record has no sending of it'])
    const [sent, sentence = ''] = await at(Date.now() + minuteMs)
    assert.equal(sent, 'not_recorded')
    assert.match(sentence, /^Whether it was sent is not recorded: the record begins at /)
  })
})
