/** What a limited key is given of contacts: events as they were but for their payloads, with any payload. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues, contactFields, contactRoleNames } from '@property-events/protocol'
import type { ContactLimits, FeedEvent } from '@property-events/protocol'
import { ContactPayload, codedFields } from '@property-events/protocol/schemas'
import * as fc from 'fast-check'
import { contactRedaction, redactJoined } from '../../src/reading/representation/contact-redaction.ts'
import { representationsOver } from '../../src/reading/representation/representation.ts'
import { grantColumns, grantOf } from '../../src/keys/granted-branches.ts'
import { grantOfScopes, scopeWords } from '../../src/keys/key.ts'

const lists = <T>(of: readonly T[]) => fc.option(fc.subarray([...of]), { nil: undefined })
const limits = fc
  .record({ roles: lists(contactRoleNames), fields: lists(contactFields) })
  .map(({ roles, fields }): ContactLimits => ({ ...(roles && { roles }), ...(fields && { fields }) }))

const role = fc.constantFrom<unknown>(...contactRoleNames, 'Vendor', null, 5)
const payload = fc
  .dictionary(fc.constantFrom(...contactFields, 'other', '__proto__'), fc.jsonValue())
  .chain((some) =>
    fc
      .record({ roles: fc.oneof(fc.array(role), fc.jsonValue()), properties: fc.array(fc.record({ role })) })
      .map((known) => ({
        ...some,
        ...known,
        contact_ref: crypto.randomUUID(),
        last_name: 'a"},{"tenantId":"',
      })),
  )
const event = fc
  .record({ payload, id: fc.uuid(), number: fc.nat() })
  .map(({ payload, id, number }): FeedEvent => ({
    tenantId: id,
    sequenceNumber: number,
    eventType: 1,
    eventTypeShortCode: 'ContactUpdated',
    payload: JSON.stringify(payload),
    transactionId: id,
    id,
    createdDate: '2025-01-31T00:00:00.0000000',
  }))

/** What a payload says of roles that are not among these: for the agency, or for a property. */
function othersIn(text: string, roles: readonly unknown[]): readonly unknown[] {
  const { roles: own, properties }: { readonly roles?: unknown; readonly properties?: readonly unknown[] } =
    JSON.parse(text)
  const others = Array.isArray(own) ? own.filter((one) => !roles.includes(one)) : []
  const isOther = (one: unknown) =>
    !roles.some((known) => JSON.stringify(one) === JSON.stringify({ role: known }))
  return [...others, ...(properties ?? []).filter(isOther)]
}

describe('what a limited key is given of contacts', () => {
  it('is what its grant names, and of others that they are gone, in joined bytes as in single ones (D11)', () => {
    fc.assert(
      fc.property(limits, fc.array(event, { minLength: 1, maxLength: 8 }), (given, events) => {
        const narrow = contactRedaction(given, catalogues.default)
        const bytes = Buffer.from(events.map((one) => JSON.stringify(one)).join(','))
        const shown: readonly FeedEvent[] = JSON.parse(`[${redactJoined(bytes, narrow).toString()}]`)
        assert.equal(shown.length, events.length)
        for (const [index, one] of shown.entries()) {
          const before = events[index] ?? assert.fail()
          assert.deepEqual(
            one,
            JSON.parse(redactJoined(Buffer.from(JSON.stringify(before)), narrow).toString()),
          )
          const { payload, eventType, eventTypeShortCode, ...rest } = one
          assert.deepEqual({ ...before, payload, eventType, eventTypeShortCode }, { ...one, ...rest })
          const names = Object.keys(JSON.parse(payload) as object)
          const allowed: readonly string[] = given.fields ?? contactFields.filter((name) => name !== 'notes')
          const always = ['contact_ref', 'published', 'erased', 'thinned']
          assert.ok(names.every((name) => allowed.includes(name) || always.includes(name)))
          if (given.roles !== undefined) assert.deepEqual(othersIn(payload, given.roles), [])
          if (eventTypeShortCode === 'ContactErased')
            assert.equal(eventType, catalogues.default.contact['ContactErased'])
        }
      }),
    )
  })

  it('has lists that are those of the payload (D18)', () => {
    const roles = codedFields().find(
      ({ payload, pointer }) => payload === 'contact' && pointer === '/roles/*',
    )
    assert.deepEqual(
      roles?.codes.codes.map(({ code }) => code),
      contactRoleNames,
    )
    const members = Object.keys(ContactPayload.properties)
    assert.deepEqual(
      contactFields,
      members.filter((name) => !['contact_ref', 'erased', 'thinned'].includes(name)),
    )
  })

  it('is kept in the word of its scope (D11)', () => {
    fc.assert(
      fc.property(limits, (contact) => {
        const grant = { tenantId: 't', scopes: ['property:read', 'contact:read'] as const, contact }
        const words = scopeWords(grant)
        assert.ok(!words.includes('contact:read'))
        assert.deepEqual(grantOfScopes('t', words.join(' ')), grant)
      }),
    )
    const both = {
      tenantId: 't',
      scopes: ['contact:read'] as const,
      contact: { fields: ['kind'] as const },
      branches: ['a'],
    }
    assert.deepEqual(grantOf('t', grantColumns(both)), both)
    const usual = { tenantId: 't', scopes: ['contact:read'] as const }
    assert.deepEqual(grantOfScopes('t', scopeWords(usual).join(' ')), usual)
    assert.deepEqual(grantOfScopes('t', 'contact:read(branches=x) property:read').scopes, ['property:read'])
    const some = grantOfScopes('t', 'contact:read(roles=vendor,new_one;fields=notes,new_one)')
    assert.deepEqual(some.contact, { roles: ['vendor'], fields: ['notes'] })
  })

  it('has the same name for the same limits, and another one for others (D4)', () => {
    const of = representationsOver(catalogues.default)
    const name = (contact: ContactLimits, eventTypes?: 'published-0') =>
      of({ reading: { eventTypes, current: false }, contact }, 'contact')?.name
    assert.equal(name({ roles: ['vendor'] }), name({ roles: ['vendor'] }))
    const names = [
      name({}),
      name({ roles: [] }),
      name({ fields: [] }),
      name({ roles: ['vendor'] }),
      name({ fields: ['roles'] }),
      name({ roles: ['vendor'], fields: ['roles'] }),
    ]
    assert.equal(new Set(names).size, names.length)
    assert.ok(names.every((one) => /^c[0-9a-f]{16}$/.test(one ?? '')))
    assert.equal(of({ reading: undefined, contact: { roles: ['vendor'] } }, 'property'), undefined)
  })
})
