/** Test keys open the sandbox and nothing else, and no other key opens it (PROTOCOL §2.8). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { keyText, parseKeyText, sandboxTenantId } from '@property-events/protocol'
import { call, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

const read = ['property:read', 'contact:read'] as const
const all = [...read, 'property:publish', 'contact:publish', 'property:erase', 'contact:erase'] as const

/** The key with the other prefix, and the checksum that goes with it. */
function turned(text: string): string {
  const parts = parseKeyText(text)
  assert.ok(parts !== undefined)
  return keyText(parts, !parts.isTest)
}

async function makeSandbox({ storage }: TestService): Promise<void> {
  const tenant = { tenantId: sandboxTenantId, name: 'Sandbox', createdMs: Date.now(), suspended: false }
  await storage.tenants.createTenant(tenant, 'cli:test')
}

onEngines('test keys', { testKeys: true }, (service) => {
  const live = randomUUID()
  const shown = randomUUID()
  const ids = { live: randomUUID(), sandbox: randomUUID() }
  let testKey = ''
  let liveKey = ''
  before(async () => {
    await makeSandbox(service())
    testKey = (await service().issue({ grants: [{ tenantId: sandboxTenantId, scopes: read }] })).text
    liveKey = service().tenant.readKey
    const publishTest = await service().issue({
      grants: [{ tenantId: sandboxTenantId, scopes: ['property:publish'] }],
    })
    await publish(service(), [{ id: ids.live, payload: { agent_ref: live, published: true } }])
    const key = publishTest.text
    await publish(service(), [{ id: ids.sandbox, payload: { agent_ref: shown, published: true } }], { key })
  })

  it('say that they are test keys, and others do not (PROTOCOL §2.8)', () => {
    assert.match(testKey, /^pev_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{30}$/)
    assert.match(liveKey, /^pev_[0-9A-Za-z]{12}_[0-9A-Za-z]{30}$/)
  })

  it('read the sandbox through every operation, and nothing live; live keys the other way round (P10)', async () => {
    const list = '/api/func/api/v1/events/getevents'
    for (const [key, own, ownId, foreign, foreignId] of [
      [testKey, shown, ids.sandbox, live, ids.live],
      [liveKey, live, ids.live, shown, ids.sandbox],
    ] as const) {
      for (const path of [
        list,
        `${list}?apiEventType=property&from=2020-01-01`,
        `/api/func/api/v1/events/geteventbyid/${ownId}`,
        '/v1/property-events?after=0',
        '/v1/property-events/snapshot',
        `/v1/properties/${own}`,
        `/v1/properties/${own}/history`,
      ]) {
        const { status, text } = await call(service(), path, { key })
        assert.equal(status, 200, `${path}: ${text}`)
        assert.ok(text.includes(own), path)
        assert.ok(!text.includes(foreign), path)
      }
      for (const [path, status] of [
        [`/api/func/api/v1/events/geteventbyid/${foreignId}`, 404],
        [`/v1/properties/${foreign}`, 404],
      ] as const) {
        const answer = await call(service(), path, { key })
        assert.equal(answer.status, status, path)
        assert.ok(!answer.text.includes('"payload"'))
      }
      const heads = await call(service(), '/v1/heads', { key })
      assert.equal(heads.text.includes(sandboxTenantId), key === testKey)
      assert.equal(heads.text.includes(service().tenant.tenantId), key === liveKey)
    }
  })

  it('publish and erase nothing: they have no scope for it (D7, P10)', async () => {
    const answer = await call(service(), '/v1/property-events', {
      method: 'POST',
      key: testKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { agent_ref: shown, published: false } }),
    })
    assert.equal(answer.status, 403)
    assert.match(answer.text, /missing_scope/)
  })

  it('do not become keys of the other side by another prefix, by a grant or by a header (D7, P10)', async () => {
    const { tenantId } = service().tenant
    const both = [tenantId, sandboxTenantId].map((one) => ({ tenantId: one, scopes: all }))
    const mixed = (await service().issue({ grants: both })).text
    for (const key of [turned(testKey), turned(liveKey), mixed, turned(mixed)]) {
      for (const path of ['/api/func/api/v1/events/getevents', '/v1/heads', '/v1/property-events?after=0']) {
        for (const headers of [{}, { 'x-tenant': tenantId }, { 'x-tenant': sandboxTenantId }]) {
          const { status, text } = await call(service(), path, { key, headers })
          assert.equal(status, 401, text)
          assert.match(text, /"code":"unauthorized"/)
        }
      }
    }
    const elsewhere = await call(service(), '/api/func/api/v1/events/getevents', {
      key: testKey,
      headers: { 'x-tenant': tenantId },
    })
    assert.equal(elsewhere.status, 401)
    const sideways = await call(service(), '/api/func/api/v1/events/getevents', {
      key: liveKey,
      headers: { 'x-tenant': sandboxTenantId },
    })
    assert.equal(sideways.status, 401)
  })
})

describe('test keys of a service that does not offer them', () => {
  it('are refused with what to do, without a question to the store (D7, PROTOCOL §2.8)', async () => {
    let asked = 0
    const service = await startTestService({
      wrap: (storage) => ({
        ...storage,
        keys: {
          ...storage.keys,
          findKey: (keyId) => {
            asked += 1
            return storage.keys.findKey(keyId)
          },
        },
      }),
    })
    await makeSandbox(service)
    const { text: key } = await service.issue({ grants: [{ tenantId: sandboxTenantId, scopes: read }] })
    const { status, text, headers } = await call(service, '/api/func/api/v1/events/getevents', { key })
    assert.equal(status, 401)
    assert.match(text, /This is a test key, and this service takes no test keys\..*--test-keys/)
    assert.ok(headers['www-authenticate'] !== undefined)
    assert.equal(asked, 0)
    assert.equal((await call(service, '/v1/heads', { key: service.tenant.readKey })).status, 200)
    await service.stop()
  })
})
