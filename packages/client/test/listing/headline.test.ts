/** What a list shows of a property, read without the reader of a whole payload. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { headline } from '../../src/listing/headline.ts'
import { listing } from '../../src/listing/index.ts'

const payloads: readonly (readonly [what: string, payload: object])[] = [
  ['nothing', {}],
  [
    'a sale',
    {
      status: 44,
      statusstring: ' Reserved ',
      address: { house_name_number: '12', address_2: 'Mill  Lane', town: 'Aylsham', postcode_1: 'nr11' },
      price_information: { price: '289950', price_qualifier: 2 },
    },
  ],
  [
    'a letting by its frequency',
    { price_information: { price: 950, rent_frequency: 12, deposit: 1_000, shared_ownership: 'true' } },
  ],
  ['a letting by its furniture', { details: { furnished_type: 1 }, price_information: { price: 950 } }],
  ['a letting by its scheme', { details: { deposit_replacement_scheme: '1' } }],
  ['a letting by its type', { let_type: 2 }],
  ['a letting by its term', { minimum_term: 6 }],
  ['a letting by its months', { contract_months: 12 }],
  ['a letting by its status', { status: 6 }],
  ['a removal', { removal_reason: 9, address: { latitude: 52.8, longitude: '1.25' } }],
  ['members of other kinds', { status: {}, address: [], price_information: 'x', details: 4, let_type: [] }],
]

describe('the headline of a property', () => {
  for (const [what, payload] of payloads) {
    it(`of ${what} is what its listing says (spec §2.3–2.5)`, () => {
      const text = JSON.stringify(payload)
      const whole = listing(text)
      assert.ok(whole !== undefined)
      const { category, status, price, address, removalReason } = whole
      const { display, postcode } = address
      assert.deepEqual(headline(text), {
        category,
        status,
        price,
        address: { display, postcode },
        removalReason,
      })
    })
  }

  it('does not exist for a text that is not an object (PROTOCOL §5)', () => {
    for (const text of ['', '[]', 'null', '{']) assert.equal(headline(text), undefined)
  })
})
