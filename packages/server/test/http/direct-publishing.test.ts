/**
 * Publishing is answered past the router where nothing about the head of a request is unusual. An absolute target takes the
 * same request to the router: both must answer the same.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { StorageFailure } from '../../src/index.ts'
import type { StorageEngine } from '../../src/index.ts'
import { askBothWays, proveKey } from '../support/both-ways.ts'
import type { TwoTenants } from '../support/both-ways.ts'
import { call, listPath, pageOf } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'

const path = '/v1/property-events'
const json = { 'content-type': 'application/json' }

/** Ids and properties that come up again and again, so that requests repeat, contradict and remove each other's. */
const ids = Array.from({ length: 5 }, () => randomUUID())
const properties = Array.from({ length: 5 }, () => property())

/** How many requests the router's handlers were given meanwhile. */
async function routedDuring(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const name = 'tracing:fastify.request.handler:start'
  const onStart = (): void => void (count += 1)
  subscribe(name, onStart)
  await work().finally(() => unsubscribe(name, onStart))
  return count
}

/** One token a second and a clock that stands still: every token that is taken or given back shows. */
const counted = {
  clock: () => 1_800_000_000_000,
  limits: {
    requests: { perSecond: 1, burst: 100_000 },
    maxBodyBytes: 20_000,
    publication: { maxEvents: 5, maxPayloadBytes: 9_000, maxPayloadDepth: 8 },
  },
}

