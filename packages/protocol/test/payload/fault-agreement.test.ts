import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { ContactPayload, PropertyPayload } from '../../schemas/index.ts'
import { findFaults } from '../../src/payload/find-faults.ts'
import { propertyAdvice } from '../../src/payload/property-advice.ts'
import { fullContact, rtdfSendProperty, specProperty, withMember } from './samples.ts'

function pointersOf(value: unknown, parent = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    `${parent}/${name}`,
    ...pointersOf(member, `${parent}/${name}`),
  ])
}

const cases = [
  { schema: PropertyPayload, payload: specProperty },
  { schema: PropertyPayload, payload: rtdfSendProperty },
  { schema: ContactPayload, payload: fullContact },
]

describe('finding faults', () => {
  it('explains exactly the payloads that the compiled schema refuses (P11)', () => {
    const validators = new Map(cases.map(({ schema }) => [schema, Compile(schema)] as const))
    const change = fc.constantFrom(...cases).chain((chosen) =>
      fc.record({
        chosen: fc.constant(chosen),
        pointer: fc.constantFrom(...pointersOf(chosen.payload)),
        value: fc.oneof(
          fc.jsonValue(),
          fc.webUrl(),
          fc.uuid(),
          fc.integer(),
          fc.double(),
          fc.constant(undefined),
        ),
      }),
    )
    fc.assert(
      fc.property(change, ({ chosen: { schema, payload }, pointer, value }) => {
        const changed = withMember(payload, pointer, value)
        const accepted = validators.get(schema)?.Check(changed)
        assert.equal(findFaults(schema, changed, propertyAdvice).length === 0, accepted)
      }),
      { numRuns: 3_000 },
    )
  })
})
