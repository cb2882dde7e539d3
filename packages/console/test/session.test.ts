/** What a session may see, and what is said when something is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { baseOf, paths, serviceBaseOf, withQuery } from '../src/base.ts'
import { frameAction } from '../src/frame/shortcuts.ts'
import { sameViewOf } from '../src/views/open-paths.ts'
import { awayFailure, failureOf } from '../src/service/failure.ts'
import { erasableFeeds, feedDoor, feedsOf, mayAdminister, seesAllTenants } from '../src/session/access.ts'
import type { Access } from '../src/session/access.ts'
import type { GrantScope } from '@property-events/protocol/wire'
import { keyFault, loginOf } from '../src/session/pasted-proof.ts'

const tenantId = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const other = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const keyWith = (...scopes: readonly GrantScope[]): Access => ({
  operator: false,
  scopes: [],
  grants: [{ tenantId, scopes }],
})

describe('what a session may see', () => {
  it('is, for a key that reads, its own feeds and no administration (P10)', () => {
    const key = keyWith('property:read')
    assert.deepEqual(feedsOf(key, tenantId), ['property'])
    assert.equal(feedDoor(key, tenantId, 'property'), 'own')
    assert.deepEqual(feedsOf(key, other), [])
    assert.equal(mayAdminister(key, 'admin:inspect', tenantId), false)
    assert.equal(seesAllTenants(key), false)
  })

  it('is, for a key that inspects or manages a tenant, that tenant, by the table of PROTOCOL §12', () => {
    const inspector = keyWith('tenant:inspect')
    assert.equal(mayAdminister(inspector, 'admin:inspect', tenantId), true)
    assert.equal(mayAdminister(inspector, 'admin:audit', tenantId), true)
    assert.equal(mayAdminister(inspector, 'admin:manage', tenantId), false)
    assert.equal(mayAdminister(inspector, 'admin:reveal', tenantId), false)
    assert.equal(mayAdminister(keyWith('tenant:inspect', 'contact:read'), 'admin:reveal', tenantId), true)
    assert.equal(mayAdminister(keyWith('tenant:manage'), 'admin:erase', tenantId), false)
    assert.equal(mayAdminister(keyWith('tenant:manage', 'contact:erase'), 'admin:erase', tenantId), true)
    assert.equal(mayAdminister(inspector, 'admin:inspect', other), false)
    assert.equal(mayAdminister(inspector, 'admin:inspect'), false)
    assert.equal(feedDoor(inspector, tenantId, 'property'), 'admin')
    assert.equal(feedDoor(inspector, tenantId, 'contact'), undefined)
  })

  it('is, for an operator, every tenant, and no feed as consumers read it (PROTOCOL §12)', () => {
    const operator: Access = { operator: true, scopes: ['admin:inspect'], grants: [] }
    assert.equal(seesAllTenants(operator), true)
    assert.equal(feedDoor(operator, tenantId, 'property'), 'admin')
    assert.equal(mayAdminister(operator, 'admin:manage', tenantId), false)
    assert.equal(seesAllTenants({ ...operator, scopes: ['admin:audit'] }), false)
  })
})

describe('what a session may erase', () => {
  it('is what its key erases, and both feeds for an operator that erases (PROTOCOL §5.7)', () => {
    assert.deepEqual(erasableFeeds(keyWith('contact:erase'), tenantId), ['contact'])
    assert.deepEqual(erasableFeeds(keyWith('property:erase', 'tenant:manage'), tenantId), ['property'])
    assert.deepEqual(erasableFeeds(keyWith('contact:erase'), other), [])
    const operator: Access = { operator: true, scopes: ['admin:erase'], grants: [] }
    assert.deepEqual(erasableFeeds(operator, tenantId), ['contact', 'property'])
  })
})

describe('a refusal', () => {
  const problem = (code: string, more: object = {}) =>
    JSON.stringify({
      type: 'x',
      title: 'x',
      status: 400,
      detail: 'The sentence.',
      code,
      requestId: 'r-1',
      ...more,
    })

  it('has the sentence of the problem, what to do, and the id for the log (D6)', () => {
    const failure = failureOf(403, problem('missing_scope'), () => null)
    assert.equal(failure.kind, 'problem')
    assert.equal(failure.sentence, 'The sentence.')
    assert.equal(failure.requestId, 'r-1')
    assert.match(failure.remedy, /scope/)
    const faults = failureOf(
      400,
      problem('invalid_parameter', { errors: [{ message: 'page is wrong' }] }),
      () => null,
    )
    assert.deepEqual(faults.faults, ['page is wrong'])
  })

  it('ends the session on a code that says the session or key has ended, and on no other 401 (D31)', () => {
    for (const code of ['console_session_ended', 'key_revoked', 'key_expired', 'key_disabled']) {
      assert.equal(failureOf(401, problem(code), () => null).kind, 'ended', code)
    }
    for (const code of ['key_scope', 'key_network', 'login_link_spent', 'unauthorized']) {
      assert.equal(failureOf(401, problem(code), () => null).kind, 'problem', code)
    }
  })

  it('says when to try again, and what to do about any code and status (D6)', () => {
    const failure = failureOf(429, problem('rate_limited'), (name) => (name === 'retry-after' ? '7' : null))
    assert.equal(failure.retryAfterSeconds, 7)
    assert.match(failure.remedy, /7 s/)
    for (const status of [400, 401, 403, 409, 500, 503]) {
      assert.notEqual(failureOf(status, problem('some_new_code'), () => null).remedy, '')
    }
  })

  it('that is not from the service is shown as such: the page of a proxy, or no answer at all (D31)', () => {
    for (const text of ['<html>Bad Gateway</html>', '', 'null', '[]', '{"detail":1}']) {
      const failure = failureOf(502, text, () => null)
      assert.equal(failure.kind, 'odd')
      assert.match(failure.sentence, /502/)
    }
    assert.equal(awayFailure().kind, 'away')
  })
})

describe('addresses of the console', () => {
  it('are below its base, with their values encoded and no dot among them (D31)', () => {
    assert.equal(baseOf('/feeds/console/'), '/feeds/console')
    assert.equal(serviceBaseOf('/feeds/console'), '/feeds')
    assert.equal(serviceBaseOf('/console'), '')
    assert.equal(withQuery('/a', { b: 'c d&e', f: undefined, g: '' }), '/a?b=c%20d%26e')
    assert.equal(
      paths.feed(tenantId, 'property', { number: 7 }),
      `/tenants/${tenantId}/feeds/property?number=7`,
    )
  })

  it('show the same view for another tenant if it has one (D31)', () => {
    assert.equal(
      sameViewOf(`/console/tenants/${tenantId}/feeds/property`, other),
      `/console/tenants/${other}/feeds/property`,
    )
    assert.equal(sameViewOf(`/console/tenants/${tenantId}/keys`, other), `/console/tenants/${other}/keys`)
    assert.equal(sameViewOf(`/console/tenants/${tenantId}/properties/${other}`, other), undefined)
    assert.equal(sameViewOf('/console/', other), undefined)
  })

  it('keep the secret of a sign-in link in the fragment only (D31)', () => {
    assert.equal(loginOf('#login=Ab-_0123456789abcdefgh'), 'Ab-_0123456789abcdefgh')
    assert.equal(loginOf('https://feed.example.com/console/#login=Ab-_01'), 'Ab-_01', 'as it is pasted')
    for (const text of ['', '#login=', '#login=a b', '#other=1', '?login=abc'])
      assert.equal(loginOf(text), undefined)
  })
})

describe('before anything is sent', () => {
  it('a text that is not a key gets a sentence about what it lacks (D11)', () => {
    assert.equal(keyFault(`pev_4fgHt8Kq2LmN_${'a'.repeat(30)}`), undefined)
    assert.match(keyFault('') ?? '', /Paste a key/)
    assert.match(keyFault('hunter2') ?? '', /not a key/)
    assert.match(keyFault('pev_4fgHt8Kq2LmN_short') ?? '', /not a whole key/)
    assert.match(keyFault(`pev_4fgHt8Kq2LmN_${'a'.repeat(30)} "x"`) ?? '', /more than a key/)
  })

  it('keyboard shortcuts open search and help, and type letters inside a field (D31)', () => {
    const press = (key: string, ctrlKey = false) => ({ key, ctrlKey, metaKey: false, altKey: false })
    assert.equal(frameAction(press('/'), false), 'find')
    assert.equal(frameAction(press('k', true), true), 'find')
    assert.equal(frameAction(press('?'), false), 'help')
    assert.equal(frameAction(press('/'), true), undefined)
    assert.equal(frameAction(press('k'), false), undefined)
  })
})
