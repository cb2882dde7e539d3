/** A property as a page shows it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codedFields } from '../../../protocol/schemas/index.ts'
import {
  codeOf,
  codeNames,
  contactCodeLists,
  listing,
  nameOf,
  propertyCodeLists,
} from '../../src/listing/index.ts'
import { addresses } from './addresses.ts'
import type { CodeListName, Listing } from '../../src/listing/index.ts'

const shown = (payload: object, options?: Parameters<typeof listing>[1]): Listing =>
  listing(JSON.stringify(payload), options) ?? assert.fail()

/** A payload with a value at a pointer; `*` is the first item of a list. */
function payloadWith(pointer: string, value: unknown): Record<string, unknown> {
  const [name = '', ...rest] = pointer.split('/').slice(1)
  const inner = rest.length === 0 ? value : payloadWith(`/${rest.join('/')}`, value)
  const withoutList =
    rest[0] === '*' ? [rest.length === 1 ? value : payloadWith(`/${rest.slice(1).join('/')}`, value)] : inner
  return { [name]: withoutList }
}

describe('the names of codes', () => {
  const fields = codedFields()

  it('exist for every field that has codes, and lead back to them (PROTOCOL §10)', () => {
    const places = { property: propertyCodeLists, contact: contactCodeLists }
    assert.ok(fields.length > 30)
    for (const { payload, pointer, codes } of fields) {
      const listOf: Readonly<Record<string, CodeListName>> = places[payload]
      const list = listOf[pointer] ?? assert.fail(`${pointer} has codes and no names`)
      assert.deepEqual(
        codeNames[list],
        Object.fromEntries(codes.codes.map(({ code, label }) => [code, label])),
        pointer,
      )
      for (const { code, label } of codes.codes) {
        assert.equal(nameOf(list, code), label)
        assert.equal(codeOf(list, label.toUpperCase()), String(code))
      }
    }
    assert.equal(nameOf('status', 'constructor'), undefined)
    assert.equal(codeOf('status', 'constructor'), undefined)
  })

  it('appear in the listing of a property that has them, each from every field (spec §2.3–2.7)', () => {
    const further: Readonly<Record<string, object>> = {
      '/details/internal_area_unit': { details: { internal_area: 1 } },
      '/details/land_area_unit': { details: { land_area: 1 } },
      '/details/sizing/area_unit': { details: { sizing: { minimum: 1 } } },
      '/price_information/shared_ownership_rent_frequency': { price_information: { shared_ownership: true } },
      '/details/rooms/*/room_dimension_unit': { details: { rooms: [{ room_length: 1, room_width: 2 }] } },
      '/media/*/media_type': { media: [{ media_url: 'https://a.example/1.jpg' }] },
    }
    const merged = (a: unknown, b: unknown): unknown => {
      if (Array.isArray(a) && Array.isArray(b)) return [merged(a[0], b[0])]
      if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a ?? b
      const names = new Set([...Object.keys(a), ...Object.keys(b)])
      return Object.fromEntries(
        Array.from(names, (name) => [name, merged(Reflect.get(a, name), Reflect.get(b, name))]),
      )
    }
    for (const { payload, pointer, codes } of fields) {
      if (payload === 'contact') continue
      for (const { code, label } of codes.codes) {
        const given = merged(payloadWith(pointer, code), further[pointer] ?? {})
        const text = JSON.stringify(shown(given as object))
        assert.ok(text.includes(JSON.stringify(label).slice(1, -1)), `${pointer} ${code}: ${label}`)
      }
    }
  })
})

