/** Where a session arrives, and what it is offered: for every set of scopes that a key can have. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GrantScope } from '@property-events/protocol/wire'
import { adminScopes, grantScopes } from '@property-events/protocol'
import * as fc from 'fast-check'
import { paths } from '../src/base.ts'
import type { Access } from '../src/session/access.ts'
import { agencyOf, arrival, firstPath, mayOpen, menuOf } from '../src/views/open-paths.ts'

const tenantId = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const other = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const agentRef = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const grantOf = (id: string, scopes: readonly GrantScope[]) => ({ tenantId: id, scopes })
const keyWith = (...scopes: readonly GrantScope[]): Access => ({
  operator: false,
  scopes: [],
  grants: [grantOf(tenantId, scopes)],
})

/** Any key: of operators, of one agency, of two. */
const anyAccess: fc.Arbitrary<Access> = fc.oneof(
  fc.subarray([...adminScopes], { minLength: 1 }).map((scopes) => ({ operator: true, scopes, grants: [] })),
  fc.subarray([...grantScopes], { minLength: 1 }).map((scopes) => keyWith(...scopes)),
  fc
    .tuple(fc.subarray([...grantScopes], { minLength: 1 }), fc.subarray([...grantScopes], { minLength: 1 }))
    .map(([one, two]) => ({
      operator: false,
      scopes: [],
      grants: [grantOf(tenantId, one), grantOf(other, two)],
    })),
)

describe('a session of any key', () => {
  it('arrives at a view that it may see, whichever scopes its key has (D31)', () => {
    fc.assert(
      fc.property(anyAccess, (access) => {
        const seen = [arrival(access), ...access.grants.map((grant) => firstPath(access, grant.tenantId))]
        for (const path of seen) if (path !== undefined) assert.ok(mayOpen(access, path), path)
      }),
      { numRuns: 1_000 },
    )
  })

  it('finds nothing in its menu that it may not see, for any agency (D31)', () => {
    fc.assert(
      fc.property(anyAccess, fc.constantFrom(undefined, tenantId, other), (access, chosen) => {
        const { service, agency } = menuOf(access, chosen)
        for (const { name, path } of [...service, ...agency]) assert.ok(mayOpen(access, path), name)
      }),
      { numRuns: 1_000 },
    )
  })

  it('arrives where its work is: a publisher at its publications, an eraser at erasures, others at what their key may do (D31)', () => {
    assert.equal(arrival(keyWith('property:publish')), paths.publications(tenantId))
    assert.equal(arrival(keyWith('contact:publish')), paths.publications(tenantId))
    assert.equal(arrival(keyWith('property:erase')), paths.erasures(tenantId))
    assert.equal(arrival(keyWith('contact:read', 'property:publish')), paths.feed(tenantId, 'contact'))
    assert.equal(arrival(keyWith('tenant:inspect')), paths.feed(tenantId, 'property'))
    assert.equal(arrival(keyWith('tenant:manage')), undefined)
    assert.equal(arrival({ operator: true, scopes: ['admin:audit'], grants: [] }), paths.audit(undefined))
    assert.equal(arrival({ operator: true, scopes: ['admin:erase'], grants: [] }), undefined)
    assert.equal(arrival({ operator: true, scopes: ['admin:inspect'], grants: [] }), undefined)
  })

  it('is offered no link to what it may not see (D31)', () => {
    const publisher = keyWith('property:publish')
    assert.equal(mayOpen(publisher, paths.feed(tenantId, 'property', { number: 7 })), false)
    assert.equal(mayOpen(publisher, paths.property(tenantId, agentRef)), false)
    assert.equal(mayOpen(publisher, paths.publications(tenantId, { key: 'x' })), true)
    assert.equal(mayOpen(publisher, paths.publications(other)), false)
    assert.equal(mayOpen(publisher, '/nowhere'), false)
  })

  it('keeps the menu of its own agency, whichever one the browser had before (D31)', () => {
    const publisher = keyWith('property:publish')
    assert.equal(agencyOf(publisher, other), tenantId)
    assert.equal(agencyOf(publisher, undefined), tenantId)
    const both = { ...publisher, grants: [...publisher.grants, grantOf(other, ['property:read'])] }
    assert.equal(agencyOf(both, other), other)
    assert.equal(agencyOf(both, agentRef), undefined)
    const operator: Access = { operator: true, scopes: ['admin:inspect'], grants: [] }
    assert.equal(agencyOf(operator, other), other)
  })

  it('has two levels in its menu: views of the service, and of the agency (D31)', () => {
    const operator = { operator: true, scopes: [...adminScopes], grants: [] }
    const names = (chosen: string | undefined) => {
      const { service, agency } = menuOf(operator, chosen)
      return [service, agency].map((entries) => entries.map(({ name }) => name))
    }
    const service = ['Overview', 'Operator keys', 'Audit (all agencies)', 'Health']
    assert.deepEqual(names(undefined), [service, []])
    const agency = ['Property feed', 'Consumers', 'Webhooks', 'Publications', 'Keys', 'Erasures', 'Audit']
    assert.deepEqual(names(tenantId), [service, agency])
  })
})
