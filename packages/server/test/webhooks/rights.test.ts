/** Which endpoints a key may see, and for which it may have events sent (PROTOCOL §16.1). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EndpointRights } from '../../src/webhooks/endpoint.ts'
import type { EndpointRecord } from '../../src/webhooks/endpoint.ts'
import type { KeyVerdict } from '../../src/keys/index.ts'
import { coversRights, rightsOf, sendingRight } from '../../src/webhooks/rights.ts'

describe('the rights of an endpoint', () => {
  const cases: readonly (readonly [string, EndpointRights, EndpointRights, boolean])[] = [
    ['everything has everything', {}, {}, true],
    ['everything has a branch', {}, { branches: ['Caerdydd'] }, true],
    ['a branch has not everything', { branches: ['Caerdydd'] }, {}, false],
    ['a branch has itself', { branches: ['Caerdydd', 'Fell'] }, { branches: ['Fell'] }, true],
    ['a branch has no other', { branches: ['Caerdydd'] }, { branches: ['Caerdydd', 'Fell'] }, false],
    ['all contacts have those with a role', {}, { contact: { roles: ['buyer'] } }, true],
    ['a role has not all contacts', { contact: { roles: ['buyer'] } }, {}, false],
    [
      'fields have fewer',
      { contact: { fields: ['kind', 'notes'] } },
      { contact: { fields: ['kind'] } },
      true,
    ],
    ['fields have no more', { contact: { fields: ['kind'] } }, { contact: { fields: ['notes'] } }, false],
    [
      'the usual fields have no notes',
      { contact: { roles: ['buyer'] } },
      { contact: { roles: ['buyer'], fields: ['notes'] } },
      false,
    ],
    ['all fields have the usual ones', {}, { contact: { roles: ['buyer'] } }, true],
    [
      'the usual fields are not all',
      { contact: { fields: ['kind'] } },
      { contact: { roles: ['buyer'] } },
      false,
    ],
  ]
  for (const [what, held, wanted, expected] of cases) {
    it(`are within those of a key or not: ${what}`, () => {
      assert.equal(coversRights(held, wanted), expected)
    })
  }

  it('are those of the feed alone', () => {
    const grant = { tenantId: 't', scopes: [], branches: ['Fell'], contact: { roles: ['buyer'] } } as const
    assert.deepEqual(rightsOf(grant, 'property'), { branches: ['Fell'] })
    assert.deepEqual(rightsOf(grant, 'contact'), { contact: { roles: ['buyer'] } })
  })

  it('end with other branches of the key, also with more, because only the view of a granted set is kept (W1, D11)', () => {
    const key = {
      keyId: 'a',
      label: 'Gwefan – £ 🏡',
      operator: false,
      leavingTenantIds: [],
      withoutDuties: [],
      viewsBeingMade: [] as readonly string[],
      rate: undefined,
      adminScopes: [],
      networks: undefined,
      reading: undefined,
    }
    const verdict = (
      branches: readonly string[] | undefined,
      viewsBeingMade: readonly string[] = [],
    ): KeyVerdict => {
      const grant = {
        tenantId: 't',
        scopes: ['property:read', 'property:webhooks'],
        ...(branches && { branches }),
      } as const
      return { kind: 'valid', key: { ...key, viewsBeingMade, grants: [grant] } }
    }
    const endpoint: Pick<EndpointRecord, 'tenantId' | 'rights'> & {
      readonly settings: { readonly feed: 'property' }
    } = {
      tenantId: 't',
      rights: { branches: ['Fell'] },
      settings: { feed: 'property' },
    }
    assert.equal(sendingRight(verdict(['Fell']), endpoint), 'granted')
    assert.equal(sendingRight(verdict(['Fell'], ['t']), endpoint), 'viewBeingMade')
    for (const branches of [undefined, ['Caerdydd', 'Fell'], ['Caerdydd']])
      assert.equal(sendingRight(verdict(branches), endpoint), 'lost')
    assert.equal(sendingRight({ kind: 'unknown' }, endpoint), 'lost')
  })
})
