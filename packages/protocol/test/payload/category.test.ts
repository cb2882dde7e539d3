import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adviseProperty, impliesLettings, priceLooksLike } from '../../src/payload/index.ts'
import { rtdfSendProperty, subject } from './samples.ts'

/** Each sign of a letting, as it counts and as it is sent by somebody who did not fill it in. */
const signs: readonly (readonly [string, (value: unknown) => object, unknown, readonly unknown[]])[] = [
  ['rent_frequency', (rent_frequency) => ({ price_information: { rent_frequency } }), 12, [0]],
  ['deposit', (deposit) => ({ price_information: { deposit } }), 0.5, [0, -0, -1]],
  ['contract_months', (contract_months) => ({ contract_months }), 12, [0]],
  ['let_type', (let_type) => ({ let_type }), 1, [0]],
  ['minimum_term', (minimum_term) => ({ minimum_term }), 6, [0]],
  ['furnished_type', (furnished_type) => ({ details: { furnished_type } }), 2, [0]],
  ['scheme', (deposit_replacement_scheme) => ({ details: { deposit_replacement_scheme } }), true, [false]],
]

describe('category of a payload', () => {
  for (const [name, payloadOf, sign, zeros] of signs) {
    it(`${name} makes it a letting, and does not as 0, false, "not specified" or empty (D23)`, () => {
      assert.equal(impliesLettings({ agent_ref: subject, ...payloadOf(sign) }), true)
      for (const empty of [...zeros, null, undefined, '', 'Not specified', [], {}, false]) {
        assert.equal(
          impliesLettings({ agent_ref: subject, ...payloadOf(empty) }),
          false,
          JSON.stringify(empty),
        )
        // What is no sign of a letting is no mistake in a sale either.
        assert.deepEqual(
          adviseProperty(payloadOf(empty), 'sales').filter(({ code }) => code === 'lettings_only'),
          [],
        )
      }
    })
  }

  it('status 6, Let Agreed, makes it a letting; all signs absent or null leave it open (D23)', () => {
    assert.equal(impliesLettings({ agent_ref: subject, status: 6 }), true)
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

describe('what a price looks like', () => {
  const prices: readonly (readonly [object, ReturnType<typeof priceLooksLike>])[] = [
    [{ price: 450_000 }, 'sales'],
    [{ price: 450_000, deposit: 1_000, rent_frequency: 0 }, 'sales'],
    [{ price: 950 }, 'lettings'],
    [{ price: 12_500, rent_frequency: 12 }, 'lettings'],
    [{ price: 850_000, rent_frequency: 1 }, 'lettings'],
    [{ price: 450_000, rent_frequency: 12 }, 'sales'],
    [{ price: 5_000, auction: true }, 'sales'],
    [{ price: 10_000 }, 'sales'],
    [{ price: 9_999 }, 'lettings'],
    [{ price: 100_000, rent_frequency: 12 }, 'sales'],
    [{ price: 99_999, rent_frequency: 12 }, 'lettings'],
    [{ price: 10 }, 'lettings'],
    [{ price: 9 }, undefined],
    [{ price: 1 }, undefined],
    [{ price: 0 }, undefined],
    [{ price: null }, undefined],
    [{}, undefined],
  ]
  for (const [price_information, look] of prices) {
    it(`${JSON.stringify(price_information)}: ${look ?? 'nothing'} (D23)`, () => {
      assert.equal(priceLooksLike({ agent_ref: subject, price_information }), look)
    })
  }
})
