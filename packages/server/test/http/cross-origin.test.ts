/** Web pages of other origins that ask the service in a browser (PROTOCOL §1.9). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, listPath } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines, onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'

const site = 'https://www.example.com'
const other = 'http://localhost:3000'

const corsOf = ({ headers }: Answer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))

function listed(text: unknown): readonly string[] {
  return String(text).split(', ')
}

onTransports('a service with origins', (transport) => {
  const options = { ...transport, corsOrigins: [site, other], basePath: '/feeds' }

  it('lets their pages read answers and the headers of them, errors included (PROTOCOL §1)', async () => {
    const service = await startTestService(options)
    try {
      await call(service, '/feeds/v1/property-events', {
        method: 'POST',
        key: service.tenant.publishKey,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ payload: property() }),
      })
      for (const [path, key, status] of [
        [listPath, service.tenant.readKey, 200],
        ['/v1/property-events?after=0', service.tenant.readKey, 200],
        ['/v1/property-events/snapshot', service.tenant.readKey, 200],
        ['/v1/heads', service.tenant.readKey, 200],
        [listPath, 'pev_x', 401],
        ['/v1/property-events?after=x', service.tenant.readKey, 400],
        ['/nothing', undefined, 404],
        ['/openapi.json', undefined, 200],
      ] as const) {
        for (const origin of [site, other]) {
          const answer = await call(service, `/feeds${path}`, { key, headers: { origin } })
          assert.equal(answer.status, status, path)
          const { 'access-control-expose-headers': exposed, ...rest } = corsOf(answer)
          assert.deepEqual(rest, { 'access-control-allow-origin': origin }, path)
          for (const name of Object.keys(answer.headers))
            if (/^(?:x-feed-|x-request-id|etag|ratelimit|retry-after|x-current)/.test(name))
              assert.ok(listed(exposed).includes(name), `${name} of ${path}`)
          assert.ok(listed(answer.headers.vary).includes('origin'), path)
        }
      }
    } finally {
      await service.stop()
    }
  })

  it('answers the preflight of each path with its methods and the headers that requests have (PROTOCOL §1)', async () => {
    const service = await startTestService(options)
    try {
      for (const [path, methods] of [
        [listPath, 'GET, HEAD, OPTIONS'],
        ['/v1/property-events', 'GET, HEAD, POST, OPTIONS'],
        ['/v1/contact-events/stream', 'GET, HEAD, OPTIONS'],
        ['/v1/heads', 'GET, HEAD, OPTIONS'],
        [`/v1/properties/${crypto.randomUUID()}/history`, 'GET, HEAD, OPTIONS'],
      ] as const) {
        const headers = {
          origin: site,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'x-api-key',
        }
        const answer = await call(service, `/feeds${path}`, { method: 'OPTIONS', headers })
        assert.equal(answer.status, 204, path)
        const cors = corsOf(answer)
        assert.equal(cors['access-control-allow-origin'], site)
        assert.equal(cors['access-control-allow-methods'], methods)
        assert.equal(cors['access-control-max-age'], '600')
        for (const name of ['x-api-key', 'x-tenant', 'x-feed-min-sequence', 'if-none-match', 'last-event-id'])
          assert.ok(listed(cors['access-control-allow-headers']).includes(name), name)
        assert.equal(cors['access-control-allow-credentials'], undefined)
      }
    } finally {
      await service.stop()
    }
  })

  it('says nothing to pages of other origins, to requests of none, and of administration (PROTOCOL §1, P10)', async () => {
    const service = await startTestService(options)
    try {
      const key = service.tenant.readKey
      for (const origin of [
        'https://www.example.com.evil.example',
        'http://www.example.com',
        'https://www.example.com:8443',
        'https://WWW.example.com',
        'null',
        '*',
        '',
      ]) {
        for (const method of ['GET', 'OPTIONS']) {
          const headers = { origin, 'access-control-request-method': 'GET' }
          const answer = await call(service, `/feeds${listPath}`, { key, method, headers })
          assert.deepEqual(corsOf(answer), {}, origin)
        }
      }
      assert.deepEqual(corsOf(await call(service, `/feeds${listPath}`, { key })), {})
      for (const path of ['/v1/admin/self', '/v1/%61dmin/self', '/v1/admin/nothing']) {
        for (const method of ['GET', 'OPTIONS']) {
          const headers = { origin: site, 'access-control-request-method': 'GET' }
          const answer = await call(service, `/feeds${path}`, { key, method, headers })
          assert.deepEqual(corsOf(answer), {}, `${method} ${path}`)
        }
      }
    } finally {
      await service.stop()
    }
  })
})

onEngines('a service without origins', { byNode: true }, (service) => {
  it('says nothing to pages of any origin (PROTOCOL §1)', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin: site, 'access-control-request-method': 'GET' }
      const answer = await call(service(), listPath, { key: service().tenant.readKey, method, headers })
      assert.deepEqual(corsOf(answer), {})
      assert.ok(!listed(answer.headers.vary).includes('origin'))
    }
  })
})
