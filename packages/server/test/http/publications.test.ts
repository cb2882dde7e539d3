/** What was published and what was refused, over HTTP (PROTOCOL §14.2). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, problemOf } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'

interface Minute {
  readonly at: string
  readonly feed: string
  readonly keyId: string
  readonly requests: number
  readonly stored: number
  readonly repeated: number
  readonly unchanged: number
  readonly firstNumber: number | null
  readonly lastNumber: number | null
  readonly warnings: Readonly<Record<string, number>>
  readonly warningPlaces: Readonly<Record<string, readonly string[]>>
  readonly refused: number
  readonly refusals: readonly {
    readonly requestId: string
    readonly code: string
    readonly faults: readonly { readonly pointer: string; readonly code: string }[]
  }[]
}

interface Publications {
  readonly items: readonly Minute[]
  readonly next: string | null
}

interface Sending {
  readonly key: string
  readonly feed?: 'property' | 'contact'
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A text is sent as it is. */
function postEvents(
  target: Pick<TestService, 'port'>,
  body: unknown,
  { key, feed = 'property', query = '', headers = {} }: Sending,
): Promise<Answer> {
  return call(target, `/v1/${feed}-events${query}`, {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** The minutes of a test as one: it may have been two. */
function summed(items: readonly Minute[]) {
  const sum = (count: 'requests' | 'stored' | 'repeated' | 'unchanged' | 'refused') =>
    items.reduce((total, item) => total + item[count], 0)
  const numbers = items
    .flatMap(({ firstNumber, lastNumber }) => [firstNumber, lastNumber])
    .filter((one) => one !== null)
  const warnings: Record<string, number> = {}
  for (const item of items) {
    for (const [code, count] of Object.entries(item.warnings)) warnings[code] = (warnings[code] ?? 0) + count
  }
  return {
    counts: [sum('requests'), sum('stored'), sum('repeated'), sum('unchanged'), sum('refused')],
    numbers: numbers.length === 0 ? [] : [Math.min(...numbers), Math.max(...numbers)],
    warnings,
    refusals: items.flatMap(({ refusals }) => refusals),
  }
}

onEngines('what was published', {}, (service) => {
  const listOf = async (path: string, key: string): Promise<Publications> => {
    const answer = await call(service(), path, { key })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Publications
  }

  it('is counted by key and minute, with warnings and refusals and no value of any payload (PROTOCOL §14)', async () => {
    const { tenant, otherTenant } = service()
    const scopes = ['property:publish', 'contact:publish'] as const
    const publisher = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes }] })
    const operator = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    const canary = 'Jane-Canary'
    const agentRef = crypto.randomUUID()
    const node = await service().another()
    const send = (body: unknown, words: { readonly feed?: 'contact'; readonly query?: string } = {}) =>
      postEvents(node, body, { key: publisher.text, ...words })
    const first = { id: crypto.randomUUID(), payload: property({ agent_ref: agentRef }) }
    const stored = [
      await send(first),
      await send(first),
      await send([{ payload: first.payload }], { query: '?unchanged=skip' }),
      await send([
        { payload: property({ agent_ref: agentRef, agent_reff: canary }) },
        { payload: property({ agent_ref: crypto.randomUUID() }) },
      ]),
      await send({ payload: property() }, { query: '?dryRun=true' }),
    ]
    assert.deepEqual(
      stored.map(({ status }) => status),
      [201, 200, 200, 201, 200],
    )
    const refused = [
      await send({ ...first, payload: property({ agent_ref: agentRef, summary: canary }) }),
      await send({ payload: { agent_ref: canary, published: 'yes' } }),
      await send({ [canary]: 1 }),
      await send(`{"payload":{"agent_ref":"${agentRef}","${canary}":{"price":1,"price":2}}}`),
      await send({ payload: property() }, { query: '?unchanged=maybe' }),
      await send({ payload: canary }, { query: '?dryRun=true' }),
      await send({ payload: { contact_ref: canary } }, { feed: 'contact' }),
    ]
    assert.deepEqual(
      refused.map(({ status }) => status),
      [409, 400, 400, 400, 400, 400, 400],
    )
    const kept = await send({ payload: contact({ contact_ref: crypto.randomUUID() }) }, { feed: 'contact' })
    assert.equal(kept.status, 201)
    await node.stop()

    const own = await listOf('/v1/publications', publisher.text)
    assert.equal(own.next, null)
    assert.ok(own.items.every(({ keyId }) => keyId === publisher.keyId))
    const properties = summed(own.items.filter(({ feed }) => feed === 'property'))
    assert.deepEqual(properties.counts, [9, 3, 1, 1, 5])
    const numbers = stored.flatMap(({ text }) =>
      (
        JSON.parse(text) as { events: { sequenceNumber?: number; repeated?: true; unchanged?: true }[] }
      ).events.flatMap((event) => (event.sequenceNumber === undefined ? [] : [event.sequenceNumber])),
    )
    assert.deepEqual(properties.numbers, [Math.min(...numbers), Math.max(...numbers)])
    assert.equal(properties.warnings['unknown_field'], 1)
    const places = own.items.flatMap(({ warningPlaces }) => warningPlaces['unknown_field'] ?? [])
    assert.deepEqual(places, ['/payload/*'])
    for (const { warnings, warningPlaces } of own.items) {
      assert.deepEqual(Object.keys(warningPlaces).toSorted(), Object.keys(warnings).toSorted())
    }
    assert.deepEqual(
      properties.refusals.map(({ code }) => code),
      ['id_conflict', 'invalid_body', 'invalid_body', 'invalid_body', 'invalid_parameter'],
    )
    assert.deepEqual(
      properties.refusals.map(({ requestId }) => requestId),
      [0, 1, 2, 3, 4].map((index) => String(refused[index]?.headers['x-request-id'])),
    )
    assert.deepEqual(properties.refusals[0]?.faults, [{ pointer: '/id', code: 'id_conflict' }])
    assert.deepEqual(
      properties.refusals[3]?.faults.map(({ pointer }) => pointer),
      ['/payload/*/price'],
    )
    const contacts = summed(own.items.filter(({ feed }) => feed === 'contact'))
    assert.deepEqual(contacts.counts, [2, 1, 0, 0, 1])

    const path = `/v1/admin/tenants/${tenant.tenantId}/publications`
    const all = await listOf(`${path}?key=${publisher.keyId}`, operator.text)
    assert.deepEqual(all.items, own.items)
    assert.ok(!JSON.stringify(all).includes(canary))
    // Page by page.
    const pages: Minute[] = []
    for (let after = ''; ;) {
      const page = await listOf(`${path}?key=${publisher.keyId}&limit=1${after}`, operator.text)
      pages.push(...page.items)
      if (page.next === null) break
      after = `&after=${page.next}`
    }
    assert.deepEqual(pages, own.items)
    assert.deepEqual((await listOf(`${path}?to=2020-01-01`, operator.text)).items, [])
    const others = await listOf(`/v1/admin/tenants/${otherTenant.tenantId}/publications`, operator.text)
    assert.deepEqual(others.items, [])
  })

  it('is a publisher’s own, and each tenant’s by itself (P10, PROTOCOL §14)', async () => {
    const { tenant, otherTenant } = service()
    const ask = (key: string, query = '') => call(service(), `/v1/publications${query}`, { key })
    const reader = await ask(tenant.readKey)
    assert.deepEqual([reader.status, problemOf(reader).code], [403, 'missing_scope'])
    const both = await service().issue({
      grants: [tenant, otherTenant].map(({ tenantId }) => ({
        tenantId,
        scopes: ['property:publish'] as const,
      })),
    })
    const unnamed = await ask(both.text)
    assert.deepEqual([unnamed.status, problemOf(unnamed).code], [403, 'ambiguous_tenant'])
    const node = await service().another()
    const headers = { 'x-tenant': tenant.tenantId }
    assert.equal((await postEvents(node, { payload: property() }, { key: both.text, headers })).status, 201)
    await node.stop()
    const counts = async (tenantId: string) =>
      summed((JSON.parse((await ask(both.text, `?tenant=${tenantId}`)).text) as Publications).items).counts
    assert.deepEqual(await counts(tenant.tenantId), [1, 1, 0, 0, 0])
    assert.deepEqual(await counts(otherTenant.tenantId), [0, 0, 0, 0, 0])
    for (const query of ['?after=x', '?limit=0', '?from=yesterday', '?key=x']) {
      const answer = await ask(tenant.publishKey, query)
      assert.deepEqual([answer.status, problemOf(answer).code], [400, 'invalid_parameter'], query)
    }
  })

  it('a publisher sees the heads of its feeds, and the latest event of its properties, but of no contact (D11, PROTOCOL §14)', async () => {
    const { tenant } = service()
    const key = tenant.publishKey
    const agentRef = crypto.randomUUID()
    const contactRef = crypto.randomUUID()
    await postEvents(service(), { payload: property({ agent_ref: agentRef }) }, { key })
    await postEvents(service(), { payload: contact({ contact_ref: contactRef }) }, { key, feed: 'contact' })
    const heads = async (asking: string) =>
      (JSON.parse((await call(service(), '/v1/heads', { key: asking })).text) as { heads: unknown }).heads
    assert.deepEqual(await heads(key), await heads(tenant.readKey))
    const read = (path: string, asking = key) => call(service(), path, { key: asking })
    const latest = await read(`/v1/properties/${agentRef}`)
    assert.equal(latest.status, 200)
    assert.equal(latest.text, (await read(`/v1/properties/${agentRef}`, tenant.readKey)).text)
    for (const path of [
      `/v1/contacts/${contactRef}`,
      `/v1/properties/${agentRef}/history`,
      '/v1/property-events',
      '/v1/property-events/snapshot',
    ]) {
      const answer = await read(path)
      assert.deepEqual([answer.status, problemOf(answer).code], [403, 'missing_scope'], path)
    }
    const foreign = await read(`/v1/properties/${agentRef}`, service().otherTenant.publishKey)
    assert.equal(foreign.status, 404)
  })

  it('a key that reads one tenant and publishes for another reads as before (D11)', async () => {
    const { tenant, otherTenant }: TestService = service()
    const { text: key } = await service().issue({
      grants: [
        { tenantId: tenant.tenantId, scopes: ['property:read'] },
        { tenantId: otherTenant.tenantId, scopes: ['property:publish'] },
      ],
    })
    const agentRef = crypto.randomUUID()
    await postEvents(service(), { payload: property({ agent_ref: agentRef }) }, { key: tenant.publishKey })
    assert.equal((await call(service(), `/v1/properties/${agentRef}`, { key })).status, 200)
    const { heads } = JSON.parse((await call(service(), '/v1/heads', { key })).text) as {
      heads: { tenantId: string }[]
    }
    assert.deepEqual(
      heads.map(({ tenantId }) => tenantId),
      [tenant.tenantId],
    )
  })
})
