/** Keys: how each stands, how it was used, and making one. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Key } from '@property-events/protocol/wire'
import {
  changeFormOf,
  emptyForm,
  firstRequest,
  readKeyChange,
  readKeyForm,
  serviceFaults,
} from '../../src/views/keys/new-key.ts'
import { givenBy, givesAllOf, givesElsewhere } from '../../src/views/keys/key-scopes.ts'
import type { Giver } from '../../src/views/keys/key-scopes.ts'
import { keyLines, keyState, leftText, scopeWords, stateWords } from '../../src/views/keys/key-state.ts'
import type { ChangeForm, KeyForm } from '../../src/views/keys/new-key.ts'
import { fieldTime } from '../../src/words/times.ts'
import { usageBars, usageDays, usageRows, usageWords } from '../../src/views/keys/usage.ts'

const nowMs = Date.parse('2026-03-01T09:30:00Z')
const tenantId = '5f0f1a52-6f0e-4c83-8a44-c2be8a0a83e1'
const ago = (days: number): string => new Date(nowMs - days * 86_400_000).toISOString()

const key: Key = {
  keyId: '7Hq2aaaaaaaa',
  label: 'website',
  operator: false,
  scopes: [],
  grants: [{ tenantId, scopes: ['property:read'] }],
  networks: [],
  rate: null,
  createdAt: ago(200),
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: ago(0),
  replaces: null,
}

const states: readonly (readonly [what: string, key: Partial<Key>, by: string | undefined, words: string])[] =
  [
    ['in use', {}, undefined, 'active'],
    ['new', { createdAt: ago(1), lastUsedAt: null }, undefined, 'active'],
    ['revoked', { revokedAt: ago(2), expiresAt: ago(1) }, undefined, 'revoked 2 d ago'],
    ['at its end', { expiresAt: ago(0) }, undefined, 'ended 0 s ago'],
    ['rotated', { expiresAt: ago(-0.884722) }, 'new', 'ends in 21 h 14 min'],
    ['rotated, of which the end is near', { expiresAt: ago(-0.0005) }, 'new', 'ends in 44 s'],
    ['ending soon', { expiresAt: ago(-6) }, undefined, 'ends in 6 d'],
    ['ending some day', { expiresAt: ago(-15) }, undefined, 'active'],
    ['not used for long', { lastUsedAt: ago(90) }, undefined, 'not used for 90 d'],
    ['used 89 days ago', { lastUsedAt: ago(89) }, undefined, 'active'],
    ['never used', { createdAt: ago(120), lastUsedAt: null }, undefined, 'never used in 120 d'],
    ['with times that are none', { lastUsedAt: 'x', createdAt: 'y', expiresAt: 'z' }, undefined, 'active'],
  ]

describe('a key', () => {
  for (const [what, changed, by, words] of states) {
    it(`${what} is "${words}" (PROTOCOL §12.4)`, () => {
      assert.equal(stateWords(keyState({ ...key, ...changed }, by, nowMs), nowMs), words)
    })
  }

  it('is listed above those that it replaced, and keys that have ended are left out (PROTOCOL §12.4)', () => {
    const keys = [
      { ...key, keyId: 'a', expiresAt: ago(3) },
      { ...key, keyId: 'other' },
      { ...key, keyId: 'b', replaces: 'a', expiresAt: ago(-1) },
      { ...key, keyId: 'c', replaces: 'b' },
      { ...key, keyId: 'loop1', replaces: 'loop2' },
      { ...key, keyId: 'orphan', replaces: 'of another page' },
    ]
    const shown = (withEnded: boolean) =>
      keyLines(keys, nowMs, () => withEnded).map(
        ({ key: { keyId }, isOld }) => `${isOld ? '└ ' : ''}${keyId}`,
      )
    assert.deepEqual(shown(false), ['orphan', 'loop1', 'c', '└ b', 'other'])
    assert.deepEqual(shown(true), ['orphan', 'loop1', 'c', '└ b', '└ a', 'other'])
  })

  it('counts down in its two largest units (PROTOCOL §12.4)', () => {
    const texts = [0, 9_000, 42 * 60_000 + 10_000, 3_600_000, 6 * 86_400_000 + 10_800_000, 400 * 86_400_000]
    assert.deepEqual(texts.map(leftText), ['0 s', '9 s', '42 min 10 s', '1 h', '6 d 3 h', '400 d'])
  })

  it('may do what its grant for the tenant says, or its scopes as an operator key (PROTOCOL §12.4)', () => {
    const other = { tenantId: 'other', scopes: ['contact:read'] } as const
    assert.equal(scopeWords({ ...key, grants: [...key.grants, other] }, tenantId), 'property:read')
    assert.equal(
      scopeWords({ ...key, grants: [...key.grants, other] }, undefined),
      'property:read, contact:read',
    )
    assert.equal(
      scopeWords({ ...key, operator: true, scopes: ['admin:audit'], grants: [] }, undefined),
      'admin:audit',
    )
  })
})

describe('the use of a key', () => {
  const item = (at: string, operation: string, status: number, requests: number) => ({
    at,
    operation,
    status,
    requests,
    bytes: requests * 10,
  })
  const items = [
    item('2026-02-28T00:00:00.000Z', 'listPropertyEvents', 200, 100),
    item('2026-03-01T00:00:00.000Z', 'listPropertyEvents', 200, 50),
    item('2026-03-01T00:00:00.000Z', 'listPropertyEvents', 401, 1),
    item('2025-01-01T00:00:00.000Z', 'listPropertyEvents', 200, 7),
  ]

  it('has a bar for each of 30 days, with a part for refused requests (PROTOCOL §14.1)', () => {
    const days = usageDays(items, nowMs)
    assert.equal(days.length, 30)
    assert.deepEqual(days.slice(-2), [
      { day: '2026-02-28', requests: 100, refused: 0 },
      { day: '2026-03-01', requests: 51, refused: 1 },
    ])
    const bars = usageBars(days, { width: 120, height: 20 })
    assert.deepEqual(
      bars.slice(-3).map(({ y, height, refusedHeight }) => [y, height, refusedHeight]),
      [
        [20, 0, 0],
        [0, 20, 0],
        [9.8, 10.2, 1],
      ],
    )
    assert.equal(usageWords(days), '151 requests in 30 days, 1 refused')
    assert.equal(usageWords(usageDays([], nowMs)), '0 requests in 30 days')
  })

  it('is summed by operation and status, the most frequent first (PROTOCOL §14.1)', () => {
    assert.deepEqual(
      usageRows(items).map(({ status, requests, bytes }) => [status, requests, bytes]),
      [
        [200, 157, 1_570],
        [401, 1, 10],
      ],
    )
  })
})

describe('a new key', () => {
  const form = { ...emptyForm, label: ' Website ' }
  const other = '8c0f1a52-6f0e-4c83-8a44-c2be8a0a83e2'
  const operator = { operator: true, scopes: ['admin:manage', 'admin:inspect'], grants: [] }
  const bodyOf = (given: KeyForm, of: string | undefined = tenantId) => {
    const reading = readKeyForm(given, of, operator, nowMs)
    assert(reading.kind === 'body', JSON.stringify(reading))
    return reading.body
  }
  const faultsOf = (given: Partial<KeyForm>, giver: Giver = operator) => {
    const reading = readKeyForm({ ...form, ...given }, tenantId, giver, nowMs)
    assert(reading.kind === 'faults', JSON.stringify(reading))
    return reading.faults
  }

  it('is requested with what was filled in (PROTOCOL §12.4)', () => {
    const grant = { tenantId, scopes: ['property:read'] }
    assert.deepEqual(bodyOf(form), { label: 'Website', grants: [grant] })
    const limited = {
      ...form,
      ends: fieldTime('2026-03-31T09:30Z'),
      perSecond: '5',
      burst: '20',
      branches: ' Norwich \n\nAylsham\nNorwich',
      networks: '192.0.2.0/24',
    }
    assert.deepEqual(bodyOf(limited), {
      label: 'Website',
      grants: [{ ...grant, branches: ['Norwich', 'Aylsham'] }],
      expiresAt: '2026-03-31T09:30Z',
      rate: { perSecond: 5, burst: 20 },
      networks: ['192.0.2.0/24'],
    })
    assert.deepEqual(bodyOf({ ...form, tenants: `${other}\n` }), {
      label: 'Website',
      grants: [grant, { ...grant, tenantId: other }],
    })
  })

  it('is an operator key if it has no agency (PROTOCOL §12.4)', () => {
    const reading = readKeyForm({ ...form, scopes: ['admin:inspect'] }, undefined, operator, nowMs)
    assert.deepEqual(reading, {
      kind: 'body',
      body: { label: 'Website', operator: true, scopes: ['admin:inspect'] },
    })
  })

  it('can be limited to roles and fields of contacts only if it reads contacts (PROTOCOL §12.4)', () => {
    const limits = { roles: ['vendor'], fields: ['last_name'] }
    const contacts = { ...form, scopes: ['contact:read'], ...limits }
    assert.deepEqual(bodyOf(contacts), {
      label: 'Website',
      grants: [{ tenantId, scopes: ['contact:read'], contact: limits }],
    })
    assert.deepEqual(bodyOf({ ...contacts, roles: [] }), {
      label: 'Website',
      grants: [{ tenantId, scopes: ['contact:read'], contact: { fields: ['last_name'] } }],
    })
    assert.deepEqual(bodyOf({ ...form, ...limits }), {
      label: 'Website',
      grants: [{ tenantId, scopes: ['property:read'] }],
    })
  })

  it('is refused with a sentence at each field that is wrong (PROTOCOL §12.4)', () => {
    const wrong = { label: ' ', scopes: [], ends: '2026-02-28T09:00', perSecond: '0', burst: '1.5' }
    assert.deepEqual(
      faultsOf(wrong).map(({ field }) => field),
      ['label', 'ends', 'perSecond', 'burst', 'scopes'],
    )
    assert.deepEqual(
      faultsOf({ perSecond: '5' }).map(({ field }) => field),
      ['burst'],
    )
    const [unlimited] = faultsOf({ scopes: ['contact:read'], branches: 'x' })
    assert.match(unlimited?.message ?? '', /Create another key for contact:read/)
    assert.match(faultsOf({ branches: 'x', tenants: other })[0]?.message ?? '', /those of one agency/)
    assert.match(faultsOf({ tenants: 'Quillon' })[0]?.message ?? '', /^Quillon is not the id/)
  })

  it('cannot be made for an agency in which its maker may not give it (PROTOCOL §12.4)', () => {
    const manager = { operator: false, scopes: [], grants: [{ tenantId, scopes: ['tenant:manage'] }] }
    assert.deepEqual(faultsOf({ tenants: other }, manager), [
      { field: 'tenants', message: `You may not give property:read in ${other}.` },
    ])
    assert.equal(givesElsewhere(manager, tenantId), false)
    assert.equal(givesElsewhere(operator, tenantId), true)
    const of2 = { ...manager, grants: [...manager.grants, { tenantId: other, scopes: ['tenant:manage'] }] }
    assert.equal(givesElsewhere(of2, tenantId), true)
    assert.equal(readKeyForm({ ...form, tenants: other }, tenantId, of2, nowMs).kind, 'body')
  })

  it('shows each fault found by the service at its field (PROTOCOL §12.4)', () => {
    const error = (pointer: string, message = 'x') => ({ pointer, code: 'invalid', message })
    assert.deepEqual(
      serviceFaults([
        error('/label'),
        error('/networks'),
        error('/expiresAt'),
        error('/rate'),
        error('/grants', 'grants must be a list'),
        error('/grants', 'branches must be a list'),
        error('/operator'),
        error(''),
      ]).map(({ field }) => field),
      ['label', 'networks', 'ends', 'perSecond', 'scopes', 'branches'],
    )
  })

  it('gives no more than its maker may give (PROTOCOL §12.4)', () => {
    const names = (giver: Parameters<typeof givenBy>[0], of: string | undefined) =>
      givenBy(giver, of).map(({ scope }) => scope)
    const operator = { operator: true, scopes: ['admin:manage', 'admin:inspect'], grants: [] }
    assert.deepEqual(names(operator, undefined), ['admin:inspect', 'admin:manage'])
    assert.equal(names(operator, tenantId).length, 10)
    const manager = { operator: false, scopes: [], grants: [{ tenantId, scopes: ['tenant:manage'] }] }
    assert.deepEqual(
      names(manager, tenantId).filter((scope) => scope.startsWith('tenant:')),
      ['tenant:manage'],
    )
    assert.deepEqual(names(manager, 'other'), [])
    assert.deepEqual(names(manager, undefined), [])
    const reader = { operator: false, scopes: [], grants: [{ tenantId, scopes: ['property:read'] }] }
    assert.deepEqual(names(reader, tenantId), [])
  })

  it('can be changed and rotated only by those who could have made it (PROTOCOL §12.4)', () => {
    const manager = { operator: false, scopes: [], grants: [{ tenantId, scopes: ['tenant:manage'] }] }
    const inspector = { ...key, grants: [{ tenantId, scopes: ['property:read', 'tenant:inspect'] }] }
    assert.equal(givesAllOf(manager, key), true)
    assert.equal(givesAllOf(manager, inspector), false)
    assert.equal(givesAllOf(operator, inspector), true)
    assert.equal(
      givesAllOf(operator, { ...key, operator: true, scopes: ['admin:inspect'], grants: [] }),
      true,
    )
    assert.equal(givesAllOf(operator, { ...key, operator: true, scopes: ['admin:erase'], grants: [] }), false)
  })

  it('comes with a request that can be pasted into a terminal (PROTOCOL §12.4)', () => {
    const use = {
      text: 'pev_a_b',
      operator: false,
      tenantId: undefined,
      serviceUrl: 'https://feeds.example.com',
    }
    const of = (...scopes: readonly string[]) => firstRequest({ ...use, scopes })
    assert.equal(
      of('property:publish', 'property:read'),
      "curl \\\n  -H 'x-api-key: pev_a_b' \\\n  'https://feeds.example.com/api/func/api/v1/events/getevents?pageSize=10'",
    )
    assert.match(of('contact:read'), /contactevents/)
    assert.match(of('property:publish'), /--data '\{"payload":\{"agent_ref":.*dryRun=true'$/s)
    assert.match(of('tenant:inspect'), /v1\/admin\/self'$/)
    assert.match(
      firstRequest({ ...use, scopes: [], operator: true, tenantId }),
      new RegExp(`x-tenant: ${tenantId}`),
    )
    assert.match(firstRequest({ ...use, scopes: [], serviceUrl: "https://x/it's" }), /it'\\''s/)
  })
})

describe('a change of a key', () => {
  const held: Key = {
    ...key,
    expiresAt: '2026-06-01T09:30:12.345Z',
    rate: { perSecond: 5, burst: 20 },
    networks: ['192.0.2.0/24'],
  }
  const form = changeFormOf(held)
  const bodyOf = (given: Partial<ChangeForm>) => readKeyChange({ ...form, ...given }, held, nowMs)

  it('begins with the present values, and sends only what was changed (PROTOCOL §12.4)', () => {
    assert.deepEqual(
      [form.label, form.perSecond, form.burst, form.networks],
      ['website', '5', '20', '192.0.2.0/24'],
    )
    assert.deepEqual(bodyOf({}), { kind: 'body', body: {} })
    assert.deepEqual(bodyOf({ label: 'shop ' }), { kind: 'body', body: { label: 'shop' } })
    assert.deepEqual(bodyOf({ burst: '30' }), { kind: 'body', body: { rate: { perSecond: 5, burst: 30 } } })
    assert.deepEqual(bodyOf({ ends: fieldTime('2026-07-01T09:30Z') }), {
      kind: 'body',
      body: { expiresAt: '2026-07-01T09:30Z' },
    })
  })

  it('removes a value that was emptied (PROTOCOL §12.4)', () => {
    assert.deepEqual(bodyOf({ ends: '', perSecond: '', burst: '', networks: ' \n' }), {
      kind: 'body',
      body: { expiresAt: null, rate: null, networks: [] },
    })
  })

  it('is refused with a sentence at its field (PROTOCOL §12.4)', () => {
    const reading = bodyOf({ label: '', ends: '2026-02-01T00:00', burst: 'x' })
    assert(reading.kind === 'faults')
    assert.deepEqual(
      reading.faults.map(({ field }) => field),
      ['label', 'ends', 'burst'],
    )
  })
})
