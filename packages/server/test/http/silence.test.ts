/** Publishers and consumers that have fallen silent, over HTTP, in the log and in the metrics (PROTOCOL §14.7). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { silenceCheck } from '../../src/consumers/silence/worker.ts'
import { silenceReporter } from '../../src/serve/reports.ts'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'

interface Silence {
  readonly expectedSeconds: number | null
  readonly expectation: string | null
  readonly silentSince: string | null
}

interface Listed {
  readonly publisher: Silence & { readonly lastHeardAt: string | null }
  readonly items: readonly (Silence & { readonly keyId: string; readonly name: string })[]
}

const minuteMs = 60_000

function expect(service: TestService, key: string, path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return call(service, `/v1/admin/${path}/expected-interval`, {
    method: 'PUT',
    key,
    headers,
    body: JSON.stringify(body),
  })
}

/** What `why` says of a consumer. */
async function whyOf(
  service: TestService,
  key: string,
  path: string,
  consumer: { readonly keyId: string; readonly name: string },
): Promise<{ readonly silentSince: string | null; readonly sentence: string }> {
  const answer = await call(service, path, { key })
  assert.equal(answer.status, 200, answer.text)
  const { consumers } = JSON.parse(answer.text) as {
    readonly consumers: readonly {
      keyId: string
      name: string
      silentSince: string | null
      sentence: string
    }[]
  }
  return (
    consumers.find(({ keyId, name }) => keyId === consumer.keyId && name === consumer.name) ?? assert.fail()
  )
}

/** What `why` says of the publisher. */
async function publisherOf(service: TestService, key: string, path: string): Promise<string | null> {
  const { feed } = JSON.parse((await call(service, path, { key })).text) as {
    readonly feed: { readonly silentSince: string | null }
  }
  return feed.silentSince
}

async function listed(service: TestService, key: string, feed = 'property'): Promise<Listed> {
  const path = `/v1/admin/tenants/${service.tenant.tenantId}/consumers?feed=${feed}`
  const answer = await call(service, path, { key })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as Listed
}

/** As time passes, on one more node; answers how to look once more. */
async function passing(service: TestService, ms: number): Promise<() => Promise<void>> {
  let nowMs = Date.now()
  const look = silenceCheck(service.storage, { tell: silenceReporter(service.log), clock: () => nowMs })
  const step = async (): Promise<void> => {
    nowMs += 4 * minuteMs
    await look()
  }
  for (let passedMs = 0; passedMs < ms; passedMs += 4 * minuteMs) await step()
  return step
}

