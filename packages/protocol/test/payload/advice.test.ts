import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Category } from '../../src/index.ts'
import {
  adviseContact,
  adviseProperty,
  checkContactPayload,
  checkPropertyPayload,
} from '../../src/payload/index.ts'
import {
  fullContact,
  rtdfRemoveProperty,
  rtdfSendProperty,
  specProperty,
  subject,
  withMember,
} from './samples.ts'
import { webAddresses } from './web-addresses.ts'

const advice = (payload: unknown, category?: Category) =>
  adviseProperty(payload, category).map(({ pointer, code }) => `${pointer} ${code}`)

/** One value for each kind of remark: the contract accepts it, RTDF would not. */
const remarks: readonly (readonly [string, unknown, string])[] = [
  ['/property_type', 17, 'unknown_code'],
  ['/status', 7, 'unknown_code'],
  ['/let_type', 3, 'unknown_code'],
  ['/removal_reason', 1, 'unknown_code'],
  ['/price_information/price_qualifier', 8, 'unknown_code'],
  ['/price_information/rent_frequency', 2, 'unknown_code'],
  ['/price_information/tenure_type', 7, 'unknown_code'],
  ['/price_information/price', 0.99, 'out_of_range'],
  ['/price_information/price', -1, 'out_of_range'],
  ['/price_information/shared_ownership_percentage', 100, 'out_of_range'],
  ['/details/furnished_type', 3, 'unknown_code'],
  ['/details/entrance_floor', 7, 'unknown_code'],
  ['/details/condition', 0, 'unknown_code'],
  ['/details/sewerage', 'septic tank', 'unknown_code'],
  ['/details/council_tax_band', 'J', 'unknown_code'],
  ['/details/epc_information/current_energy_rating', 'H', 'unknown_code'],
  ['/details/epc_information/potential_energy_rating', 'd', 'unknown_code'],
  ['/details/heating/0', 13, 'unknown_code'],
  ['/details/accessibility/1', 1, 'unknown_code'],
  ['/details/broadband/1', 'carrier pigeon', 'unknown_code'],
  ['/details/broadband/0', 7, 'unknown_code'],
  ['/details/sources_of_flooding/0', 'bath', 'unknown_code'],
  ['/risks/sources_of_flooding/0', 'bath', 'unknown_code'],
  ['/media/0/media_type', 8, 'unknown_code'],
  ['/media/0/caption', 'x'.repeat(51), 'too_long'],
  ['/media/0/media_url', `https://example.com/${'x'.repeat(250)}`, 'too_long'],
  ['/media/0/media_url', 'https://example.com/front of house.jpg', 'bad_url'],
  ['/media/0/media_url', 'https://example.com:99999/', 'bad_url'],
  ['/details/summary', 'x'.repeat(1001), 'too_long'],
  ['/details/description', '', 'too_short'],
  ['/details/bedrooms', -1, 'out_of_range'],
  ['/details/features', Array.from({ length: 11 }, (_, index) => `f${index}`), 'too_many_items'],
  ['/address/house_name_number', '', 'too_short'],
  ['/address/town', '😀'.repeat(61), 'too_long'],
  ['/address/postcode_1', 'SW1A 1', 'bad_postcode'],
  ['/address/postcode_2', 'AA', 'bad_postcode'],
  ['/address/latitude', 90.1, 'out_of_range'],
  ['/create_date', '2025-01-31 10:00:00', 'bad_date'],
  ['/date_available', '30-02-2025', 'bad_date'],
]

