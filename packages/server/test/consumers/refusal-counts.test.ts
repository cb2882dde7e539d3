/** Refused requests of consumers, as they are counted in memory. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { refusalCounts } from '../../src/consumers/refusal-counts.ts'

const refused = { tenantId: undefined, code: 'key_revoked', status: 401 }

it('a key that gives another name with each refused request fills 200 rows and its own, however long it continues (PROTOCOL §14)', () => {
  const refusals = refusalCounts()
  const rows = new Map<string, number>()
  for (let addition = 0; addition < 20; addition += 1) {
    for (let index = 0; index < 100; index += 1) {
      refusals.note({ ...refused, keyId: 'loud', name: `name-${addition * 100 + index}` }, index)
    }
    refusals.note({ ...refused, keyId: 'loud', name: 'name-7' }, 1)
    refusals.note({ ...refused, keyId: 'quiet', name: 'website' }, 1)
    for (const { keyId, name, count } of refusals.take()) {
      rows.set(`${keyId} ${name}`, (rows.get(`${keyId} ${name}`) ?? 0) + count)
    }
  }
  assert.equal(rows.size, 202)
  assert.equal(rows.get('loud default'), 1_800)
  assert.equal(rows.get('loud name-7'), 21)
  assert.equal(rows.get('quiet website'), 20)
})
