import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { impliesLettings } from '../../src/payload/index.ts'
import { rtdfSendProperty, subject } from './samples.ts'

/** Each sign of a letting, with a value that only counts because it is there. */
const signs: readonly (readonly [string, object])[] = [
  ['price_information.rent_frequency', { price_information: { rent_frequency: 12 } }],
  ['price_information.deposit', { price_information: { deposit: 0 } }],
  ['contract_months', { contract_months: 0 }],
  ['let_type', { let_type: 0 }],
  ['minimum_term', { minimum_term: 0 }],
  ['details.furnished_type', { details: { furnished_type: 0 } }],
  ['details.deposit_replacement_scheme', { details: { deposit_replacement_scheme: false } }],
  ['status 6', { status: 6 }],
]

describe('category of a payload', () => {
  for (const [name, members] of signs) {
    it(`${name} makes it a letting, even as 0 or false (D23)`, () => {
      assert.equal(impliesLettings({ agent_ref: subject, ...members }), true)
    })
  }

  it('the same fields as null or absent leave it open (D23)', () => {
    const payload = {
      agent_ref: subject,
      status: 1,
      contract_months: null,
      let_type: null,
      minimum_term: null,
      price_information: { price: 250_000, rent_frequency: null, deposit: null },
      details: { furnished_type: null, deposit_replacement_scheme: null, bedrooms: 2 },
    }
    assert.equal(impliesLettings(payload), false)
    assert.equal(impliesLettings({ agent_ref: subject, price_information: null, details: null }), false)
    assert.equal(impliesLettings({ agent_ref: subject }), false)
  })

  it('fields in other places and other statuses say nothing (D23)', () => {
    assert.equal(impliesLettings({ agent_ref: subject, deposit: 5, rent_frequency: 12 }), false)
    for (const status of [1, 2, 3, 4, 5, '6', null]) assert.equal(impliesLettings({ status }), false)
  })

  it('the RTDF sample, which has a rent frequency, is a letting (D23)', () => {
    assert.equal(impliesLettings(rtdfSendProperty), true)
  })
})