describe('advice about properties', () => {
  it('a plain payload, the RTDF samples and a bare reference get none (spec §2.3)', () => {
    assert.deepEqual(advice(specProperty, 'lettings'), [])
    assert.deepEqual(advice(rtdfSendProperty, 'lettings'), [])
    assert.deepEqual(advice(rtdfRemoveProperty), [])
    assert.deepEqual(advice({ agent_ref: subject }), [])
  })

  for (const [pointer, value, code] of remarks) {
    const shown = JSON.stringify(value).slice(0, 40)
    it(`${pointer} ${shown}: ${code}, and the payload is still accepted (spec §2.3)`, () => {
      const payload = withMember(specProperty, pointer, value)
      assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
      assert.deepEqual(advice(payload), [`${pointer} ${code}`])
    })
  }

  it('for a URL the advice says whether its host or port is wrong, or its characters (spec §2.7)', () => {
    const messageFor = (media_url: string) =>
      adviseProperty({ agent_ref: subject, media: [{ media_url }] }, undefined)[0]?.message ?? ''
    assert.match(messageFor('https://example.com/front of house.jpg'), /percent-encoded/)
    for (const url of ['https://example.com:99999/', 'https://[.]/', 'https://256.1.1.1/']) {
      assert.match(messageFor(url), /should be a URL with a valid host and a port up to 65535; /, url)
    }
  })

  it('an address is refused, said to be not shown, advised on or passed, as the table has it (spec §2.7)', () => {
    for (const { sent, receipt, shown } of webAddresses) {
      const payload = { agent_ref: subject, media: [{ media_url: sent }] }
      const isRefused = checkPropertyPayload(payload, { publishedRequired: false }).length > 0
      assert.equal(isRefused, receipt === 'refused', sent)
      if (isRefused) continue
      const [said, ...more] = adviseProperty(payload, undefined)
      assert.deepEqual([said !== undefined, more], [receipt !== 'nothing', []], sent)
      assert.equal(said?.message.includes('not shown') ?? false, shown === undefined, sent)
      assert.equal(said?.pointer ?? '/media/0/media_url', '/media/0/media_url')
    }
  })

  it('dates exist and are written day first (D24)', () => {
    for (const text of ['29-02-2024 00:00:00', '31-12-1999 23:59:59', '29-02-2000 12:00:00']) {
      assert.deepEqual(advice({ agent_ref: subject, create_date: text }), [])
    }
    for (const text of [
      '29-02-2023 00:00:00',
      '29-02-1900 00:00:00',
      '31-04-2025 00:00:00',
      '00-00-0000 00:00:00',
      '01-13-2025 00:00:00',
      '01-01-2025 24:00:00',
      '01-01-2025 00:60:00',
      '01-01-2025 00:00:60',
      '01-01-2025T00:00:00',
      '01-01-2025',
      '1-1-2025 00:00:00',
      '01/01/2025 00:00:00',
      '',
    ]) {
      assert.deepEqual(advice({ agent_ref: subject, create_date: text }), ['/create_date bad_date'], text)
    }
    assert.deepEqual(advice({ agent_ref: subject, date_available: '01-02-2025' }), [])
  })

  it('repeats are remarked on, but not those of accessibility codes, which the spec shows (spec §2.6)', () => {
    assert.deepEqual(advice(withMember(specProperty, '/details/heating', [7, 7, null, null])), [
      '/details/heating/1 repeated_item',
    ])
    assert.deepEqual(advice(withMember(specProperty, '/details/accessibility', [42, 42])), [])
  })

  it('a photograph that is there twice is remarked on, and not one that is also a floor plan (spec §2.7)', () => {
    const item = (media_type: number | null, media_url: string | null) => ({ media_type, media_url })
    const address = 'https://pictures.example/tŷ.jpg'
    const media = [
      item(1, address),
      item(2, address),
      item(1, 'https://pictures.example/2.jpg'),
      item(1, address),
      item(null, null),
      item(null, null),
    ]
    assert.deepEqual(advice({ agent_ref: subject, media }), ['/media/3 repeated_item'])
    const many = Array.from({ length: 30 }, (_, index) => item(1, `https://pictures.example/${index}.jpg`))
    assert.deepEqual(
      advice({ agent_ref: subject, media: [...many, item(1, 'https://pictures.example/7.jpg')] }),
      ['/media/30 repeated_item'],
    )
  })

  it('a position off Africa, or with its two numbers exchanged, is remarked on (spec §2.4)', () => {
    for (const [latitude, longitude, ...expected] of [
      [51.38, -2.36],
      [0, -2.36],
      [51.48, 0],
      [60.8, -0.8],
      [0, 0, '/address/latitude bad_position'],
      [-0, 0, '/address/latitude bad_position'],
      [-2.36, 51.38, '/address/latitude bad_position'],
      [0, 51.48, '/address/latitude bad_position'],
      [1.7, 52.6, '/address/latitude bad_position'],
      [40.4, -3.7],
      [null, 0],
      [0, null],
    ] as const) {
      const payload = { agent_ref: subject, address: { latitude, longitude } }
      assert.deepEqual(advice(payload), expected, `${latitude}, ${longitude}`)
    }
    const [zero] = adviseProperty({ agent_ref: subject, address: { latitude: 0, longitude: 0 } }, undefined)
    assert.match(zero?.message ?? '', /^address\/latitude and longitude are 0, .*not shown\.$/)
  })

  it('what belongs to the other category is remarked on, with the status by name (D23)', () => {
    const letting = { agent_ref: subject, let_type: 1 }
    const [sstc] = adviseProperty({ ...letting, status: 2 }, 'lettings')
    assert.equal(sstc?.code, 'sales_only')
    assert.match(sstc?.message ?? '', /^status is 2 \(SSTC\), which is for sales only/)
    for (const status of [1, 4, 5, 6]) assert.deepEqual(advice({ ...letting, status }, 'lettings'), [])
    assert.deepEqual(advice({ ...letting, price_information: { auction: true } }, 'lettings'), [
      '/price_information/auction sales_only',
    ])
    const common = { price_information: { auction: false, tenure_type: 2 } }
    assert.deepEqual(advice({ ...letting, ...common }, 'lettings'), [])
    assert.deepEqual(advice({ ...letting, status: 6 }, 'sales'), [
      '/status lettings_only',
      '/let_type lettings_only',
    ])
  })

  it('without a known category there is no advice that depends on it (D23)', () => {
    const open = {
      agent_ref: subject,
      status: 2,
      student_property: true,
      price_information: { auction: true },
    }
    assert.deepEqual(advice(open), [])
  })

  it('a removal reason may be any words, and a number is one of the list (D26)', () => {
    assert.deepEqual(advice({ agent_ref: subject, removal_reason: 'withdrawn by the vendor' }), [])
    assert.deepEqual(advice({ agent_ref: subject, removal_reason: 9 }), [])
  })

  it('at most 50 remarks are made about one payload (P11)', () => {
    const heating = Array.from({ length: 10_000 }, (_, index) => 1000 + index)
    assert.equal(advice({ agent_ref: subject, status: 99, details: { heating } }).length, 50)
  })

  it('any value can be examined without an exception (P11)', () => {
    for (const value of [
      null,
      undefined,
      1,
      'x',
      [],
      [[]],
      { address: [], details: 'x', media: {}, risks: 1 },
    ]) {
      assert.deepEqual(adviseProperty(value, 'sales'), [])
      assert.deepEqual(adviseContact(value), [])
    }
  })
})

