/** Every route of administration with every kind of key, for the own, a foreign and an unknown tenant; and operator keys at all other doors. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { adminScopes, scopes } from '@property-events/protocol'
import type { AdminScope, GrantScope } from '@property-events/protocol'
import { call, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import { contact, property } from '../support/property.ts'

interface Door {
  /** As the document names it. */
  readonly operationId: string
  readonly need: AdminScope
  readonly method: string
  /** Of a tenant, with whatever else it takes. */
  readonly path: (tenantId: string) => string
  readonly body?: unknown
  /** Only operators open it. */
  readonly operatorsOnly?: true
  /** The status where the key may do it: not always 200, as what it asks for changes nothing. */
  readonly opens: number
}

/** What a key of a tenant needs for the same; in words of its own, beside the table that it checks. */
const instead: Readonly<Record<AdminScope, readonly (readonly GrantScope[])[]>> = {
  'admin:inspect': [['tenant:inspect']],
  'admin:manage': [['tenant:manage']],
  'admin:audit': [['tenant:inspect']],
  'admin:reveal': [['tenant:inspect', 'contact:read']],
  'admin:erase': [
    ['tenant:manage', 'property:erase'],
    ['tenant:manage', 'contact:erase'],
  ],
}

const grantSets: readonly (readonly GrantScope[])[] = [
  ['tenant:inspect'],
  ['tenant:manage'],
  ['tenant:inspect', 'tenant:manage'],
  ['tenant:inspect', 'contact:read'],
  ['tenant:manage', 'property:erase'],
  ['property:read'],
  scopes,
]

