/**
 * The contract's reads are answered past the router where nothing is unusual about them. A letter of the path in upper case
 * takes the same request to the router (D19): both must answer the same.
 */
import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import {
  call,
  contactGetPath,
  contactListPath,
  getPath,
  listPath,
  pageOf,
  publish,
} from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import type { StorageEngine } from '../../src/index.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { withEvents } from '../support/with-events.ts'
import { until } from '../support/until.ts'

/** What differs between two answers to the same request. */
const ownOfEach = new Set(['date', 'x-request-id', 'ratelimit'])

function comparable({ status, headers, body }: Answer) {
  const zipped = headers['content-encoding'] === 'gzip'
  // How a page is compressed depends on whether its parts are sealed already, which may come in between.
  const own = (name: string): boolean => ownOfEach.has(name) || (zipped && name === 'content-length')
  const kept = Object.entries(headers).filter(([name]) => !own(name))
  const bytes = zipped && body.length > 0 ? gunzipSync(body) : body
  // A problem names the request and its path.
  const text =
    status < 400 || bytes.length === 0 ? bytes.toString('base64') : String(JSON.parse(bytes.toString()).code)
  return { status, headers: status < 400 ? Object.fromEntries(kept) : {}, text }
}

const viaRouter = (path: string): string => `http://127.0.0.1${path}`

