/** What a publisher is told to send in place of what is wrong with a payload. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkContactPayload, checkPropertyPayload } from '../../src/payload/index.ts'
import { specProperty, subject, withMember } from './samples.ts'

const messageOf = (pointer: string, value: unknown): string => {
  const [fault] = checkPropertyPayload(withMember(specProperty, pointer, value), { publishedRequired: true })
  return fault?.message ?? ''
}

describe('a fault of a property payload', () => {
  it('lists all codes beside the one that was meant, if they are few (PROTOCOL §4)', () => {
    assert.equal(
      messageOf('/status', 'For Sale'),
      'status must be an integer or null; "For Sale" was sent. Send 1, the code of "Available"; all codes: 1 Available, 2 SSTC, 3 SSTCM, 4 Under Offer, 5 Reserved, 6 Let Agreed.',
    )
  })

  it('names the code where words were sent, by its label or as agents write it (PROTOCOL §4)', () => {
    for (const [pointer, words, code] of [
      ['/status', 'Available', 1],
      ['/status', 'For Sale', 1],
      ['/status', 'for sale', 1],
      ['/status', 'To Let', 1],
      ['/status', 'sold subject to contract', 2],
      ['/status', 'Under offer', 4],
      ['/price_information/price_qualifier', 'Guide Price', 2],
      ['/price_information/rent_frequency', 'pcm', 12],
      ['/price_information/tenure_type', 'Share of freehold', 5],
      ['/details/heating/0', 'Underfloor Heating', 52],
      ['/property_type', 'detached house', 4],
      ['/status', '2', 2],
    ] as const) {
      const message = messageOf(pointer, words)
      assert.match(message, new RegExp(`Send ${code}, the code of "`), `${words}: ${message}`)
    }
  })

  it('lists the codes where the words are not known, or those with the words in their labels (PROTOCOL §4)', () => {
    assert.match(
      messageOf('/status', 'Ar werth'),
      /"Ar werth" was sent\. Send the number of the status: 1 Available, 2 SSTC, 3 SSTCM/,
    )
    assert.match(
      messageOf('/property_type', 'Detached'),
      /Send the number of the property type: .*4 Detached house/,
    )
    assert.match(messageOf('/property_type', 'Tŷ'), /the codes are in \/docs\.$/)
    const long = messageOf('/status', 'x'.repeat(5_000))
    assert.match(long, /1 Available/)
    assert.ok(long.length < 400)
  })

  it('shows the number to send for a price in text, and none for what is no number (PROTOCOL §4)', () => {
    for (const [text, number] of [
      ['450000', 450_000],
      ['£450,000', 450_000],
      ['£1,250,000.50', 1_250_000.5],
      [' 950 pcm ', 950],
      ['0', 0],
    ] as const) {
      assert.match(
        messageOf('/price_information/price', text),
        new RegExp(`was sent\\. Send ${number}, without quotes\\.$`),
      )
    }
    for (const text of ['POA', '£1.25m', '450.000,00', '4,50', '1e5', '', '½']) {
      assert.match(
        messageOf('/price_information/price', text),
        /Send a number in digits, without quotes; or null/,
      )
    }
    assert.match(messageOf('/details/bedrooms', '3'), /Send 3, without quotes\.$/)
    assert.match(messageOf('/details/bedrooms', '2.5'), /Send a number in digits/)
    assert.match(messageOf('/details/bedrooms', 2.5), /must be an integer or null; 2\.5 was sent\.$/)
  })

  it('shows the value to send for words that mean true or false, a number that is text, and one item (PROTOCOL §4)', () => {
    assert.equal(
      messageOf('/published', 'yes'),
      'published must be true, false or null; "yes" was sent. Send true, without quotes.',
    )
    assert.match(messageOf('/published', 'False'), /Send false, without quotes\.$/)
    assert.match(messageOf('/published', 1), /Send true, without quotes\.$/)
    assert.match(messageOf('/published', 'perhaps'), /"perhaps" was sent\.$/)
    assert.match(messageOf('/address/house_name_number', 12), /Send it as text: "12"\.$/)
    assert.match(messageOf('/details/features', 'Gardd'), /Send a list, even of one: \["Gardd"\]\.$/)
    assert.match(messageOf('/details/features', 'x'.repeat(100)), /Send a list, even of one\.$/)
    assert.match(messageOf('/address', '1 High Street'), /Send an object of its parts: house_name_number, /)
  })

  it('asks whether a member that must be there was meant by another name (PROTOCOL §4)', () => {
    const message = (payload: object): string =>
      checkPropertyPayload(payload, { publishedRequired: true })
        .map((one) => one.message)
        .join('\n')
    for (const name of ['agentRef', 'AGENT_REF', 'agent-ref', 'agnt_ref']) {
      const said = message({ [name]: subject, published: true })
      assert.match(
        said,
        new RegExp(`^agent_ref must be present .*\\. "${name}" was sent: did you mean agent_ref\\?$`),
      )
    }
    assert.match(
      message({ agent_ref: subject, Published: true }),
      /"Published" was sent: did you mean published\?$/,
    )
    assert.match(message({ published: true, agency: subject }), /prefix; nothing was sent\.$/)
  })

  it('says where a contact is published, and the other way round, and repeats nothing of it (PROTOCOL §4, D18)', () => {
    const [property] = checkPropertyPayload(
      { contact_ref: subject, last_name: 'Siân' },
      { publishedRequired: true },
    )
    assert.match(
      property?.message ?? '',
      /This looks like a contact: publish it with POST \/v1\/contact-events\.$/,
    )
    const [contact] = checkContactPayload({ agentRef: subject, published: true })
    assert.match(
      contact?.message ?? '',
      /This looks like a property: publish it with POST \/v1\/property-events\.$/,
    )
    const [named] = checkContactPayload({ contact_ref: subject, first_name: 4711, last_name: 'Siân' })
    assert.equal(
      named?.message,
      'first_name must be a string or null; an integer was sent. Send it as text, in quotes.',
    )
  })
})
