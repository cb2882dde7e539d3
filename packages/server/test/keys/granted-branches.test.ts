import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grantScopes } from '@property-events/protocol'
import { grantColumns, grantOf, grantedBranches } from '../../src/keys/granted-branches.ts'
import { tenantA } from '../storage/support/drafts.ts'

const grant = {
  tenantId: tenantA,
  scopes: ['property:read', 'property:publish'],
  branches: ['Dale', 'Fell'],
} as const

describe('grants by branch, as a store keeps them', () => {
  it('have no scope that a program knows which knows no branches: it refuses their keys (P10, D11)', () => {
    const { scopes } = grantColumns(grant)
    // As the version before reads the column.
    const known = scopes.split(' ').filter((word) => grantScopes.some((scope) => scope === word))
    assert.deepEqual(known, [])
    assert.deepEqual(grantOf(tenantA, grantColumns(grant)), grant)
  })

  it('stay limited when such a program gives them other scopes (P10, D11)', () => {
    const { branches } = grantColumns(grant)
    const given = grantOf(tenantA, { scopes: 'property:read', branches })
    assert.deepEqual(given, { ...grant, scopes: ['property:read'] })
    const forgotten = grantOf(tenantA, { ...grantColumns(grant), branches: null })
    assert.deepEqual(forgotten.scopes, [], 'without its branches it opens nothing')
  })

  it('are 1 to 100 names of 1 to 100 characters, each once and in one order (D11)', () => {
    assert.deepEqual(grantedBranches(['b', 'B', 'b', 'a']), ['B', 'a', 'b'])
    assert.equal(grantedBranches(Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(100, '☂')))?.length, 100)
    const many = Array.from({ length: 101 }, (_, n) => `${n}`)
    for (const unusable of [[], [''], ['a'.repeat(101)], many, ['a\nb'], ['a\0'], ['\ud800']])
      assert.equal(grantedBranches(unusable), undefined, JSON.stringify(unusable))
  })
})