onEngines('a read that is answered directly', {}, (service) => {
  let ids: readonly string[] = []
  let keys: readonly (string | undefined)[] = []
  let tags: readonly string[] = []

  before(async () => {
    const publishMany = (count: number) =>
      publish(
        service(),
        Array.from({ length: count }, (_, index) => ({ payload: property({ lettings: index % 3 === 0 }) })),
      )
    const receipt = await publishMany(70)
    const [first] = receipt.events
    assert.ok(first)
    // An id that stands for an event with another id: it came with the same payload, which was not stored (D14).
    const repeated = { payload: property(), id: '0194b3e0-0000-7000-8000-00000000aaaa' }
    await publish(service(), [repeated])
    const skipped = { ...repeated, id: '0194b3e0-0000-7000-8000-00000000bbbb' }
    const skipping = await publish(service(), [skipped], { query: '?unchanged=skip' })
    assert.equal(skipping.events[0]?.unchanged, true)
    await publishMany(60)
    const contacts = await publish(service(), [{ payload: contact() }], { feed: 'contact' })
    const { tenant, otherTenant } = service()
    const both = [tenant.tenantId, otherTenant.tenantId].map((tenantId) => ({
      tenantId,
      scopes: ['property:read'] as const,
    }))
    ids = [
      first.id,
      contacts.events[0]?.id ?? '',
      repeated.id,
      '0194b3e0-0000-7000-8000-00000000bbbb',
      'x',
      '',
    ]
    keys = [
      tenant.readKey,
      otherTenant.readKey,
      tenant.publishKey,
      (await service().issue({ grants: both })).text,
      (await service().issue({ grants: both.slice(1), expiresMs: Date.now() + 1 })).text,
      `${tenant.readKey.slice(0, -1)}~`,
      undefined,
    ]
    const seen = await Promise.all(
      [listPath, `${listPath}?pageSize=50`, `${getPath}/${first.id}`].map((path) =>
        call(service(), path, { key: tenant.readKey }),
      ),
    )
    tags = seen.map(({ headers }) => String(headers.etag))
    // The page of 100 that was read is sealed in the background.
    await wait(100)
  })

  it('says what the router says, whatever is asked (P12, D1, D2, D5, D7, D8, D20)', async () => {
    const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
    const parameter = fc.oneof(
      fc.tuple(oneOf('page', 'PAGE', 'pa%67e'), oneOf('1', '2', '3', '0', '01', '1e3', '999999999', '')),
      fc.tuple(
        oneOf('pageSize', 'pagesize'),
        oneOf('1', '7', '25', '50', '100', '1000', '1001', '-1', '%D9%A3'),
      ),
      fc.tuple(oneOf('apiEventType'), oneOf('SalesProperty', 'lettings-property-events', 'AllProperty', 'x')),
      fc.tuple(
        oneOf('from', 'to'),
        oneOf(
          '2025-01-31',
          '2099-01-01%2000:00:00.00',
          '2025-02-30',
          '1700000000',
          '2025-07-01T10:20%2B01:00',
          '2025-07-01T10:20:30.123456789+01:00',
          '2099-07-01t10:20:30z',
          '2025-07-01T10:20:30%2B0100',
        ),
      ),
      fc.tuple(oneOf('other', 'sequence', '%zz', ''), oneOf('', 'a', '%ff')),
    )
    const query = fc
      .array(parameter, { maxLength: 3 })
      .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`))
    const path = fc.oneof(
      { weight: 3, arbitrary: query.map((text) => listPath + text) },
      query.map((text) => contactListPath + text),
      fc
        .tuple(oneOf(getPath, contactGetPath), fc.nat(5), fc.boolean(), oneOf('', '?', '?a=b', '/', '#'))
        .map(([base, index, upper, end]) => {
          const id = ids[index] ?? ''
          return `${base}/${upper ? id.toUpperCase() : id}${end}`
        }),
    )
    const common = fc.record(
      {
        accept: oneOf('*/*', 'application/json', 'application/*;q=0.1'),
        'accept-encoding': oneOf('gzip', 'identity', 'br', 'gzip;q=0.5, identity', 'gzip;q=0', '*'),
        'if-none-match': fc.nat(3).map((index) => tags[index] ?? '*'),
        'x-forwarded-for': oneOf('192.0.2.1'),
      },
      { requiredKeys: [] },
    )
    const unusual = oneOf<Readonly<Record<string, string>>>(
      { accept: 'text/html' },
      { 'x-feed-min-sequence': '0' },
      { 'x-feed-min-sequence': 'x' },
      { expect: '100-continue' },
      { expect: 'x' },
      { 'content-length': '0' },
    )
    const headers = fc.oneof(
      { weight: 5, arbitrary: common },
      fc.tuple(common, unusual).map(([usual, more]) => ({ ...usual, ...more })),
    )
    const request = fc.record({
      path,
      headers,
      key: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(6)).map((index) => keys[index]),
      method: fc.oneof({ weight: 6, arbitrary: fc.constant('GET') }, oneOf('HEAD', 'POST', 'OPTIONS')),
    })
    await fc.assert(
      fc.asyncProperty(request, async ({ path, ...options }) => {
        const direct = await call(service(), path, options)
        const routed = await call(service(), viaRouter(path), options)
        assert.deepEqual(comparable(direct), comparable(routed))
        assert.equal(direct.headers.ratelimit === undefined, routed.headers.ratelimit === undefined)
      }),
      { numRuns: isLongRun ? 3_000 : 300 },
    )
  })

  it('shows what was acknowledged before it was asked, totals and all (P8, P4)', async () => {
    const { readKey } = service().tenant
    const ask = async (path: string) => pageOf(await call(service(), path, { key: readKey }))
    let { availableCount } = await ask(listPath)
    for (let round = 0; round < 30; round += 1) {
      const { events } = await publish(service(), [{ payload: property() }])
      availableCount += 1
      const page = await ask(`${listPath}?pageSize=1&page=${availableCount}`)
      assert.equal(page.availableCount, availableCount)
      assert.equal(page.items[0]?.id, events[0]?.id)
    }
  })

  it('is logged and counted once, like any other (D9)', async () => {
    const { readKey } = service().tenant
    const requestId = `direct-${Math.random().toString(36).slice(2)}`
    const path = `${listPath}?pageSize=3`
    await call(service(), path, { key: readKey })
    const counted = async () => {
      const text = await (await fetch(String(service().service.metricsUrl))).text()
      return Number(
        /_duration_seconds_count\{route="[^"]*\/events\/getevents",method="GET",status="200"\} (\d+)/.exec(
          text,
        )?.[1],
      )
    }
    const before = await counted()
    await call(service(), path, { key: readKey, headers: { 'x-request-id': requestId } })
    await call(service(), viaRouter(path), {
      key: readKey,
      headers: { 'x-request-id': `${requestId}-router` },
    })
    assert.equal(await counted(), before + 2)
    const lines = service()
      .logLines.filter((line) => line.includes(requestId))
      .map((line) => JSON.parse(line))
    assert.equal(lines.length, 2)
    const [direct, routed] = lines.map(
      ({ level, method, route, status, durationMs, keyId, tenantId, path }) => {
        assert.ok(durationMs >= 0)
        return { level, method, route, status, keyId, tenantId, path: path.toLowerCase() }
      },
    )
    assert.equal(direct?.path, listPath)
    assert.deepEqual(direct, routed)
  })
})

let fails = false
const failing: StorageEngine['events']['changeCount'] = () => {
  throw new Error('a fault of ours')
}

onEngines(
  'a read that fails at once',
  {
    wrap: (storage) => {
      const { events } = storage
      const changeCount: typeof failing = (key) => (fails ? failing(key) : events.changeCount(key))
      return withEvents(storage, { changeCount })
    },
  },
  (service) => {
    it('is answered with a problem, as the router does (P11)', async () => {
      const { readKey } = service().tenant
      // What is known of the feed a moment later is looked at without asking the store.
      const { status } = await call(service(), listPath, { key: readKey })
      assert.equal(status, 200)
      fails = true
      const answer = await call(service(), listPath, { key: readKey }).finally(() => (fails = false))
      assert.equal(answer.status, 500)
      assert.equal(JSON.parse(answer.body.toString()).code, 'internal_error')
    })
  },
)

let lookUps = 0

onEngines(
  'an event whose page was read',
  {
    wrap: (storage) => {
      const { events } = storage
      const positionOf: typeof events.positionOf = (key, id) => {
        lookUps += 1
        return events.positionOf(key, id)
      }
      const readEvent: typeof events.readEvent = (key, id) => {
        lookUps += 1
        return events.readEvent(key, id)
      }
      return withEvents(storage, { positionOf, readEvent })
    },
  },
  (service) => {
    it('is looked up once, however many ask for it (D20)', async () => {
      const { readKey } = service().tenant
      const published = Array.from({ length: 100 }, () => ({ payload: property() }))
      const { events } = await publish(service(), published)
      const path = `${getPath}/${events[42]?.id}`
      const page = pageOf(await call(service(), listPath, { key: readKey }))
      const looked = async (): Promise<number> => {
        const before = lookUps
        const answer = await call(service(), path, { key: readKey })
        assert.deepEqual(JSON.parse(answer.text), page.items[42])
        return lookUps - before
      }
      // The page is sealed in the background.
      await until(async () => (await looked()) === 0)
      for (let round = 0; round < 3; round += 1) assert.equal(await looked(), 0)
    })

    it('and of the newest, whose page is not full yet, the place is: the store is asked for its bytes alone (D20)', async () => {
      const { readKey } = service().tenant
      const { events } = await publish(service(), [{ payload: property() }])
      const asked: number[] = []
      for (let round = 0; round < 3; round += 1) {
        const before = lookUps
        const answer = await call(service(), `${getPath}/${events[0]?.id}`, { key: readKey })
        assert.equal(JSON.parse(answer.text).id, events[0]?.id)
        asked.push(lookUps - before)
      }
      assert.deepEqual(asked, [2, 1, 1])
    })
  },
)