onEngines('what is published directly', counted, (service) => {
  let keys: TwoTenants = { direct: [], routed: [] }

  before(async () => {
    const { tenant, otherTenant, issue } = service()
    const scopes = ['property:publish'] as const
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    const [ofBoth, ofBothToo] = [await issue({ grants }), await issue({ grants })]
    const bad = `${tenant.publishKey.slice(0, -1)}~`
    keys = {
      direct: [tenant.publishKey, tenant.readKey, ofBoth.text, bad, undefined],
      routed: [otherTenant.publishKey, otherTenant.readKey, ofBothToo.text, bad, undefined],
    }
    for (const key of [...keys.direct, ...keys.routed]) await proveKey(service(), key ?? '')
  })

  it('is answered as the router does, whatever is sent (PROTOCOL §4, P6, P11, D6, D9, D10, D14)', async () => {
    const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
    const item = fc.oneof(
      { weight: 4, arbitrary: oneOf(...properties).map((payload) => ({ payload })) },
      fc
        .tuple(oneOf(...properties), oneOf(...ids), oneOf(250_000, 260_000), fc.boolean())
        .map(([given, id, price, published]) => ({
          id,
          payload: { ...given, published, price_information: { price } },
        })),
      oneOf(...properties, property()).map(({ agent_ref }) => ({ remove: { agentRef: agent_ref } })),
      oneOf<unknown>(
        { payload: contact() },
        { payload: property({ note: 'x'.repeat(9_000) }) },
        { payload: property({ status: 'x' }) },
        { payload: property(), eventType: 'x' },
        { payload: property(), tenantId: 'x' },
        { payload: '{"a":1,"a":2}' },
        { payload: [[[[[[[[[[]]]]]]]]]] },
        {},
        17,
      ),
    )
    const items = fc.oneof(
      { weight: 2, arbitrary: fc.array(item, { maxLength: 6 }) },
      { weight: 3, arbitrary: item },
    )
    const text = fc.oneof(
      { weight: 6, arbitrary: items.map((value) => JSON.stringify(value)) },
      fc.array(item, { maxLength: 4 }).map((all) => all.map((one) => JSON.stringify(one)).join('\n')),
      fc.tuple(items, fc.nat(400)).map(([value, end]) => JSON.stringify(value).slice(0, end)),
      oneOf('', ' ', '[]', '[', 'null', '{"payload":1e999}', '\ufeff{}', '['.repeat(500), ' '.repeat(20_001)),
    )
    const body = fc.oneof(
      { weight: 9, arbitrary: text },
      text.map((all) => Buffer.concat([Buffer.from(all), Buffer.from([0xff])])),
    )
    const query = fc.oneof(
      { weight: 4, arbitrary: fc.constant('') },
      oneOf('?dryRun=true', '?unchanged=skip', '?', '?dryRun=false&unchanged=store'),
      oneOf('?dryRun=1', '?dryrun=true', '?a=b', '?%zz', '?unchanged=skip&unchanged=skip', '/', '#'),
    )
    const type = fc.oneof(
      { weight: 8, arbitrary: oneOf('application/json', 'application/x-ndjson') },
      oneOf('application/json; charset=utf-8', 'Application/JSON;charset=UTF-8', 'application/json;'),
      oneOf('application/json; charset="utf-8"', 'application/json; charset', 'text/plain', 'x', ''),
      oneOf('application/json; charset=utf-16', 'application/json; q'),
    )
    const usual = fc.record(
      {
        accept: oneOf('*/*', 'application/json', 'application/*;q=0.1'),
        'accept-encoding': oneOf('gzip', 'identity'),
        connection: oneOf('close', 'keep-alive'),
        'x-forwarded-for': oneOf('192.0.2.1'),
        origin: oneOf('https://example.org'),
      },
      { requiredKeys: [] },
    )
    const unusual = oneOf<Readonly<Record<string, string>>>(
      { accept: 'text/html' },
      { accept: 'application/json;q=0' },
      { 'content-encoding': 'identity' },
      { 'content-encoding': 'gzip' },
      { expect: '100-continue' },
      { expect: 'x' },
      { host: 'a/b' },
    )
    const more = fc.oneof(
      { weight: 5, arbitrary: usual },
      fc.tuple(usual, unusual).map(([some, odd]) => ({ ...some, ...odd })),
    )
    const request = fc.record({
      path: fc
        .tuple(oneOf(path, path, path, '/v1/contact-events'), query)
        .map(([base, asked]) => base + asked),
      method: fc.oneof({ weight: 12, arbitrary: fc.constant('POST') }, oneOf('PUT', 'DELETE', 'OPTIONS')),
      headers: fc.tuple(type, more).map(([given, others]) => ({ 'content-type': given, ...others })),
      body,
      key: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(4)),
    })
    const numRuns = isLongRun ? 4_000 : 400
    const routed = await routedDuring(() =>
      fc.assert(
        fc.asyncProperty(request, async (asked) => {
          const answers = await askBothWays(service(), keys, asked)
          assert.deepEqual(answers.direct, answers.routed)
        }),
        { numRuns },
      ),
    )
    assert.ok(routed < 1.5 * numRuns, `${routed} of ${2 * numRuns} requests came to the router`)
  })

  it('is taken past the router in the spellings clients use (PROTOCOL §4)', async () => {
    const body = JSON.stringify({ payload: property() })
    const [key] = keys.direct
    for (const [target, type] of [
      [path, 'application/json'],
      [`${path}?dryRun=true`, 'application/json; charset=utf-8'],
      [path, 'application/x-ndjson'],
    ] as const) {
      const routed = await routedDuring(async () => {
        const headers = { 'content-type': type }
        const { status } = await call(service(), target, { method: 'POST', key, headers, body })
        assert.ok(status < 300)
      })
      assert.equal(routed, 0)
    }
  })

  it('is logged and counted once, like any other (D9)', async () => {
    const named = async (kind: string) => {
      const text = await (await fetch(String(service().service.metricsUrl))).text()
      return text
        .split('\n')
        .filter((line) => line.includes(kind) && /_count|_total/.test(line))
        .map((line) => Number(line.split(' ').at(-1)))
        .reduce((sum, value) => sum + value, 0)
    }
    for (const [payload, status, outcome] of [
      [property(), 201, 'receipt'],
      [property({ status: 'x' }), 400, 'invalid'],
    ] as const) {
      const kinds = [`route="${path}",method="POST",status="${status}"`, `outcome="${outcome}"`]
      const before = await Promise.all(kinds.map(named))
      const since = service().logLines.length
      const asked = { path, method: 'POST', key: 0, headers: json, body: JSON.stringify({ payload }) }
      await askBothWays(service(), keys, asked)
      assert.deepEqual(
        await Promise.all(kinds.map(named)),
        before.map((count) => count + 2),
      )
      const [direct, routed, ...others] = service().logLines.slice(since).map(comparableLine)
      assert.equal(direct?.['path'], path)
      assert.deepEqual(direct, routed)
      assert.deepEqual(others, [])
    }
  })
})

