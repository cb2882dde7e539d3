import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newKeyText } from '@property-events/protocol'
import { forge } from '../keys/forge.ts'
import { call, contactListPath, getPath, listPath, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { speak } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'

const publishCall = (key?: string) => ({
  method: 'POST',
  ...(key === undefined ? {} : { key }),
  headers: { 'content-type': 'application/json' },
  body: '{}',
})

onEngines('keys', {}, (service) => {
  const spoiled = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')

  it('answers every unknown key and every wrong one with one body, and says of text that cannot be a key that it is incomplete (spec §5, D7)', async () => {
    const { readKey } = service().tenant
    const [id] = readKey.split('_', 2).slice(1)
    const wrong = forge(id ?? '')
    const detailsOf = async (keys: readonly (string | undefined)[]): Promise<ReadonlySet<string>> => {
      const bodies = new Set<string>()
      for (const key of keys) {
        for (const path of [listPath, contactListPath, `${getPath}/0194b3e0-0000-7000-8000-000000000000`]) {
          const answer = await call(service(), path, { key })
          assert.equal(answer.status, 401)
          assert.match(String(answer.headers['www-authenticate']), /x-api-key/)
          const { instance: _instance, requestId: _requestId, ...rest } = problemOf(answer)
          assert.equal(rest.code, 'unauthorized')
          bodies.add(JSON.stringify(rest))
        }
      }
      return bodies
    }
    const unwhole = [
      ' ',
      'nonsense',
      spoiled(readKey),
      readKey.slice(0, -1),
      `${readKey}0`,
      readKey.toUpperCase(),
      'pev__',
      'x'.repeat(5_000),
      'key\twith tab',
      'caf\u00e9',
    ]
    const wrapped = [`${readKey}, ${readKey}`, `Bearer ${readKey}`, `"${readKey}"`, `key=${readKey}`]
    const [unknown, cut, more, none] = [
      await detailsOf([newKeyText().text, newKeyText().text, wrong]),
      await detailsOf(unwhole),
      await detailsOf(wrapped),
      await detailsOf([undefined]),
    ]
    assert.deepEqual([unknown.size, cut.size, more.size, none.size], [1, 1, 1, 1])
    assert.match([...more][0] ?? '', /more in it than a key/)
    assert.match([...cut][0] ?? '', /not a whole key/)
    assert.match([...none][0] ?? '', /no key/)
    assert.equal((await call(service(), '/v1/property-events', publishCall())).status, 401)
  })

  it('accepts a key only in the header, and shows none in its log (spec §5, D7)', async () => {
    const { readKey } = service().tenant
    const before = service().logLines.length
    const attempts = [
      call(service(), `${listPath}?x-api-key=${readKey}&apiKey=${readKey}&${readKey}=1`),
      call(service(), listPath, { headers: { cookie: `x-api-key=${readKey}` } }),
      call(service(), listPath, { headers: { authorization: `Bearer ${readKey}` } }),
      call(service(), '/v1/property-events', {
        ...publishCall(),
        body: JSON.stringify({ 'x-api-key': readKey }),
      }),
      call(service(), `/${readKey}`),
    ]
    for (const [index, attempt] of attempts.entries()) {
      assert.equal((await attempt).status, index === 4 ? 404 : 401)
      assert.ok(!JSON.stringify(await attempt).includes(readKey))
    }
    await call(service(), listPath, { key: readKey, headers: { 'x-request-id': readKey } })
    const ignored = await call(service(), `${listPath}?${readKey}=1`, { key: readKey })
    assert.equal(ignored.headers['x-ignored-parameters'], 'pev_hidden')
    const log = service().logLines.slice(before).join('')
    assert.ok(log.includes('"status":401'))
    assert.ok(!log.includes(readKey.slice(0, 30)))
    assert.ok(!log.includes('x-api-key'))
  })

  it('refuses keys that cannot be header text, or are far too long (D7)', async () => {
    const request = (value: string | Buffer) =>
      Buffer.concat([
        Buffer.from(`GET ${listPath} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-api-key: `),
        Buffer.from(value),
        Buffer.from('\r\n\r\n'),
      ])
    assert.equal((await speak(service().port, request('a\0b'))).status, 400)
    assert.equal((await speak(service().port, request('🔑'))).status, 401)
    assert.equal((await speak(service().port, request('x'.repeat(100_000)))).status, 431)
  })

  it('says what is wrong with a key that was valid once (D7, D11)', async () => {
    const { tenant, storage } = service()
    const grants = [{ tenantId: tenant.tenantId, scopes: ['property:read', 'property:publish'] as const }]
    const expired = await service().issue({ grants, expiresMs: Date.now() - 1 })
    const revoked = await service().issue({ grants })
    await storage.keys.revokeKey(revoked.keyId, Date.now(), 'cli:test')
    for (const [{ text }, code] of [
      [expired, 'key_expired'],
      [revoked, 'key_revoked'],
    ] as const) {
      for (const answer of [
        await call(service(), listPath, { key: text }),
        await call(service(), '/v1/property-events', publishCall(text)),
      ]) {
        assert.equal(answer.status, 401)
        assert.equal(problemOf(answer).code, code)
        assert.ok(answer.headers['www-authenticate'])
      }
    }
  })

  it('disables the keys of a suspended tenant and no others (D7, D11)', async () => {
    const tenantId = '0194b3e0-0000-7000-8000-00000000beef'
    await service().storage.tenants.createTenant(
      {
        tenantId,
        name: 'Third',
        createdMs: Date.now(),
        suspended: true,
      },
      'cli:test',
    )
    const { text } = await service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    const answer = await call(service(), listPath, { key: text })
    assert.equal(answer.status, 401)
    assert.equal(problemOf(answer).code, 'key_disabled')
    assert.equal((await call(service(), listPath, { key: service().tenant.readKey })).status, 200)
  })

  it('answers 401 on the spec and 403 on our own routes if a scope is missing (D7, D9)', async () => {
    const { readKey, publishKey } = service().tenant
    const read = await call(service(), listPath, { key: publishKey })
    assert.equal(read.status, 401)
    assert.equal(problemOf(read).code, 'key_scope')
    const published = await call(service(), '/v1/property-events', publishCall(readKey))
    assert.equal(published.status, 403)
    assert.equal(problemOf(published).code, 'missing_scope')
    assert.match(problemOf(published).detail, /property:publish/)
  })

  it('serves the spec only to keys of exactly one tenant, and operator keys read nothing (D7, D11)', async () => {
    const { tenant, otherTenant } = service()
    const both = await service().issue({
      grants: [tenant, otherTenant].map(({ tenantId }) => ({
        tenantId,
        scopes: ['property:read', 'property:publish'] as const,
      })),
    })
    const operator = await service().issue({ operator: true })
    for (const key of [both.text, operator.text]) {
      const answer = await call(service(), listPath, { key })
      assert.equal(answer.status, 401)
      assert.equal(problemOf(answer).code, 'key_scope')
    }
    assert.equal(
      problemOf(await call(service(), '/v1/property-events', publishCall(both.text))).code,
      'ambiguous_tenant',
    )
    assert.equal(
      problemOf(await call(service(), '/v1/property-events', publishCall(operator.text))).code,
      'missing_scope',
    )
  })

  it('counts the tenants that grant the scope, not those of the key (D7, D11)', async () => {
    const { tenant, otherTenant } = service()
    const mixed = await service().issue({
      grants: [
        { tenantId: tenant.tenantId, scopes: ['property:read'] },
        { tenantId: otherTenant.tenantId, scopes: ['contact:read'] },
      ],
    })
    assert.equal((await call(service(), listPath, { key: mixed.text })).status, 200)
    assert.equal((await call(service(), contactListPath, { key: mixed.text })).status, 200)
  })

  it('requires a key before it looks at anything else of a known path (D7)', async () => {
    assert.equal((await call(service(), `${listPath}?page=0`)).status, 401)
    assert.equal((await call(service(), `${getPath}/x`)).status, 401)
    assert.equal(
      (await call(service(), '/v1/contact-events?nope=1', { method: 'POST', body: 'x' })).status,
      401,
    )
  })

  it('stops all new requests of a revoked key within 2 seconds, while others are in flight (D11)', async () => {
    const { tenant, storage } = service()
    const { text, keyId } = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['property:read'] }],
    })
    const inFlight = Array.from({ length: 100 }, () => call(service(), listPath, { key: text }))
    await storage.keys.revokeKey(keyId, Date.now(), 'cli:test')
    await Promise.all(inFlight)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const later = await Promise.all(
      Array.from({ length: 20 }, () => call(service(), listPath, { key: text })),
    )
    assert.deepEqual(new Set(later.map(({ status }) => status)), new Set([401]))
  })
})

describe('keys and the store', () => {
  it('refuses a mistyped key without asking the store (D11)', async () => {
    let asked = 0
    const service = await startTestService({
      wrap: (storage) => ({
        ...storage,
        [Symbol.asyncDispose]: () => storage.close(),
        keys: {
          ...storage.keys,
          findKey: async (keyId) => {
            asked += 1
            return storage.keys.findKey(keyId)
          },
        },
      }),
    })
    await publish(service, { payload: property() })
    asked = 0
    const { readKey } = service.tenant
    const mistyped = readKey.slice(0, 10) + (readKey[10] === 'a' ? 'b' : 'a') + readKey.slice(11)
    assert.equal((await call(service, listPath, { key: mistyped })).status, 401)
    assert.equal(asked, 0)
    assert.equal((await call(service, listPath, { key: readKey })).status, 200)
    assert.equal(asked, 1)
    await service.stop()
  })
})
