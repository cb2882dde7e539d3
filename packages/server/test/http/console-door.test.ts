import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import { makeLoginLink } from '../../src/console/sign-in.ts'
import { call, contactListPath, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import {
  atDoor,
  consoleFolder,
  fromOwnPage,
  getSession,
  postSession,
  sessionHeaders,
  signIn,
} from '../support/console-page.ts'
import type { SignedIn } from '../support/console-page.ts'
import { openStream } from '../support/event-stream.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const folder = consoleFolder()
const minute = 60_000
const hour = 60 * minute

/** What the service takes for the time. */
let aheadMs = 0
const clock = (): number => Date.now() + aheadMs

onEngines('the door of the console', { console: { folder }, clock }, (given) => {
  it('signs in with a key, and lets the page do what the key may (PROTOCOL §15.3)', async () => {
    const { port, tenant, storage } = given()
    const session = await signIn({ port }, { key: tenant.readKey })
    const { storeId } = storage.settings
    assert.match(
      session.answer.headers['set-cookie']?.[0] ?? '',
      new RegExp(
        `^property-events-console-${storeId}=[\\w-]{43}; Path=/console; Max-Age=43200; HttpOnly; SameSite=Strict$`,
      ),
    )
    assert.equal(session.answer.headers['cache-control'], 'no-store')
    assert.match(session.half, /^[\w-]{43}$/)
    const read = await getSession({ port }, session)
    assert.equal(read.status, 200)
    const { session: _, ...members } = JSON.parse(session.answer.text)
    const { idleEndsAt: __, ...now } = JSON.parse(read.text)
    const { idleEndsAt: ___, ...then } = members
    assert.deepEqual({ ...now, key: undefined }, { ...then, key: undefined })
    const self = await call({ port }, '/v1/admin/self', { key: tenant.readKey })
    assert.deepEqual({ ...now.key, lastUsedAt: null }, { ...JSON.parse(self.text), lastUsedAt: null })
    assert.equal(Date.parse(now.expiresAt) - Date.parse(now.createdAt), 12 * hour)
    assert.equal(Date.parse(now.freshUntil) - Date.parse(now.createdAt), 5 * minute)
  })

  it('has the same operations behind it, with the scopes, the limits and the audit of its key (D31, PROTOCOL §15.2)', async () => {
    const service = given()
    const { port, tenant } = service
    const target = { port, tenant }
    await publish(target, event())
    const read = await signIn({ port }, { key: tenant.readKey })
    const inFront = await call({ port }, `${listPath}?pageSize=10`, { key: tenant.readKey })
    const behind = await atDoor({ port }, read, `${listPath}?pageSize=10`)
    assert.equal(behind.status, 200)
    assert.deepEqual(behind.body, inFront.body)
    assert.equal(behind.headers.etag, inFront.headers.etag)
    assert.ok(behind.headers['ratelimit'])
    const spelt = await atDoor({ port }, read, listPath.toUpperCase())
    assert.deepEqual(pageOf(spelt).items, pageOf(inFront).items)
    const unchanged = await atDoor({ port }, read, `${listPath}?pageSize=10`, {
      headers: { 'if-none-match': inFront.headers.etag ?? '' },
    })
    assert.equal(unchanged.status, 304)
    const denied = await atDoor({ port }, read, '/v1/property-events', { method: 'POST', json: event() })
    assert.deepEqual([denied.status, problemOf(denied).code], [403, 'missing_scope'])
    const heads = await atDoor({ port }, read, '/v1/heads')
    assert.equal(heads.status, 200)

    const write = await signIn({ port }, { key: tenant.publishKey })
    const stored = await atDoor({ port }, write, '/v1/property-events', { method: 'POST', json: event() })
    assert.equal(stored.status, 201, stored.text)

    const operator = await service.issue({ operator: true, adminScopes: [...adminScopes] })
    const admin = await signIn({ port }, { key: operator.text })
    const name = `Made in a browser ${randomUUID()}`
    const made = await atDoor({ port }, admin, '/v1/admin/tenants', { method: 'POST', json: { name } })
    assert.equal(made.status, 201, made.text)
    const { tenantId }: { tenantId: string } = JSON.parse(made.text)
    const audit = await atDoor({ port }, admin, `/v1/admin/audit?tenant=${tenantId}`)
    assert.match(audit.text, new RegExp(`"key:${operator.keyId}"`))

    for (const path of ['/docs', '/openapi.json', '/console/session', '/console/api/v1/heads']) {
      assert.equal((await atDoor({ port }, read, path)).status, 404, path)
    }
  })

  it('signs in with a link once, within ten minutes (PROTOCOL §15.3)', async () => {
    const service = given()
    const { port, storage } = service
    const { keyId } = await service.issue({ operator: true, adminScopes: [...adminScopes] })
    const link = (): Promise<string> => makeLoginLink(storage.consoleSessions, keyId, clock())
    const secret = await link()
    const both = await Promise.all([
      postSession({ port }, { login: secret }),
      postSession({ port }, { login: secret }),
    ])
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 401],
    )
    const late = await link()
    aheadMs += 10 * minute
    const refused = [
      await postSession({ port }, { login: secret }),
      await postSession({ port }, { login: late }),
      await postSession({ port }, { login: 'AAAAAAAAAAAAAAAAAAAAAA' }),
      await postSession({ port }, { login: 'x' }),
    ]
    for (const answer of refused) {
      assert.deepEqual([answer.status, problemOf(answer).code], [401, 'login_link_spent'])
      assert.equal(answer.headers['set-cookie'], undefined)
    }
    const audit = await storage.audit.read({
      first: 'newest',
      limit: 1,
      target: keyId,
      action: 'session.begun',
    })
    assert.ok(audit !== 'unknownRow')
    assert.deepEqual(
      audit.map(({ actor, detail }) => [actor, detail['by']]),
      [[`key:${keyId}`, 'link']],
    )
  })

  it('accepts no half of a session, nothing from another page, and no name of another host (PROTOCOL §15.2)', async () => {
    const service = given()
    const { port, tenant } = service
    const session = await signIn({ port }, { key: tenant.publishKey })
    const other = await signIn({ port }, { key: tenant.publishKey })
    // Whoever has the cookie can work out which mark its half ends with, and not what comes before.
    const bytesOf = ({ half }: typeof session) => Buffer.from(half, 'base64url')
    const [own, others] = [bytesOf(session), bytesOf(other)]
    const guessed = Buffer.concat([others.subarray(0, 24), own.subarray(24)]).toString('base64url')
    const whole = sessionHeaders(session)
    const { 'sec-fetch-site': _, ...withoutSite } = whole
    const origin = `http://127.0.0.1:${port}`
    const refused: readonly (readonly [Record<string, string>, number, string])[] = [
      [{ ...fromOwnPage, cookie: session.cookie }, 401, 'console_session_ended'],
      [{ ...fromOwnPage, 'x-console-session': session.half }, 401, 'console_session_ended'],
      [{ ...whole, 'x-console-session': other.half }, 401, 'console_session_ended'],
      [{ ...whole, 'x-console-session': guessed }, 401, 'console_session_ended'],
      [{ ...whole, 'x-console-session': 'x' }, 401, 'console_session_ended'],
      [{ ...whole, cookie: other.cookie }, 401, 'console_session_ended'],
      [{ ...whole, cookie: session.cookie.replace(/=.*/, `=${session.half}`) }, 401, 'console_session_ended'],
      [{ ...fromOwnPage, 'x-api-key': tenant.publishKey }, 401, 'console_session_ended'],
      [{ ...whole, 'sec-fetch-site': 'same-site' }, 403, 'console_foreign_request'],
      [{ ...whole, 'sec-fetch-site': 'cross-site' }, 403, 'console_foreign_request'],
      [{ ...whole, 'sec-fetch-site': 'none' }, 403, 'console_foreign_request'],
      [withoutSite, 403, 'console_foreign_request'],
      [{ ...whole, origin: `http://127.0.0.1:${port + 1}` }, 403, 'console_foreign_request'],
      [{ ...withoutSite, origin: 'http://attacker.example' }, 403, 'console_foreign_request'],
      [{ ...withoutSite, origin: 'null' }, 403, 'console_foreign_request'],
      [{ ...whole, host: 'attacker.example' }, 403, 'console_needs_https'],
      [{ ...whole, host: `127.0.0.1.attacker.example:${port}`, origin }, 403, 'console_needs_https'],
      [{ ...whole, 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
      [{ ...whole, 'content-type': 'application/x-ndjson' }, 415, 'unsupported_media_type'],
      [{ ...whole, 'content-type': '' }, 415, 'unsupported_media_type'],
    ]
    const before = await headOf(service)
    for (const [headers, status, code] of refused) {
      const body = JSON.stringify(event())
      const sent = { 'content-type': 'application/json', ...headers }
      const answer = await call({ port }, '/console/api/v1/property-events', {
        method: 'POST',
        headers: sent,
        body,
      })
      assert.deepEqual([answer.status, problemOf(answer).code], [status, code], JSON.stringify(headers))
      // Neither does it end the session, nor begin one.
      const out = await call({ port }, '/console/session', { method: 'DELETE', headers: sent })
      assert.equal(out.status, status, JSON.stringify(headers))
    }
    assert.equal(await headOf(service), before)
    const fine = [whole, { ...withoutSite, origin }, { ...whole, host: `localhost:${port}` }]
    for (const headers of fine) {
      const path = '/console/api/v1/admin/self'
      assert.equal((await call({ port }, path, { headers })).status, 200, JSON.stringify(headers))
    }
  })

  it('keeps a person signed in whatever other cookies of its name the browser sends, and in whatever order (PROTOCOL §15.2)', async () => {
    const { port, tenant } = given()
    const session = await signIn({ port }, { key: tenant.readKey })
    const other = await signIn({ port }, { key: tenant.readKey })
    const [name = ''] = session.cookie.split('=')
    // Another port of the host, or a longer path, can plant them: a browser sends those of longer paths and older ones first.
    const planted = ['', 'x', `"${'a'.repeat(41)}"`, 'a'.repeat(43), 'Hên wefan £'].map(
      (value) => `${name}=${value}`,
    )
    const many = Array.from({ length: 60 }, (_, n) => `${name}=${String(n).padStart(43, 'b')}`)
    for (const before of [planted, many, [other.cookie]]) {
      for (const cookies of [
        [...before, session.cookie],
        [session.cookie, ...before],
      ]) {
        const cookie = Buffer.from(cookies.join('; ')).toString('latin1')
        const answer = await getSession({ port }, { ...session, cookie })
        assert.equal(answer.status, 200, cookie.slice(0, 200))
      }
    }
    const without = await getSession(
      { port },
      { ...session, cookie: [...planted, ...many, other.cookie].join('; ').replaceAll(/[^ -~]/g, '') },
    )
    assert.deepEqual([without.status, problemOf(without).code], [401, 'console_session_ended'])
  })

  it('looks at cookies nowhere else (D31, PROTOCOL §15.2)', async () => {
    const { port, tenant } = given()
    const session = await signIn({ port }, { key: tenant.readKey })
    for (const path of [listPath, contactListPath, '/v1/heads', '/v1/admin/self']) {
      const answer = await call({ port }, path, { headers: sessionHeaders(session) })
      assert.deepEqual([answer.status, problemOf(answer).code], [401, 'unauthorized'], path)
    }
  })

  it('requires a fresh session to reveal a contact, to erase and to make operator keys (PROTOCOL §15.4)', async () => {
    const service = given()
    const { port, tenant } = service
    const person = contact()
    await publish({ port, tenant }, { payload: person }, { feed: 'contact' })
    const operator = await service.issue({ operator: true, adminScopes: [...adminScopes] })
    const spare = await service.issue({ operator: true, adminScopes: [...adminScopes] })
    const reveal = {
      method: 'POST',
      path: `/v1/admin/tenants/${tenant.tenantId}/contacts/${String(person['contact_ref'])}/reveal`,
      json: { reason: 'support' },
      status: 200,
    }
    const newKey = { operator: true, scopes: ['admin:inspect'], label: 'desk' }
    const make = { method: 'POST', path: '/v1/admin/keys', json: newKey, status: 201 }
    const rotate = {
      method: 'POST',
      path: `/v1/admin/keys/${spare.keyId}/rotate`,
      json: { overlapHours: 1 },
      status: 201,
    }
    const eraseIt = { feed: 'contact', subjectId: person['contact_ref'], reason: 'data_subject_request' }
    const erase = { method: 'POST', path: '/v1/erasures', json: eraseIt, status: 202 }
    const asked = [
      [operator.text, reveal],
      [operator.text, make],
      [operator.text, rotate],
      [tenant.eraseKey, erase],
    ] as const
    for (const [key, { method, path, json, status }] of asked) {
      const session = await signIn({ port }, { key })
      aheadMs += 5 * minute
      const stale = await atDoor({ port }, session, path, { method, json })
      assert.deepEqual([stale.status, problemOf(stale).code], [403, 'console_needs_fresh_sign_in'], path)
      // Signing in again ends the session before.
      const again = await postSession({ port }, { key }, sessionHeaders(session))
      assert.equal(again.status, 201)
      assert.equal((await getSession({ port }, session)).status, 401)
      const fresh = {
        cookie: again.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
        half: JSON.parse(again.text).session,
      }
      assert.equal((await atDoor({ port }, fresh, path, { method, json })).status, status, path)
    }
    const session = await signIn({ port }, { key: operator.text })
    aheadMs += 5 * minute
    const keyOfTenant = { grants: [{ tenantId: tenant.tenantId, scopes: ['property:read'] }], label: 'site' }
    const made = await atDoor({ port }, session, '/v1/admin/keys', { method: 'POST', json: keyOfTenant })
    assert.equal(made.status, 201, made.text)
    const counted = await signIn({ port }, { key: tenant.eraseKey })
    aheadMs += 5 * minute
    const dry = await atDoor({ port }, counted, '/v1/erasures?dryRun=true', { method: 'POST', json: eraseIt })
    assert.equal(dry.status, 200, dry.text)
  })

  it('ends a session on signing out, after an hour without a request, and after twelve (PROTOCOL §15.3)', async () => {
    const { port, tenant } = given()
    const left = await signIn({ port }, { key: tenant.readKey })
    const out = await call({ port }, '/console/session', { method: 'DELETE', headers: sessionHeaders(left) })
    assert.equal(out.status, 204)
    assert.match(
      out.headers['set-cookie']?.[0] ?? '',
      /=; Path=\/console; Max-Age=0; HttpOnly; SameSite=Strict$/,
    )
    assertEnded(await getSession({ port }, left))
    assertEnded(await atDoor({ port }, left, '/v1/admin/self'))

    const idle = await signIn({ port }, { key: tenant.readKey })
    const used = await signIn({ port }, { key: tenant.readKey })
    for (let minutes = 0; minutes < 12 * 60 - 50; minutes += 50) {
      aheadMs += 50 * minute
      assert.equal((await atDoor({ port }, used, '/v1/admin/self')).status, 200, `${minutes}`)
      if (minutes > 0) assertEnded(await atDoor({ port }, idle, '/v1/admin/self'))
    }
    aheadMs += 50 * minute
    assertEnded(await atDoor({ port }, used, '/v1/admin/self'))
  })

  it('ends with its key on every node within 2 s, and so does what waits (D11, PROTOCOL §15.3)', async () => {
    const service = given()
    const { port, tenant, storage } = service
    const grants = [{ tenantId: tenant.tenantId, scopes: ['property:read'] }] as const
    const node = await service.another()
    try {
      const key = await service.issue({ grants })
      const session = await signIn({ port }, { key: key.text })
      assert.equal((await atDoor(node, session, '/v1/heads')).status, 200)
      const path = '/console/api/v1/property-events/stream?after=0'
      const stream = await openStream(node, path, { headers: sessionHeaders(session) })
      assert.equal(stream.status, 200)
      await storage.keys.revokeKey(key.keyId, Date.now(), 'cli:test')
      const revokedMs = performance.now()
      await until(async () => (await atDoor(node, session, '/v1/heads')).status === 401)
      assert.ok(performance.now() - revokedMs < 30_000)
      assert.equal(problemOf(await atDoor(node, session, '/v1/heads')).code, 'key_revoked')
      assert.equal(problemOf(await getSession(node, session)).code, 'key_revoked')
      await stream.until(({ hasEnded }) => hasEnded, 'the stream has ended')

      const other = await signIn({ port }, { key: (await service.issue({ grants })).text })
      const open = await openStream(node, path, { headers: sessionHeaders(other) })
      const out = await call({ port }, '/console/session', {
        method: 'DELETE',
        headers: sessionHeaders(other),
      })
      assert.equal(out.status, 204)
      await open.until(({ hasEnded }) => hasEnded, 'the stream of who has signed out has ended')
      await until(async () => (await getSession(node, other)).status === 401)
    } finally {
      await node.stop()
    }
  })

  it('refuses keys that have ended, come from another network or are invalid, and says which (D7, PROTOCOL §15.3)', async () => {
    const service = given()
    const { port, tenant } = service
    const grants = [{ tenantId: tenant.tenantId, scopes: ['property:read'] }] as const
    const elsewhere = await service.issue({ grants, networks: ['192.0.2.0/24'] })
    const expired = await service.issue({ grants, expiresMs: clock() - 1 })
    const refused: readonly (readonly [object, number, string])[] = [
      [{ key: elsewhere.text }, 401, 'key_network'],
      [{ key: expired.text }, 401, 'key_expired'],
      [{ key: `${tenant.readKey}x` }, 401, 'unauthorized'],
      [{ key: 'no key' }, 401, 'unauthorized'],
      [{}, 400, 'invalid_body'],
      [{ key: 1 }, 400, 'invalid_body'],
      [{ key: tenant.readKey, login: 'x' }, 400, 'invalid_body'],
      [{ password: 'x' }, 400, 'invalid_body'],
      [[], 400, 'invalid_body'],
    ]
    for (const [body, status, code] of refused) {
      const answer = await postSession({ port }, body)
      assert.deepEqual([answer.status, problemOf(answer).code], [status, code], JSON.stringify(body))
      assert.equal(answer.headers['set-cookie'], undefined)
    }
  })

  it('keeps hashes of secrets alone, and writes none into the log (D11, PROTOCOL §15.3)', async () => {
    const { port, tenant, storage, logLines } = given()
    const session: SignedIn = await signIn({ port }, { key: tenant.readKey })
    await atDoor({ port }, session, '/v1/heads')
    const cookie = session.cookie.split('=')[1] ?? ''
    assert.equal(await storage.consoleSessions.find(cookie), undefined)
    const log = logLines.join('')
    for (const secret of [cookie, session.half, tenant.readKey]) assert.ok(!log.includes(secret))
  })
})

function event(): object {
  return { payload: property() }
}

function assertEnded(answer: Answer): void {
  assert.deepEqual([answer.status, problemOf(answer).code], [401, 'console_session_ended'])
  assert.match(answer.headers['www-authenticate'] ?? '', /^ApiKey /)
}

async function headOf({ port, tenant }: TestService): Promise<string | undefined> {
  const { headers } = await call({ port }, `${listPath}?pageSize=1`, { key: tenant.readKey })
  const head = headers['x-feed-head']
  return Array.isArray(head) ? head[0] : head
}