/** Without what differs between two requests of two tenants. */
function comparableLine(line: string): Readonly<Record<string, unknown>> {
  const { time, requestId, durationMs, keyId, tenantId, path: logged, ...same } = JSON.parse(line)
  assert.ok(durationMs === undefined || durationMs >= 0)
  const known = { time, requestId, keyId, tenantId, path: logged }
  const types = Object.entries(known).map(([name, value]) => [name, typeof value])
  return { ...same, types, path: String(logged).replace('http://127.0.0.1', '') }
}

/** What an engine may say or throw when it is asked to append. */
const misfortunes: readonly (() => ReturnType<StorageEngine['events']['append']>)[] = [
  () => Promise.reject(new StorageFailure('storage_full')),
  () => Promise.reject(new StorageFailure('storage_unavailable', new Error('SQLITE_IOERR'))),
  () => Promise.reject(new TypeError('undefined is not a function')),
  () => {
    throw new TypeError('at once')
  },
  () => Promise.resolve([]),
  () => Promise.resolve([{ kind: 'epochRequired' }]),
  () => Promise.resolve([{ kind: 'unknownFeed' }]),
  () =>
    Promise.resolve([
      { kind: 'clockBehind', headCreated: 17_000_006_000_000_000n, now: 17_000_000_000_000_000n },
    ]),
]

describe('what is published directly to a store that fails', () => {
  it('is refused with the words, the headers and the log of the router (P6, D6, D13, D25)', async () => {
    let append: (typeof misfortunes)[number] = () => Promise.resolve([])
    const service = await startTestService({
      clock: counted.clock,
      wrap: (storage) => ({
        ...storage,
        [Symbol.asyncDispose]: () => storage.close(),
        events: { ...storage.events, append: () => append() },
      }),
    })
    const { tenant, otherTenant } = service
    const keys = { direct: [tenant.publishKey], routed: [otherTenant.publishKey] }
    for (const key of [tenant.publishKey, otherTenant.publishKey]) await proveKey(service, key)
    for (const misfortune of misfortunes) {
      append = misfortune
      const since = service.logLines.length
      const body = JSON.stringify({ payload: property() })
      const routed = await routedDuring(async () => {
        const answers = await askBothWays(service, keys, {
          path,
          method: 'POST',
          key: 0,
          headers: json,
          body,
        })
        assert.ok(answers.direct.status >= 400)
        assert.deepEqual(answers.direct, answers.routed)
      })
      assert.equal(routed, 1)
      const lines = service.logLines.slice(since).map((line) => {
        const { level, msg, status, problem, err } = JSON.parse(line)
        return { level, msg, status, problem, error: err?.message }
      })
      assert.deepEqual(lines.slice(0, lines.length / 2), lines.slice(lines.length / 2))
    }
    await service.stop()
  })

  it('leaves the feed as it was (P6)', async () => {
    const service = await startTestService()
    const { publishKey, readKey } = service.tenant
    await proveKey(service, publishKey)
    const body = JSON.stringify([{ payload: property() }, { payload: 17 }])
    const answer = await call(service, path, { method: 'POST', key: publishKey, headers: json, body })
    assert.equal(answer.status, 400)
    assert.equal(pageOf(await call(service, listPath, { key: readKey })).availableCount, 0)
    await service.stop()
  })
})
