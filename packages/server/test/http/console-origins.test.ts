import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { call, problemOf } from '../support/http-client.ts'
import { consoleFolder, cookieOf, fromOwnPage, postSession, signIn } from '../support/console-page.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'

const folder = consoleFolder()

describe('where the console may be opened', () => {
  const services: TestService[] = []
  const start = async (options: TestServiceOptions & { readonly url?: string } = {}) => {
    const { url, ...rest } = options
    const service = await startTestService({ console: { folder, url }, ...rest })
    services.push(service)
    return service
  }
  after(() => Promise.all(services.map((service) => service.stop())))

  /** Headers of a request to begin a session; the status and code of its answer, and how the cookie ends. */
  type Case = readonly [headers: Readonly<Record<string, string>>, status: number, code?: string]

  async function expectAll(service: TestService, cases: readonly Case[]): Promise<void> {
    for (const [headers, status, code] of cases) {
      const answer = await postSession(service, { key: service.tenant.readKey }, headers)
      const told = status === 201 ? undefined : problemOf(answer).code
      assert.deepEqual([answer.status, told], [status, code], JSON.stringify(headers))
    }
  }

  it('is on this machine by http, at any of its names and ports (PROTOCOL §15.2)', async () => {
    const service = await start()
    await expectAll(service, [
      [{}, 201],
      [{ host: 'localhost:9000', origin: 'http://localhost:9000' }, 201],
      [{ host: '[::1]', origin: 'http://[::1]' }, 201],
      [{ host: '127.0.0.2:80', origin: 'http://127.0.0.2' }, 201],
      [{ host: 'localhost:9000', origin: 'http://localhost:9001' }, 403, 'console_foreign_request'],
      [{ host: 'localhost:9000', origin: 'https://localhost:9000' }, 403, 'console_foreign_request'],
      [{ host: 'feed.example', origin: 'http://feed.example' }, 403, 'console_needs_https'],
      // A proxy that nobody has told the service of, and that keeps the host to itself.
      [{ origin: 'https://feed.example' }, 403, 'console_foreign_request'],
      [{ 'x-forwarded-proto': 'https', host: 'feed.example' }, 403, 'console_needs_https'],
    ])
  })

  it('is at the configured address, behind a proxy that passes the host on or does not (PROTOCOL §15.2)', async () => {
    const service = await start({ url: 'https://feed.example', trustedProxies: 1 })
    const origin = 'https://feed.example'
    await expectAll(service, [
      [{ host: 'feed.example', origin }, 201],
      [{ host: 'feed.example' }, 201],
      [{ host: 'Feed.Example:443', origin }, 201],
      [{ origin }, 201],
      [{}, 201],
      [{ host: 'attacker.example', origin }, 403, 'console_foreign_request'],
      [{ host: 'attacker.example', 'x-forwarded-proto': 'https' }, 403, 'console_foreign_request'],
      [{ host: 'feed.example', origin: 'http://feed.example' }, 403, 'console_foreign_request'],
    ])
    const answer = await postSession(
      service,
      { key: service.tenant.readKey },
      { host: 'feed.example', origin },
    )
    assert.match(answer.headers['set-cookie']?.[0] ?? '', /; Secure$/)
    const { session, serviceUrl }: { session: string; serviceUrl: string } = JSON.parse(answer.text)
    assert.equal(serviceUrl, 'https://feed.example')
    const headers = {
      ...fromOwnPage,
      host: 'feed.example',
      cookie: cookieOf(answer),
      'x-console-session': session,
    }
    assert.equal((await call(service, '/console/api/v1/heads', { headers })).status, 200)
  })

  it('needs https elsewhere, which only a trusted proxy can vouch for (PROTOCOL §15.2)', async () => {
    const service = await start({ trustedProxies: 1 })
    const host = 'feed.example'
    await expectAll(service, [
      [{ host, 'x-forwarded-proto': 'https' }, 201],
      [{ host, 'x-forwarded-proto': 'https', origin: 'https://feed.example' }, 201],
      [{ host, 'x-forwarded-proto': 'http, https' }, 201],
      [{ host, 'x-forwarded-proto': 'https, http' }, 403, 'console_needs_https'],
      [{ host }, 403, 'console_needs_https'],
    ])
    const insecure = await start({ url: 'http://feed.example' })
    await expectAll(insecure, [[{ host }, 403, 'console_needs_https']])
  })

  it('lets nobody guess links or sign in without end, and refuses no right key for the guesses of others (D10, PROTOCOL §15.3)', async () => {
    const service = await start({ limits: { failures: { perSecond: 0.001, burst: 5 } } })
    const guess = { login: 'A'.repeat(22) }
    const statuses: number[] = []
    for (let tries = 0; tries < 7; tries += 1) statuses.push((await postSession(service, guess)).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
    const { readKey, publishKey } = service.tenant
    const signedIn: number[] = []
    for (let tries = 0; tries < 21; tries += 1) {
      signedIn.push((await postSession(service, { key: readKey })).status)
    }
    assert.deepEqual(new Set(signedIn.slice(0, 20)), new Set([201]))
    assert.equal(signedIn[20], 429)
    await signIn(service, { key: publishKey })
  })

  it('is for no page of another origin, whatever else may be read across origins (PROTOCOL §15.2)', async () => {
    const service = await start({ corsOrigins: ['https://www.example.com'] })
    const preflight = await call(service, '/console/api/v1/heads', {
      method: 'OPTIONS',
      headers: { origin: 'https://www.example.com', 'access-control-request-method': 'GET' },
    })
    assert.equal(preflight.headers['access-control-allow-credentials'], undefined)
    assert.doesNotMatch(preflight.headers['access-control-allow-headers'] ?? '', /x-console-session/)
  })
})
