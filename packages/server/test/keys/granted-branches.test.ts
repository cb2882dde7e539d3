import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grantColumns, grantOf, grantedBranches } from '../../src/keys/granted-branches.ts'
import { tenantA } from '../store/support/drafts.ts'

const grant = {
  tenantId: tenantA,
  scopes: ['property:read', 'property:publish'],
  branches: ['Dale', 'Fell'],
} as const

describe('grants by branch, as a store keeps them', () => {
  it('are read as they were kept, limits of contacts included (D11)', () => {
    const contact = { roles: ['vendor'], fields: ['last_name'] } as const
    const limited = { ...grant, scopes: ['contact:read', 'property:publish'], contact } as const
    for (const one of [grant, limited]) assert.deepEqual(grantOf(tenantA, grantColumns(one)), one)
  })

  it('are 1 to 100 names of 1 to 100 characters, each once and in one order (D11)', () => {
    assert.deepEqual(grantedBranches(['b', 'B', 'b', 'a']), ['B', 'a', 'b'])
    assert.equal(grantedBranches(Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(100, '☂')))?.length, 100)
    const many = Array.from({ length: 101 }, (_, n) => `${n}`)
    for (const unusable of [[], [''], ['a'.repeat(101)], many, ['a\nb'], ['a\0'], ['\ud800']])
      assert.equal(grantedBranches(unusable), undefined, JSON.stringify(unusable))
  })
})
