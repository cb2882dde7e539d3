import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkContactPayload } from '../../src/payload/index.ts'
import { fullContact, subject, withMember } from './samples.ts'

const places = (payload: unknown) =>
  checkContactPayload(payload).map(({ pointer, code }) => `${pointer} ${code}`)

/** Every member of a JSON object as a pointer, without the elements of arrays of texts. */
function pointersOf(value: unknown, parent = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    `${parent}/${name}`,
    ...pointersOf(member, `${parent}/${name}`),
  ])
}

describe('contact payload', () => {
  it('a contact with every documented field is accepted, and so is a bare reference (D18)', () => {
    assert.deepEqual(checkContactPayload(fullContact), [])
    assert.deepEqual(checkContactPayload({ contact_ref: subject }), [])
  })

  for (const pointer of pointersOf(fullContact)) {
    if (pointer === '/contact_ref') continue
    it(`${pointer} may be null and may not be of another type (D18)`, () => {
      assert.deepEqual(places(withMember(fullContact, pointer, null)), [])
      assert.deepEqual(places(withMember(fullContact, pointer, 4.5)), [`${pointer} wrong_type`])
    })
  }

  it('contact_ref must be a UUID, and so must the references of properties (D16)', () => {
    assert.deepEqual(places({}), ['/contact_ref missing'])
    assert.deepEqual(places({ contact_ref: null }), ['/contact_ref missing'])
    assert.deepEqual(places({ contact_ref: `{${subject}}` }), ['/contact_ref not_a_uuid'])
    const properties = [{ agent_ref: subject.toUpperCase() }, { agent_ref: 'AGENT_1' }]
    assert.deepEqual(places({ contact_ref: subject, properties }), ['/properties/1/agent_ref not_a_uuid'])
  })

  it('unknown fields, roles and channels pass (D18)', () => {
    assert.deepEqual(
      checkContactPayload({
        contact_ref: subject,
        kind: 'household',
        roles: ['executor', null],
        communications: [{ channel: 'carrier pigeon' }, null],
        shoe_size: 43,
      }),
      [],
    )
  })

  it('arrays have at most 10,000 items, and at most 20 faults are reported (P11)', () => {
    const roles = Array.from({ length: 10_001 }, () => 'vendor')
    assert.deepEqual(places({ contact_ref: subject, roles }), ['/roles too_many_items'])
    const numbers = Array.from({ length: 10_000 }, (_, index) => index)
    assert.equal(places({ contact_ref: subject, roles: numbers }).length, 20)
  })

  it('no message repeats a value: contacts are personal data (D18)', () => {
    const secret = 'Rumpelstiltskin'
    for (const pointer of ['', ...pointersOf(fullContact)]) {
      for (const wrong of [secret, [secret], { [secret]: secret }, 8_675_309.5]) {
        const payload = pointer === '' ? wrong : withMember(fullContact, pointer, wrong)
        for (const fault of checkContactPayload(payload)) {
          assert.doesNotMatch(JSON.stringify(fault), /Rumpelstiltskin|8675309/)
        }
      }
    }
  })
})
