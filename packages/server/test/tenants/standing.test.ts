/** How a tenant stands, of everything that is stored about it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { admissionOf, isAdmitted, standingOf } from '../../src/tenants/standing.ts'
import type { TenantFacts, TenantStanding } from '../../src/tenants/standing.ts'

const nowMs = 1_000
const [never, later, now] = [undefined, nowMs + 1, nowMs]

type Case = readonly [facts: TenantFacts, standing: TenantStanding, keysWork: boolean]

const cases: readonly Case[] = [
  [{ suspended: false, readingEndsMs: never }, 'open', true],
  [{ suspended: false, readingEndsMs: later }, 'leaving', true],
  [{ suspended: false, readingEndsMs: now }, 'readingEnded', false],
  [{ suspended: true, readingEndsMs: never }, 'suspended', false],
  [{ suspended: true, readingEndsMs: later }, 'suspended', false],
  [{ suspended: true, readingEndsMs: now }, 'suspended', false],
  [{ suspended: false, deleting: true, readingEndsMs: never }, 'deleting', false],
  [{ suspended: false, deleting: true, readingEndsMs: later }, 'deleting', false],
  [{ suspended: false, deleting: true, readingEndsMs: now }, 'readingEnded', false],
  [{ suspended: true, deleting: true, readingEndsMs: now }, 'suspended', false],
]

describe('a tenant', () => {
  for (const [facts, standing, keysWork] of cases) {
    const { suspended, deleting = false, readingEndsMs = 'never' } = facts
    const name = `suspended ${suspended}, deleting ${deleting}, reading ends ${readingEndsMs}`
    it(`is ${standing} with ${name} (D7, PROTOCOL §5.10)`, () => {
      assert.equal(standingOf(facts, nowMs), standing)
      assert.equal(isAdmitted(standing), keysWork)
    })
  }

  it('is refused to a key for its own reasons and for those of no other tenant (D11)', () => {
    const leaving = [
      { tenantId: 'left', readingEndsMs: now },
      { tenantId: 'leaving', readingEndsMs: later },
    ]
    const admits = admissionOf({ suspendedTenantIds: ['suspended'], leaving }, nowMs)
    const admitted = ['open', 'left', 'leaving', 'suspended'].filter((tenantId) => admits(tenantId))
    assert.deepEqual(admitted, ['open', 'leaving'])
  })
})