function told(service: TestService): readonly Readonly<Record<string, unknown>>[] {
  return service.logLines
    .filter((line) => line.includes('"silence":'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
}

onEngines('silence', {}, (service) => {
  const operatorKey = async (): Promise<string> =>
    (await service().issue({ operator: true, adminScopes: ['admin:inspect', 'admin:manage'] })).text

  it('is reported once when it begins and once when it ends, in the log, the metrics and the list of consumers (PROTOCOL §14.7)', async () => {
    const { tenant, otherTenant } = service()
    const operator = await operatorKey()
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({
      tenantId,
      scopes: ['property:read'] as const,
    }))
    const own = await service().issue({ grants: grants.slice(0, 1) })
    const portal = await service().issue({ grants })
    const agentRef = crypto.randomUUID()
    await publish(service(), [{ payload: property({ agent_ref: agentRef }) }])
    const read = await call(service(), listPath, { key: own.text, headers: { 'x-feed-consumer': 'website' } })
    assert.equal(read.status, 200)

    const publisher = `tenants/${tenant.tenantId}/feeds/property`
    const website = `keys/${own.keyId}/consumers/website`
    const asSet = await expect(service(), operator, website, { seconds: 3_600 })
    assert.equal(asSet.text, '{"expectedSeconds":3600,"expectation":"set"}')
    for (const path of [publisher, `keys/${portal.keyId}/consumers/default`])
      assert.equal((await expect(service(), operator, path, { seconds: 7_200 })).status, 200)
    const before = await listed(service(), operator)
    assert.deepEqual(
      before.items.map(({ silentSince }) => silentSince),
      before.items.map(() => null),
    )

    const step = await passing(service(), 70 * minuteMs)
    const began = told(service())
    assert.deepEqual(
      began.map(({ level, event, silence, keyId, consumer, expectedSeconds, expectation }) => {
        return { level, event, silence, keyId, consumer, expectedSeconds, expectation }
      }),
      [
        {
          level: 40,
          event: 'consumer.stalled',
          silence: 'began',
          keyId: own.keyId,
          consumer: 'website',
          expectedSeconds: 3_600,
          expectation: 'set',
        },
      ],
    )
    for (let looks = 0; looks < 20; looks += 1) await step()
    const all = told(service()).map(
      ({ event, silence, feed = null }) => `${String(event)} ${String(silence)} ${String(feed)}`,
    )
    assert.deepEqual(
      all.toSorted((a, b) => a.localeCompare(b)),
      ['consumer.stalled began null', 'consumer.stalled began null', 'publisher.silent began property'],
    )

    const after = await listed(service(), operator)
    const stalled = after.items.find(({ name }) => name === 'website')
    assert(stalled !== undefined)
    assert.notEqual(stalled.silentSince, null)
    assert.equal(stalled.silentSince, began[0]?.['lastAt'])
    assert.notEqual(after.publisher.silentSince, null)
    assert.equal(after.publisher.expectedSeconds, 7_200)
    const text = await (await fetch(service().service.metricsUrl ?? '')).text()
    assert.match(text, /^property_events_silent\{of="publisher"\} 1$/m)
    assert.match(text, /^property_events_silent\{of="consumer"\} 2$/m)
    assert.match(
      text,
      new RegExp(
        `^property_events_publisher_silent_seconds\\{tenant="${tenant.tenantId}",feed="property"\\} \\d`,
        'm',
      ),
    )
    assert.match(
      text,
      new RegExp(
        `^property_events_consumer_stalled_seconds\\{key="${own.keyId}",consumer="website"\\} \\d`,
        'm',
      ),
    )

    // Of a key that opens another tenant, too, an agency is told nothing.
    const agency = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect'] }],
    })
    const seen = await listed(service(), agency.text)
    assert.deepEqual(seen.publisher, after.publisher)
    assert.equal(seen.items.find(({ name }) => name === 'website')?.silentSince, stalled.silentSince)
    const { keyId: _, ...hidden } = seen.items.find(({ keyId }) => keyId === portal.keyId) ?? assert.fail()
    assert.deepEqual([hidden.expectedSeconds, hidden.expectation, hidden.silentSince], [null, null, null])

    const delivery = `/v1/admin/tenants/${tenant.tenantId}/properties/${agentRef}/delivery`
    const consumers = `/v1/properties/${agentRef}/consumers`
    const isSaid = / It has been silent .*for longer than expected\.$/
    for (const [key, path] of [
      [operator, delivery],
      [agency.text, delivery],
      [tenant.publishKey, consumers],
    ] as const) {
      const why = await whyOf(service(), key, path, { keyId: own.keyId, name: 'website' })
      assert.equal(why.silentSince, stalled.silentSince)
      assert.match(why.sentence, isSaid)
      const ofPortal = await whyOf(service(), key, path, { keyId: portal.keyId, name: 'default' })
      assert.equal(ofPortal.silentSince === null, key !== operator)
      assert.equal(isSaid.test(ofPortal.sentence), key === operator)
      assert.equal(await publisherOf(service(), key, path), after.publisher.silentSince)
    }
    // Who sees itself alone is not told of the agency.
    assert.equal(await publisherOf(service(), own.text, consumers), null)
    // It is back, and nobody has looked since.
    await call(service(), listPath, { key: own.text, headers: { 'x-feed-consumer': 'website' } })
    const back = await whyOf(service(), operator, delivery, { keyId: own.keyId, name: 'website' })
    assert.equal(back.silentSince, null)
    assert.doesNotMatch(back.sentence, isSaid)

    const off = await expect(service(), operator, website, { seconds: 0 })
    assert.equal(off.text, '{"expectedSeconds":null,"expectation":"off"}')
    const learned = await expect(service(), operator, publisher, { seconds: null })
    assert.equal(learned.text, '{"expectedSeconds":null,"expectation":"learning"}')
    await service().storage.keys.revokeKey(portal.keyId, Date.now(), 'cli:test')
    await step()
    await step()
    const ended = told(service()).filter(({ silence }) => silence === 'ended')
    for (const { level, msg } of ended)
      assert.deepEqual([level, msg], [30, 'nothing is expected of it any more'])
    assert.equal(ended.length, 3)
    assert.deepEqual(await service().storage.silence.countSilent(), { publishers: 0, consumers: 0 })
  })

  it('can be set only by those who manage the tenant or the key, and invalid values are refused (D11, PROTOCOL §14.7)', async () => {
    const { tenant, otherTenant } = service()
    const operator = await operatorKey()
    const manager = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:manage'] }],
    })
    const inspector = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect'] }],
    })
    const own = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes: ['property:read'] }] })
    const foreign = await service().issue({
      grants: [{ tenantId: otherTenant.tenantId, scopes: ['property:read'] }],
    })
    const [mine, theirs] = [tenant, otherTenant].map(({ tenantId }) => `tenants/${tenantId}/feeds/contact`)
    const key = (keyId: string, name = 'default'): string => `keys/${keyId}/consumers/${name}`
    const hour = { seconds: 3_600 }
    const cases: readonly [string, string | undefined, unknown, number, string | undefined][] = [
      [manager.text, mine, hour, 200, undefined],
      [manager.text, key(own.keyId), hour, 200, undefined],
      [manager.text, theirs, hour, 404, 'tenant_not_found'],
      [manager.text, key(foreign.keyId), hour, 404, 'key_not_found'],
      [inspector.text, mine, hour, 403, 'missing_scope'],
      [tenant.publishKey, mine, hour, 403, 'missing_scope'],
      [operator, theirs, hour, 200, undefined],
      [operator, key('nobodynobody'), hour, 404, 'key_not_found'],
      [operator, key(own.keyId, 'a%20b'), hour, 400, 'invalid_parameter'],
      [operator, `tenants/${tenant.tenantId}/feeds/people`, hour, 404, 'path_not_found'],
      ...[299, 2_592_001, -1, 1.5, '3600', true].map((seconds): (typeof cases)[number] => [
        operator,
        mine,
        { seconds },
        400,
        'invalid_body',
      ]),
      [operator, mine, {}, 400, 'invalid_body'],
      [operator, mine, { seconds: null, more: 1 }, 400, 'invalid_body'],
      [operator, mine, { seconds: 300 }, 200, undefined],
      [operator, mine, { seconds: 2_592_000 }, 200, undefined],
    ]
    for (const [by, path, body, status, code] of cases) {
      const answer = await expect(service(), by, path ?? '', body)
      assert.equal(answer.status, status, `${path} ${JSON.stringify(body)} ${answer.text}`)
      if (code !== undefined) assert.equal(problemOf(answer).code, code)
    }
    const contacts = await listed(service(), operator, 'contact')
    assert.equal(contacts.publisher.expectedSeconds, 2_592_000)
    assert.equal(contacts.publisher.lastHeardAt, null)
  })
})