describe('a listing', () => {
  it('has its price as text (spec §2.5)', () => {
    const sale = (price_information: object) => shown({ price_information }, { category: 'sales' }).price.text
    const rent = (price_information: object) => shown({ price_information }, { category: 'lettings' }).price
    for (const [price, text] of [
      [{ price: 450_000 }, '£450,000'],
      [{ price: 450_000, price_qualifier: 10 }, 'Offers over £450,000'],
      [{ price: 450_000, price_qualifier: 0 }, '£450,000'],
      [{ price: 450_000, price_qualifier: 2 }, 'Guide Price £450,000'],
      [{ price: 450_000, price_qualifier: 1 }, 'POA'],
      [{ price_qualifier_string: 'Price on application' }, 'POA'],
      [
        { price: 450_000, price_qualifier: 99, price_qualifier_string: ' Best and final ' },
        'Best and final £450,000',
      ],
      [{ price: 450_000, price_qualifier: 99 }, '£450,000'],
      [{ price: 1_234.5 }, '£1,234.50'],
      [{ price: 999.999 }, '£1,000'],
      [{ price: 1_234_567_890.01 }, '£1,234,567,890.01'],
      [{ price: '250000' }, '£250,000'],
      [{ price: 0 }, null],
      [{ price: -5 }, null],
      [{ price: 1e300 }, null],
      [{}, null],
      [{ price: 100, rent_frequency: 12 }, '£100'],
    ] as const)
      assert.equal(sale(price), text, JSON.stringify(price))
    for (const [frequency, text, month] of [
      [12, '£1,500 pcm', 1500],
      [52, '£1,500 pw', 6500],
      [4, '£1,500 per quarter', 500],
      [1, '£1,500 pa', 125],
      [365, '£1,500 per day', 45_625],
      [13, '£1,500', null],
      [null, '£1,500', null],
    ] as const) {
      const given = rent({ price: 1_500, rent_frequency: frequency })
      assert.deepEqual([given.text, given.rentPerMonth], [text, month])
    }
    assert.equal(rent({ price: 100, rent_frequency: 52 }).rentPerMonth, 433.33)
    assert.equal(shown({ price_information: { price: 1, price_qualifier: 1 } }).price.amount, null)
  })

  it('has its photographs in order, and floor plans, certificates, tours and documents apart (spec §2.7)', () => {
    const item = (name: string, media_type: unknown, sort_order?: unknown) => ({
      media_type,
      media_url: `https://a.example/${name}`,
      sort_order,
    })
    const media = [
      item('last', 1),
      item('second', 1, 2),
      item('first', 1, 1),
      item('also last', 1, null),
      item('plan', 2),
      item('brochure', 3),
      item('tour', 4),
      item('audio', 5),
      item('epc', 6),
      item('graph', 7),
      item('odd', 12),
      item('none', null),
      { media_type: 1, media_url: 'javascript:alert(1)' },
      { media_type: 1, media_url: 'https://a.example/" onerror="x' },
      { media_type: 1, media_url: null },
      null,
    ]
    const { photographs, floorPlans, documents, tours, energyCertificates, otherMedia } = shown({ media })
    const names = (of: Listing['photographs']) => of.map(({ url }) => url.slice('https://a.example/'.length))
    assert.deepEqual(names(photographs), ['first', 'second', 'last', 'also%20last', '%22%20onerror=%22x'])
    assert.deepEqual(names(floorPlans), ['plan'])
    assert.deepEqual(names(documents), ['brochure'])
    assert.deepEqual(names(tours), ['tour', 'audio'])
    assert.deepEqual(names(energyCertificates), ['epc', 'graph'])
    assert.deepEqual(names(otherMedia), ['odd', 'none'])
    assert.deepEqual(otherMedia[0]?.type, { code: 12, name: null })
  })

  it('has each photograph once, in its first place (spec §2.7)', () => {
    const item = (media_type: number, name: string, caption: string) => ({
      media_type,
      media_url: `https://a.example/${name}`,
      caption,
    })
    const media = [
      item(1, 'tŷ gwyn.jpg', 'Blaen – £'),
      item(1, '2.jpg', ''),
      item(2, '2.jpg', 'Plan'),
      item(1, 't%C5%B7%20gwyn.jpg', 'Eto'),
      item(1, '2.jpg', ''),
    ]
    const { photographs, floorPlans } = shown({ media })
    assert.deepEqual(
      [photographs, floorPlans].map((kind) => kind.map(({ url, caption }) => [url.slice(18), caption])),
      [
        [
          ['t%C5%B7%20gwyn.jpg', 'Blaen – £'],
          ['2.jpg', ''],
        ],
        [['2.jpg', 'Plan']],
      ],
    )
  })

  it('has an address to show, lines to send to, and a position or none (spec §2.4)', () => {
    const address = {
      house_name_number: '12',
      address_2: 'High  Street ',
      address_3: '',
      town: 'Leeds',
      postcode_1: 'ls1',
      postcode_2: '4ab',
      latitude: 53.8,
      longitude: -1.5,
    }
    assert.deepEqual(shown({ address }).address, {
      display: 'High Street, Leeds',
      lines: ['12 High Street', 'Leeds', 'LS1 4AB'],
      town: 'Leeds',
      postcode: 'LS1 4AB',
      position: { latitude: 53.8, longitude: -1.5 },
    })
    const named = {
      house_name_number: 'Rose Cottage',
      address_2: 'Leeds',
      town: 'Leeds',
      display_address: 'Leeds',
    }
    assert.deepEqual(shown({ address: named }).address.lines, ['Rose Cottage', 'Leeds'])
    for (const position of [
      {},
      { latitude: 1 },
      { latitude: 0, longitude: 0 },
      { latitude: 91, longitude: 0 },
    ])
      assert.equal(shown({ address: position }).address.position, null)
    assert.equal(shown({}).address.display, null)
  })

  it('says each part of its address once, the number in front of its street, the postcode whole (spec §2.4)', () => {
    for (const { address, lines, display } of addresses) {
      const found = shown({ address }).address
      assert.deepEqual(found.lines, lines, JSON.stringify(address))
      if (display !== undefined) assert.equal(found.display, display)
    }
    const hostile = ['1-', '1 - ', ', 1', '(', '\\', '1 a '].map((piece) => piece.repeat(20_000))
    for (const text of hostile) {
      const { address } = shown({ address: { house_name_number: text, address_2: `${text}x`, town: text } })
      assert.equal(address.town, text.trim())
    }
  })

  it('has codes that are words in either case: energy rating c is C (spec §2.6)', () => {
    const {
      energyRating,
      potentialEnergyRating,
      councilTaxBand,
      broadband,
      water,
      electricity,
      floodingSources,
    } = shown({
      details: {
        epc_information: { current_energy_rating: 'c', potential_energy_rating: ' b ' },
        council_tax_band: 'd',
        broadband: ['FTTC', 'string'],
        water: 'Mains_Supply',
        electricity: ['MAINS_SUPPLY'],
      },
      risks: { sources_of_flooding: ['River'] },
    })
    assert.deepEqual(
      [
        energyRating,
        potentialEnergyRating,
        councilTaxBand,
        ...broadband,
        water,
        ...electricity,
        ...floodingSources,
      ],
      [
        { code: 'C', name: 'Band C' },
        { code: 'B', name: 'Band B' },
        { code: 'D', name: 'Band D' },
        { code: 'fttc', name: 'Fibre to the cabinet' },
        { code: 'string', name: null },
        { code: 'mains_supply', name: 'Mains supply' },
        { code: 'mains_supply', name: 'Mains supply' },
        { code: 'river', name: 'River' },
      ],
    )
  })

  it('has dates as dates, and names what is missing (D24)', () => {
    const dated = shown({
      create_date: '02-07-2025 23:59:59',
      update_date: '31-02-2025 00:00:00',
      date_available: '01-09-2025',
      deposit: 1,
    })
    assert.equal(dated.addedOn, '2025-07-02')
    assert.equal(dated.changedOn, null)
    assert.equal(dated.availableOn, '2025-09-01')
    const early = '05-02-2026 9:05:03'
    const { addedOn, changedOn, availableOn, photographs } = shown({
      create_date: early,
      update_date: early,
      date_available: early,
      media: [{ media_type: 1, media_url: 'https://a.example/1.jpg', media_update_date: early }],
    })
    assert.deepEqual([addedOn, changedOn, availableOn], ['2026-02-05', '2026-02-05', '2026-02-05'])
    assert.equal(photographs[0]?.updatedOn, '2026-02-05T09:05:03')
    for (const wrong of ['5-02-2026 9:05:03', '05-02-2026 9:5:03', '05-02-2026  9:05:03', '05-02-2026 09:05'])
      assert.equal(shown({ create_date: wrong }).addedOn, null, wrong)
    const details = { description: 'x', summary: 'x', bedrooms: 0 }
    const whole = {
      property_type: 8,
      status: 1,
      price_information: { price: 1 },
      address: { display_address: 'x', postcode_1: 'E1', latitude: 51, longitude: 0.1 },
      details,
      media: [{ media_type: 1, media_url: 'https://a.example/1.jpg' }],
    }
    assert.deepEqual(shown(whole).missing, [])
    assert.deepEqual(shown({ ...whole, media: [], price_information: { deposit: 500 } }).missing, [
      '/price_information/price',
      '/price_information/rent_frequency',
      '/media',
    ])
    assert.equal(shown({}).missing.length, 10)
  })

  it('is of the category that its event has, else of the one that its payload shows (D23)', () => {
    assert.equal(shown({}).category, 'sales')
    const signs = [
      ['price_information', 'rent_frequency'],
      ['price_information', 'deposit'],
      ['details', 'furnished_type'],
      ['details', 'deposit_replacement_scheme'],
      ['contract_months'],
      ['let_type'],
      ['minimum_term'],
    ] as const
    const payloadOf = ([outer, inner]: (typeof signs)[number], value: unknown) => ({
      [outer]: inner === undefined ? value : { [inner]: value },
    })
    for (const path of signs) {
      assert.equal(shown(payloadOf(path, 1)).category, 'lettings', path.join('/'))
      for (const empty of [0, -0, '0', '0.00', false, 'false', null, '', 'Not specified', [], {}])
        assert.equal(
          shown(payloadOf(path, empty)).category,
          'sales',
          `${path.join('/')} ${JSON.stringify(empty)}`,
        )
    }
    assert.equal(shown({ status: 6 }).category, 'lettings')
    assert.equal(shown({ status: 6 }, { category: 'sales' }).category, 'sales')
  })

  it('accepts any text, and does not exist for one that is not a JSON object (P11)', () => {
    for (const text of ['', 'null', '[]', '{', '1']) assert.equal(listing(text), undefined)
    const odd = shown({
      address: [],
      details: 'x',
      media: {},
      price_information: null,
      status: 'x',
      published: 'true',
    })
    assert.equal(odd.published, true)
    assert.equal(odd.status, null)
    assert.deepEqual(shown({ status: 77, statusstring: 'Sold' }).status, { code: 77, name: 'Sold' })
    assert.equal(shown({ removal_reason: 9 }).removalReason, 'Withdrawn from Market')
    assert.equal(shown({ removal_reason: 'Sold' }).removalReason, 'Sold')
  })
})
