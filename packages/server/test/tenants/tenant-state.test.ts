/** How a tenant stands, of everything that is stored about it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { admissionOf, isAdmitted, tenantStateOf } from '../../src/tenants/tenant-state.ts'
import type { TenantFacts, TenantState } from '../../src/tenants/tenant-state.ts'

const nowMs = 1_000
const [never, later, now] = [undefined, nowMs + 1, nowMs]

type Case = readonly [facts: TenantFacts, state: TenantState, keysWork: boolean]

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
  for (const [facts, state, keysWork] of cases) {
    const { suspended, deleting = false, readingEndsMs = 'never' } = facts
    const name = `suspended ${suspended}, deleting ${deleting}, reading ends ${readingEndsMs}`
    it(`is ${state} with ${name} (D7, PROTOCOL §5.10)`, () => {
      assert.equal(tenantStateOf(facts, nowMs), state)
      assert.equal(isAdmitted(state), keysWork)
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