onEngines('isolation of administration', {}, (service) => {
  const ids = { event: '', subject: '', contact: randomUUID() }

  before(async () => {
    // Both have it, so that what an operator is told of either is the same.
    const event = { id: randomUUID(), payload: property() }
    for (const { publishKey: key } of [service().tenant, service().otherTenant]) {
      const { events } = await publish(service(), event, { key })
      ids.event = events[0]?.id ?? ''
      ids.subject = events[0]?.transactionId ?? ''
      await publish(service(), { payload: contact({ contact_ref: ids.contact }) }, { key, feed: 'contact' })
    }
  })

  const open = (door: Door, key: string, tenantId: string): Promise<Answer> =>
    call(service(), `/v1/admin${door.path(tenantId)}`, {
      method: door.method,
      key,
      ...(door.body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(door.body) }),
    })

  const doors = (): readonly Door[] => {
    const reads = {
      adminListPropertyEvents: '/events/getevents',
      adminGetPropertyEvent: `/events/geteventbyid/${ids.event}`,
      adminReadPropertyEvents: '/property-events',
      adminReadPropertySnapshot: '/property-events/snapshot',
      adminReadPropertyReductions: '/property-events/reduced',
      adminGetProperty: `/properties/${ids.subject}`,
      adminReadPropertyHistory: `/properties/${ids.subject}/history?changes=true`,
      getTenant: '',
      listFeeds: '/feeds',
      readRate: '/feeds/property/rate?from=2026-01-01&to=2026-01-31',
      getMaskedContact: `/contacts/${ids.contact}`,
      readMaskedHistory: `/contacts/${ids.contact}/history`,
      listProperties: '/properties?search=ely',
      adminListPublications: '/publications',
      readTenantDuties: '/duties',
      listTenantWebhooks: '/webhooks',
    }
    const inspect = Object.entries(reads).map(([operationId, path]): Door => {
      const of = (tenantId: string): string => `/tenants/${tenantId}${path}`
      return { operationId, need: 'admin:inspect', method: 'GET', path: of, opens: 200 }
    })
    return [
      ...inspect,
      {
        operationId: 'changeTenant',
        need: 'admin:manage',
        method: 'PATCH',
        path: (id) => `/tenants/${id}`,
        body: {},
        opens: 200,
      },
      {
        operationId: 'revealContact',
        need: 'admin:reveal',
        method: 'POST',
        path: (id) => `/tenants/${id}/contacts/${ids.contact}/reveal`,
        body: { reason: 'support' },
        opens: 200,
      },
      {
        operationId: 'adminListErasures',
        need: 'admin:erase',
        method: 'GET',
        path: (id) => `/tenants/${id}/erasures`,
        opens: 200,
      },
      {
        operationId: 'adminErase',
        need: 'admin:erase',
        method: 'POST',
        path: (id) => `/tenants/${id}/erasures?dryRun=true`,
        body: {},
        opens: 400,
      },
      {
        operationId: 'pauseTenantWebhook',
        need: 'admin:manage',
        method: 'POST',
        path: (id) => `/tenants/${id}/webhooks/${randomUUID()}/pause`,
        body: { paused: true },
        opens: 404,
      },
      {
        operationId: 'listKeys',
        need: 'admin:inspect',
        method: 'GET',
        path: (id) => `/keys?tenant=${id}`,
        opens: 200,
      },
      {
        operationId: 'readAudit',
        need: 'admin:audit',
        method: 'GET',
        path: (id) => `/audit?tenant=${id}`,
        opens: 200,
      },
    ]
  }

  it('opens each route to exactly the keys that may use it, and reveals nothing about tenants to the others (P10, PROTOCOL §12)', async () => {
    const { tenant, otherTenant } = service()
    const unknown = randomUUID()
    const places = [tenant.tenantId, otherTenant.tenantId, unknown]
    let tried = 0
    const check = async (key: string, may: (door: Door, tenantId: string) => number, words: string) => {
      for (const door of doors()) {
        for (const tenantId of places) {
          const answer = await open(door, key, tenantId)
          const where = ['own', 'foreign', 'unknown'][places.indexOf(tenantId)]
          const told = `${door.operationId} of the ${where} tenant with ${words}: ${answer.text.slice(0, 200)}`
          assert.equal(answer.status, may(door, tenantId), told)
          tried += 1
        }
      }
    }
    for (const scope of adminScopes) {
      const { text } = await service().issue({ operator: true, adminScopes: [scope] })
      const may = ({ need, operationId, opens }: Door, tenantId: string): number => {
        if (need !== scope) return 403
        // Of no tenant there are no rows, without a tenant being shown.
        return tenantId === unknown && operationId !== 'readAudit' ? 404 : opens
      }
      await check(text, may, scope)
    }
    for (const held of grantSets) {
      const { text } = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes: held }] })
      const may = ({ need, opens }: Door, tenantId: string): number => {
        const isHeld = instead[need].some((wanted) => wanted.every((scope) => held.includes(scope)))
        if (!isHeld) return 403
        return tenantId === tenant.tenantId ? opens : 404
      }
      await check(text, may, held.join())
    }
    const grant = { tenantId: tenant.tenantId, scopes: ['property:read', 'property:publish'] } as const
    const ofBranch = await service().issue({ grants: [{ ...grant, branches: ['Dale'] }] })
    await check(ofBranch.text, () => 403, 'a key of a branch')
    assert.equal(tried, (adminScopes.length + grantSets.length + 1) * doors().length * 3)
  })

  it('opens a key to those who manage one of its tenants, and shows only their part of a key of several (P10, PROTOCOL §12.4)', async () => {
    const { tenant, otherTenant } = service()
    const read = ['property:read'] as const
    const grantsOf = (ids: readonly string[]) => ids.map((tenantId) => ({ tenantId, scopes: read }))
    const own = await service().issue({ grants: grantsOf([tenant.tenantId]) })
    const foreign = await service().issue({ grants: grantsOf([otherTenant.tenantId]) })
    const shared = await service().issue({ grants: grantsOf([tenant.tenantId, otherTenant.tenantId]) })
    const operator = await service().issue({ operator: true, adminScopes })
    const managing = ['tenant:inspect', 'tenant:manage'] as const
    const both = [tenant.tenantId, otherTenant.tenantId].map((tenantId) => ({ tenantId, scopes: managing }))
    const { text: manager } = await service().issue({ grants: both.slice(0, 1) })
    const { text: ofBoth } = await service().issue({ grants: both })
    const ask = async (key: string, keyId: string, change?: object) => {
      const method = change === undefined ? 'GET' : 'PATCH'
      const body = change === undefined ? {} : { body: JSON.stringify(change) }
      const headers = { 'content-type': 'application/json' }
      const answer = await call(service(), `/v1/admin/keys/${keyId}`, { method, key, headers, ...body })
      const { grants = [] } = JSON.parse(answer.text) as { readonly grants?: readonly { tenantId: string }[] }
      return { status: answer.status, tenants: grants.map(({ tenantId }) => tenantId) }
    }
    const seen = async (key: string) =>
      Promise.all([own, foreign, shared, operator].map(async ({ keyId }) => ask(key, keyId)))
    const unknown = { status: 404, tenants: [] }
    const ofFirst = { status: 200, tenants: [tenant.tenantId] }
    assert.deepEqual(await seen(manager), [ofFirst, unknown, ofFirst, unknown])
    assert.deepEqual(await seen(ofBoth), [
      ofFirst,
      { status: 200, tenants: [otherTenant.tenantId] },
      { status: 200, tenants: [tenant.tenantId, otherTenant.tenantId] },
      unknown,
    ])
    const change = { label: 'mine' }
    const statuses = await Promise.all(
      [own, foreign, shared].map(async ({ keyId }) => (await ask(manager, keyId, change)).status),
    )
    assert.deepEqual(
      statuses,
      [200, 404, 403],
      'a key that opens other tenants is changed by operators alone',
    )
    assert.equal((await ask(own.text, own.keyId)).status, 403)
  })

  it('answers for a foreign tenant as for an unknown one (P10, D8)', async () => {
    const { tenant, otherTenant } = service()
    const { text } = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect', 'tenant:manage', 'contact:erase'] }],
    })
    for (const door of doors()) {
      const [foreign, unknown] = await Promise.all(
        [otherTenant.tenantId, randomUUID()].map(async (tenantId) => {
          const answer = await open(door, text, tenantId)
          const { requestId, instance, ...rest } = JSON.parse(answer.text) as Record<string, unknown>
          assert(requestId !== undefined && instance !== undefined)
          return rest
        }),
      )
      assert.deepEqual(foreign, unknown, door.operationId)
    }
  })

  it('lets operators alone make tenants, from a form or from a file (PROTOCOL §12.2, PROTOCOL §12.3)', async () => {
    const { text } = await service().issue({
      grants: [
        { tenantId: service().tenant.tenantId, scopes: [...scopes, 'tenant:inspect', 'tenant:manage'] },
      ],
    })
    for (const path of ['/tenants', '/tenants/import']) {
      const answer = await call(service(), `/v1/admin${path}`, {
        method: 'POST',
        key: text,
        headers: { 'content-type': 'application/x-ndjson' },
        body: '{"name":"x","reference":"x"}',
      })
      assert.equal(answer.status, 403)
    }
  })

  it('opens no route of the feeds to an operator key (D11, PROTOCOL §12)', async () => {
    const { text: key } = await service().issue({ operator: true, adminScopes })
    const others = operationsOf(committedDocument()).filter(
      ({ path, security }) => !path.startsWith('/v1/admin') && security !== undefined && security.length > 0,
    )
    assert(others.length > 20)
    for (const { method, path } of others) {
      const filled = path.replaceAll(/\{\w+\}/g, ids.event)
      const answer = await call(service(), filled, {
        method,
        key,
        ...(method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {}),
      })
      const expected = path.startsWith('/api/') ? 401 : 403
      assert.equal(answer.status, expected, `${method} ${path}: ${answer.text}`)
    }
  })
})
