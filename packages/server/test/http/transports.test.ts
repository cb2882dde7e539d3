/** A request has the same answer, the same line in the log and the same price whichever transport it came by. */
import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import * as fc from 'fast-check'
import { askBothWays, readByNodeDuring } from '../support/both-ways.ts'
import { call, contactGetPath, contactListPath, getPath, listPath, publish } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { publishRequests } from '../support/publish-requests.ts'

/** One token a second and a clock that stands still: every token that is taken or given back shows. */
const counted = {
  clock: () => 1_800_000_000_000,
  limits: {
    requests: { perSecond: 1, burst: 1_000_000 },
    maxBodyBytes: 20_000,
    publication: { maxEvents: 5, maxPayloadBytes: 9_000, maxPayloadDepth: 8 },
  },
}
const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)

onEngines('a request', { ...counted, byNode: true }, (service, plainConnections) => {
  // There is but one transport then.
  if (!plainConnections) return
  let ids: readonly string[] = []
  let subjects: readonly string[] = []
  let tags: readonly string[] = []
  let keys: readonly (string | undefined)[] = []

  before(async () => {
    const { tenant, otherTenant } = service()
    const payloads = Array.from({ length: 4 }, () => property())
    for (let round = 0; round < 30; round += 1) {
      await publish(
        service(),
        payloads.map((payload, index) => ({ payload: { ...payload, lettings: (round + index) % 3 === 0 } })),
      )
    }
    // An id that stands for an event with another id: it came with the same payload, which was not stored (D14).
    const repeated = { payload: property(), id: '0194b3e0-0000-7000-8000-00000000aaaa' }
    await publish(service(), [repeated])
    const skipped = { ...repeated, id: '0194b3e0-0000-7000-8000-00000000bbbb' }
    await publish(service(), [skipped], { query: '?unchanged=skip' })
    const contacts = await publish(service(), [{ payload: contact() }], { feed: 'contact' })
    ids = [repeated.id, skipped.id, contacts.events[0]?.id ?? '', 'x', '%zz', '']
    subjects = [...payloads.map(({ agent_ref }) => agent_ref), 'x']
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({
      tenantId,
      scopes: ['property:read'] as const,
    }))
    keys = [
      tenant.readKey,
      otherTenant.readKey,
      tenant.publishKey,
      (await service().issue({ grants })).text,
      (await service().issue({ grants, reading: { eventTypes: 'published-0', current: true } })).text,
      (await service().issue({ grants: grants.slice(1), expiresMs: 1_800_000_000_001 })).text,
      `${tenant.readKey.slice(0, -1)}~`,
      undefined,
    ]
    const seen = await Promise.all(
      [listPath, `${listPath}?pageSize=50`, `${getPath}/${ids[0]}`].map((path) =>
        call(service(), path, { key: tenant.readKey }),
      ),
    )
    tags = seen.map(({ headers }) => String(headers.etag))
  })

  it('that reads is answered and logged the same, for every request (P12, D1, D2, D5, D7, D8, D10, D20)', async () => {
    const parameter = fc.oneof(
      fc.tuple(oneOf('page', 'PAGE', 'pa%67e'), oneOf('1', '2', '3', '0', '01', '1e3', '999999999', '')),
      fc.tuple(oneOf('pageSize', 'pagesize'), oneOf('1', '25', '100', '1000', '1001', '-1', '%D9%A3')),
      fc.tuple(oneOf('apiEventType'), oneOf('SalesProperty', 'lettings-property-events', 'x')),
      fc.tuple(oneOf('current', 'Current'), oneOf('true', 'false', '1')),
      fc.tuple(oneOf('from', 'to'), oneOf('2025-01-31', '2025-02-30', '2025-07-01T10:20%2B01:00')),
      fc.tuple(oneOf('other', 'after', 'limit', '%zz', ''), oneOf('', '1', 'a', '%ff')),
    )
    const query = fc
      .array(parameter, { maxLength: 3 })
      .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`))
    const path = fc.oneof(
      { weight: 3, arbitrary: query.map((text) => listPath + text) },
      fc
        .tuple(oneOf(getPath, contactGetPath), fc.nat(5), oneOf('', '?', '?a=b', '/', '#'))
        .map(([base, index, end]) => `${base}/${ids[index] ?? ''}${end}`),
      fc
        .tuple(fc.nat(4), oneOf('', '/history', '/history?limit=1', '/nothing'))
        .map(([index, end]) => `/v1/properties/${subjects[index] ?? ''}${end}`),
      oneOf('/v1/heads', '/openapi.json', '/docs', '/', '/v1/%zz', '/v1/property-events/snapshot'),
      oneOf('?limit=3', '?after=2&limit=1', '?after=x', '').map((text) => `/v1/property-events${text}`),
      query.map((text) => (contactListPath + text).toUpperCase()),
    )
    const header = oneOf<Readonly<Record<string, string>>>(
      { 'accept-encoding': 'gzip' },
      { 'accept-encoding': 'gzip;q=0.5, identity' },
      { accept: 'application/*;q=0.1' },
      { accept: 'text/html' },
      { 'if-none-match': '*' },
      { 'x-forwarded-for': '192.0.2.1' },
      { 'x-feed-min-sequence': '0' },
      { 'x-feed-min-sequence': 'x' },
      { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      { connection: 'keep-alive' },
      { expect: '100-continue' },
      { expect: 'x' },
      { host: 'a/b' },
    )
    const headers = fc
      .tuple(fc.array(header, { maxLength: 3 }), fc.nat(3))
      .map(([some, index]) =>
        Object.assign({}, tags[index] === undefined ? {} : { 'if-none-match': tags[index] }, ...some),
      )
    const request = fc.record({
      path,
      headers,
      key: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(6)).map((index) => keys[index]),
      method: fc.oneof({ weight: 8, arbitrary: fc.constant('GET') }, oneOf('HEAD', 'POST', 'OPTIONS', 'PUT')),
    })
    const numRuns = isLongRun ? 3_000 : 250
    const tokensOf = (given: readonly (readonly [string, unknown])[]) =>
      Number(/r=(\d+)/.exec(String(new Map(given).get('ratelimit')))?.[1])
    const withoutTokens = (given: readonly (readonly [string, unknown])[]) =>
      given.map(([name, value]) => (name === 'ratelimit' ? [name, ''] : [name, value]))
    let known: number | undefined
    const byNode = await readByNodeDuring(() =>
      fc.assert(
        fc.asyncProperty(request, async (asked) => {
          const [plain, other] = await askBothWays(service(), asked)
          assert.deepEqual(
            { ...plain, headers: withoutTokens(plain.headers) },
            { ...other, headers: withoutTokens(other.headers) },
          )
          if (asked.key !== keys[0] || Number.isNaN(tokensOf(plain.headers))) return
          // Both cost the same: the first as much as the second.
          if (known !== undefined) {
            assert.equal(known - tokensOf(plain.headers), tokensOf(plain.headers) - tokensOf(other.headers))
          }
          known = tokensOf(other.headers)
        }),
        { numRuns },
      ),
    )
    assert.ok(byNode < 1.6 * numRuns, `Node’s HTTP had ${byNode} of ${2 * numRuns} requests`)
  })

  it('is counted once, by its route, its method and its status (D9)', async () => {
    const counts = async () => {
      const text = await (await fetch(String(service().service.metricsUrl))).text()
      const line = /^\w+_duration_seconds_count\{(.*)\} (\d+)$/gm
      return new Map([...text.matchAll(line)].map(([, labels = '', count]) => [labels, Number(count)]))
    }
    const { readKey, publishKey } = service().tenant
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ payload: property() })
    for (const [request, labels] of [
      [{ path: listPath, key: readKey }, `route="${listPath}",method="GET",status="200"`],
      [{ path: listPath, key: 'x' }, `route="${listPath}",method="GET",status="401"`],
      [{ path: '/v1/%zz', key: readKey }, 'route="none",method="GET",status="400"'],
      [
        { path: '/v1/property-events', method: 'POST', key: publishKey, headers: json, body },
        'route="/v1/property-events",method="POST",status="201"',
      ],
    ] as const) {
      const earlier = await counts()
      await askBothWays(service(), request)
      const later = await counts()
      assert.equal(later.get(labels), (earlier.get(labels) ?? 0) + 2, labels)
    }
  })
})

// A feed of its own for each of the two tenants, in which the same has happened.
onEngines('a publication', { ...counted, byNode: true }, (service, plainConnections) => {
  if (!plainConnections) return
  it('is answered and logged the same, whatever is sent (PROTOCOL §4, P6, P11, D6, D9, D10, D14)', async () => {
    const { tenant, otherTenant } = service()
    const scopes = ['property:publish'] as const
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    const [ofBoth, ofBothToo] = [await service().issue({ grants }), await service().issue({ grants })]
    const bad = `${tenant.publishKey.slice(0, -1)}~`
    const plainKeys = [tenant.publishKey, tenant.readKey, ofBoth.text, bad, undefined]
    const otherKeys = [otherTenant.publishKey, otherTenant.readKey, ofBothToo.text, bad, undefined]
    const numRuns = isLongRun ? 4_000 : 300
    const publication = publishRequests('/v1/property-events')
    const byNode = await readByNodeDuring(() =>
      fc.assert(
        fc.asyncProperty(publication, async ({ key, ...asked }) => {
          const [plain, other] = await askBothWays(service(), asked, [plainKeys[key], otherKeys[key]])
          assert.deepEqual(plain, other)
        }),
        { numRuns },
      ),
    )
    assert.ok(byNode < 1.5 * numRuns, `Node’s HTTP had ${byNode} of ${2 * numRuns} requests`)
  })
})