describe('advice about contacts', () => {
  const contactAdvice = (payload: unknown) =>
    adviseContact(payload).map(({ pointer, code }) => `${pointer} ${code}`)

  it('a full contact gets none (D18)', () => {
    assert.deepEqual(contactAdvice(fullContact), [])
  })

  const wrong: readonly (readonly [string, unknown, string, string])[] = [
    ['/kind', 'household', '/kind', 'unknown_code'],
    ['/roles', ['executor'], '/roles/0', 'unknown_code'],
    ['/roles', ['vendor', 'vendor'], '/roles/1', 'repeated_item'],
    ['/communications/0/channel', 'telex', '/communications/0/channel', 'unknown_code'],
    ['/communications/0/value', 'not an address', '/communications/0/value', 'bad_email'],
    ['/communications/1/value', 'call me', '/communications/1/value', 'bad_phone'],
    [
      '/communications/0/consent/given_date',
      null,
      '/communications/0/consent/given_date',
      'consent_without_date',
    ],
    [
      '/communications/0/consent/given_date',
      '2025-01-01',
      '/communications/0/consent/given_date',
      'bad_date',
    ],
    ['/address/postcode_1', '90210', '/address/postcode_1', 'bad_postcode'],
    ['/address/country', 'England', '/address/country', 'unknown_code'],
    ['/properties/0/role', 'ghost', '/properties/0/role', 'unknown_code'],
    ['/notes', 'x'.repeat(4001), '/notes', 'too_long'],
    ['/create_date', '31-02-2025 00:00:00', '/create_date', 'bad_date'],
  ]
  for (const [pointer, value, at, code] of wrong) {
    it(`${pointer} ${JSON.stringify(value).slice(0, 30)}: ${code}, without repeating it (D18)`, () => {
      const payload = withMember(fullContact, pointer, value)
      assert.deepEqual(checkContactPayload(payload), [])
      const [first, ...more] = adviseContact(payload)
      assert.deepEqual([first?.pointer, first?.code, more], [at, code, []])
      if (typeof value === 'string') assert.ok(!first?.message.includes(value))
    })
  }

  it('postcodes abroad have their own form (D18)', () => {
    const address = { postcode_1: '90210', postcode_2: '', country: 'US' }
    assert.deepEqual(contactAdvice({ contact_ref: subject, address }), [])
  })

  it('long hostile texts are looked at without going back over them again and again (P11)', () => {
    for (const unit of ['a', '@', '.', ' ', '1', '(', 'x', 'a.', '1 ']) {
      const value = unit.repeat(100_000)
      const communications = [
        { channel: 'email', value: `a@${value}` },
        { channel: 'phone', value },
      ]
      assert.ok(contactAdvice({ contact_ref: subject, communications }).length >= 2)
    }
  })
})
