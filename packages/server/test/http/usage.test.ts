/** How keys were used, over HTTP (PROTOCOL §14.1). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

interface Usage {
  readonly keyId: string
  readonly by: string
  readonly items: readonly {
    readonly at: string
    readonly operation: string
    readonly status: number
    readonly requests: number
    readonly bytes: number
  }[]
}

/** The hours of a test as one: it may have been two. */
function summed(items: Usage['items']) {
  const sums = new Map<string, readonly [string, number, number, number]>()
  for (const { operation, status, requests, bytes } of items) {
    const name = `${operation} ${status}`
    const [, , before, bytesBefore] = sums.get(name) ?? ['', 0, 0, 0]
    sums.set(name, [operation, status, before + requests, bytesBefore + bytes])
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

onEngines('the usage of a key', {}, (service) => {
  const usageOf = async (keyId: string, key: string, query = ''): Promise<Usage> => {
    const answer = await call(service(), `/v1/admin/keys/${keyId}/usage${query}`, { key })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Usage
  }

  it('counts requests and bytes by operation and status, refusals included, on every node (PROTOCOL §14)', async () => {
    const { tenant } = service()
    const scopes = ['property:read'] as const
    const reader = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes }] })
    const operator = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    await publish(service(), [{ payload: property({ agent_ref: crypto.randomUUID() }) }])
    const node = await service().another()
    let bytes = 0
    for (let asked = 0; asked < 3; asked += 1) {
      const answer = await call(node, listPath, { key: reader.text })
      bytes += Buffer.byteLength(answer.text)
    }
    const snapshot = await call(node, '/v1/property-events/snapshot', { key: reader.text })
    const refused = await call(node, '/api/func/api/v1/contactevents/getevents', { key: reader.text })
    const unscoped = await call(node, '/v1/heads?since=', { key: operator.text })
    assert.deepEqual([refused.status, unscoped.status], [401, 403])
    // Nobody's: the secret is wrong.
    await call(node, listPath, { key: `${reader.text.slice(0, -8)}AAAAAAAA` })
    await node.stop()

    const { items } = await usageOf(reader.keyId, operator.text)
    const counts = summed(items)
    const refusedBytes = Buffer.byteLength(refused.text)
    assert.deepEqual(counts, [
      ['listContactEvents', 401, 1, refusedBytes],
      ['listPropertyEvents', 200, 3, bytes],
      ['readPropertySnapshot', 200, 1, Buffer.byteLength(snapshot.text)],
    ])
    const hourMs = 3_600_000
    for (const { at } of items)
      assert.ok(Date.now() - Date.parse(at) < 2 * hourMs && at.endsWith(':00:00.000Z'))
    const days = await usageOf(reader.keyId, operator.text, '?by=day')
    assert.deepEqual(summed(days.items), counts)
    const own = await usageOf(operator.keyId, operator.text)
    assert.deepEqual(
      own.items.map(({ status }) => status),
      [403],
    )
    assert.deepEqual((await usageOf(reader.keyId, operator.text, '?to=2020-01-01')).items, [])
    assert.deepEqual((await usageOf(reader.keyId, operator.text, '?from=2099-01-01')).items, [])
  })

  it('is shown to operators, and to an agency of its own keys alone (P10, PROTOCOL §14)', async () => {
    const { tenant, otherTenant } = service()
    const inspects = ['tenant:inspect'] as const
    const own = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes: inspects }] })
    const foreign = await service().issue({ grants: [{ tenantId: otherTenant.tenantId, scopes: inspects }] })
    const portal = await service().issue({
      grants: [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes: ['property:read'] as const })),
    })
    const ask = (keyId: string, key: string, query = '') =>
      call(service(), `/v1/admin/keys/${keyId}/usage${query}`, { key })
    assert.equal((await ask(own.keyId, own.text)).status, 200)
    for (const keyId of [foreign.keyId, 'nobody']) {
      const answer = await ask(keyId, own.text)
      assert.deepEqual([answer.status, problemOf(answer).code], [404, 'key_not_found'])
    }
    // What it asked of another agency is nobody else's business.
    const shared = await ask(portal.keyId, own.text)
    assert.deepEqual([shared.status, problemOf(shared).code], [403, 'scope_not_held'])
    const reader = await ask(own.keyId, tenant.readKey)
    assert.deepEqual([reader.status, problemOf(reader).code], [403, 'missing_scope'])
    for (const query of ['?by=week', '?from=yesterday', '?to=', '?hours=3']) {
      const answer = await ask(own.keyId, own.text, query)
      assert.deepEqual([answer.status, problemOf(answer).code], [400, 'invalid_parameter'], query)
    }
  })
})
