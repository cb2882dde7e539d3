/** Duties by law that adverts are held against: both sides of each border, planted texts, what is stated as none. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  adviseDuties,
  adviseProperty,
  checkPropertyPayload,
  duties,
  findUnknownFields,
} from '../../src/payload/index.ts'
import type { Category } from '../../src/index.ts'
import { harmless, shutting } from './planted-texts.ts'
import { specProperty, subject, withMember } from './samples.ts'

const day = Date.parse('2026-05-01T00:00:00+01:00')
/** The last second of April in London. */
const dayBefore = day - 1000

/** A flat to let in Leeds, of which everything is stated. */
const letting = {
  agent_ref: subject,
  published: true,
  property_type: 8,
  status: 1,
  address: { town: 'Leeds', postcode_1: 'LS6', postcode_2: '2AB' },
  price_information: { price: 1200, rent_frequency: 12, deposit: 1300 },
  details: {
    summary: 'Fflat â golygfa – £1,200 y mis 🏠',
    description: 'A flat with a view. DSS considered.',
    features: ['Balcony'],
    bedrooms: 2,
    council_tax_band: 'B',
    parking: [56],
    heating: [7],
    water: 'mains_supply',
    electricity: ['mains_supply'],
    sewerage: 'mains_supply',
    broadband: ['none'],
    obligations: { Restrictions: false, RightOfWay: false },
    epc_information: { current_energy_rating: 'C' },
  },
  risks: { flooded_in_last_five_years: false },
}

/** A leasehold flat for sale in Leeds, of which everything is stated. */
const sale = {
  ...letting,
  price_information: {
    price: 210_000,
    tenure_type: 2,
    tenure_unexpired_years: 99,
    annual_ground_rent: 0,
    annual_service_charge: 0,
  },
}

/** Whether a payload may have a member at the pointer. */
function isInContract(pointer: string): boolean {
  const names = pointer.split('/').slice(1)
  const payload = names.reduceRight<unknown>((value, name) => ({ [name]: value }), null)
  const { misspelled, others } = findUnknownFields('property', payload)
  return misspelled.length + others === 0
}

function told(payload: unknown, category: Category | undefined = 'lettings', nowMs = day) {
  return adviseDuties(payload, { category, nowMs })
}

const codes = (payload: unknown, category?: Category, nowMs?: number) =>
  told(payload, category, nowMs).map(({ pointer, code }) => `${pointer} ${code}`)

const money = (members: object) => ({
  ...letting,
  price_information: { ...letting.price_information, ...members },
})
const inArea = (postcode_1: unknown) => ({ ...money({ price_qualifier: 10 }), address: { postcode_1 } })
const details = (members: object) => ({ ...letting, details: { ...letting.details, ...members } })

const rentAt = (member: string) => `/price_information/${member} rent_not_specific`
const offersOver = rentAt('price_qualifier')

/** Lettings in England since the law is in force: what is sent, and what is said of it. */
const cases: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['a rent of a month', letting, []],
  ['a rent of a week', money({ rent_frequency: 52 }), []],
  ['a rent of a day', money({ rent_frequency: 365 }), []],
  ['no price', money({ price: null }), [rentAt('price'), '/price_information/price material_information']],
  ['no frequency', money({ rent_frequency: null }), [rentAt('rent_frequency')]],
  ['a frequency of 0', money({ rent_frequency: 0 }), [rentAt('rent_frequency')]],
  ...[1, 2, 4, 5, 6, 7, 10, 15].map(
    (price_qualifier) => [`qualifier ${price_qualifier}`, money({ price_qualifier }), [offersOver]] as const,
  ),
  ...[0, 3, 9, 11, 12, 16, null].map(
    (price_qualifier) => [`qualifier ${price_qualifier}`, money({ price_qualifier }), []] as const,
  ),
  ...[
    '£1,200–£1,300 pcm',
    '£1,200 - £1,300 pcm',
    '£1200 to £1300',
    '1200-1300',
    '£1,200 pcm – £1,300 pcm',
    'between £1,200 and £1,300',
    '£1.2k–£1.3k',
    'from £1,200',
    'POA',
    'Offers over £1,200',
    'OIRO £1,200 – y mis',
    'Offers in excess of £1,200 💷',
    'Guide price',
  ].map((price_qualifier_string) => {
    return [
      price_qualifier_string,
      money({ price_qualifier_string }),
      [rentAt('price_qualifier_string')],
    ] as const
  }),
  ...[
    '£1,200 pcm',
    '£1,200 pcm (£277 pw)',
    '£1,200 pcm / £277 pw',
    'Fixed price',
    '£1,200 y mis – dim ffioedd',
    'Academic year 2026-2027, £1,200 pcm',
    '6-12 months',
    '',
  ].map((price_qualifier_string) => {
    return [`"${price_qualifier_string}"`, money({ price_qualifier_string }), []] as const
  }),
  ['a yearly rent', money({ rent_frequency: 1 }), ['/price_information/rent_frequency rent_period_too_long']],
  [
    'a quarterly rent',
    money({ rent_frequency: 4 }),
    ['/price_information/rent_frequency rent_period_too_long'],
  ],
  [
    'a contract of 12 months',
    { ...letting, contract_months: 12 },
    ['/contract_months fixed_term_advertised'],
  ],
  ['a contract of 0 months', { ...letting, contract_months: 0, minimum_term: 0 }, []],
  ['a term of 6 months', { ...letting, minimum_term: 6 }, ['/minimum_term fixed_term_advertised']],
  [
    'no housing benefit',
    details({ housing_benefit_considered: false }),
    ['/details/housing_benefit_considered tenant_excluded'],
  ],
  ['housing benefit', details({ housing_benefit_considered: true }), []],
  [
    '"No DSS" among features',
    details({ features: ['Garden', 'No DSS'] }),
    ['/details/features/1 tenant_excluded'],
  ],
  ['"no pets"', details({ summary: 'No pets. Dim ysmygu – £1,200' }), []],
  ['"Children\'s playground"', details({ summary: "Children's playground" }), []],
  [
    'words in the description of a room',
    details({ rooms: [{ room_name: 'Loft', room_description: 'Adults only' }] }),
    ['/details/rooms/0/room_description tenant_excluded'],
  ],
  ['an office with an offer', { ...inArea('LS6'), property_type: 178 }, []],
  ['a commercial let', { ...inArea('LS6'), let_type: 4 }, []],
  ['parking with a fixed term', { ...letting, property_type: 45, contract_months: 12 }, []],
]

describe('duties by law', () => {
  for (const [name, payload, expected] of cases) {
    it(`say of ${name}, to let in England: ${expected.length === 0 ? 'nothing' : expected.join(', ')}`, () => {
      assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
      assert.deepEqual(codes(payload), expected)
    })
  }

  it('are said from the day on which they are in force in London, and not a second before', () => {
    const unlawful = {
      ...inArea('LS6'),
      contract_months: 6,
      details: { ...letting.details, summary: 'No DSS' },
    }
    assert.deepEqual(codes(unlawful, 'lettings', dayBefore), [])
    assert.equal(codes(unlawful, 'lettings', day).length, 3)
    const bare = { agent_ref: subject }
    const april = Date.parse('2025-04-05T23:00:00Z')
    assert.deepEqual(codes(bare, 'sales', april - 1), [])
    assert.deepEqual(codes(bare, 'sales', april), ['/price_information/price material_information'])
  })

  it('of lettings are not said of sales, nor where the category is not known', () => {
    const offers = { ...sale, price_information: { ...sale.price_information, price_qualifier: 1 } }
    assert.deepEqual(codes(offers, 'sales'), [])
    assert.deepEqual(adviseDuties(inArea('LS6'), { category: undefined, nowMs: day }), [])
  })

  for (const area of ['LS6', 'sw19', 'M1', 'E1W', 'EC1A']) {
    it(`of England are said in ${area}, without a condition`, () => {
      const [first] = told(inArea(area))
      assert.equal(first?.code, 'rent_not_specific')
      assert.match(first.message, /^price_information\/price_qualifier is 10 \(Offers over\)/)
    })
  }

  for (const area of ['EH1', 'G12', 'AB10', 'CF10', 'SA1', 'BT9', 'GY1', 'IM1', 'JE2']) {
    it(`of England are not said in ${area}`, () => assert.deepEqual(codes(inArea(area)), []))
  }

  for (const area of ['TD15', 'DG16', 'CA6', 'CH5', 'HR3', 'LD8', 'LL14', 'NP16', 'SY10']) {
    it(`of England are said with a condition in ${area}, which crosses its border`, () => {
      assert.match(told(inArea(area))[0]?.message ?? '', /^If it is in England: price_information/)
    })
  }

  it('of England are said with a condition where no postcode tells the nation', () => {
    const no = /^No postcode was sent, so the nation is not known; if it is in England: /
    for (const none of [undefined, null, '', ' ']) {
      assert.match(told(inArea(none))[0]?.message ?? '', no)
    }
    assert.match(told(inArea('ZZ1'))[0]?.message ?? '', /^The postcode does not show the nation; if it is in/)
  })

  it('name the law, the day and what to change', () => {
    const [first] = told(inArea('LS6'))
    assert.equal(
      first?.message,
      'price_information/price_qualifier is 10 (Offers over), which is not one rent. A written advert of a home to let states one rent: ' +
        "no range, and nothing that invites a higher offer (Renters' Rights Act 2025, section 56; in force from 1 May 2026). Send 0 or leave it out.",
    )
  })

  it('are a table with a source and pointers that the contract knows', () => {
    for (const { code, source, inForceFrom, sentence } of duties) {
      assert.ok(source !== '' && sentence !== '' && !Number.isNaN(Date.parse(inForceFrom)), code)
    }
    assert.equal(new Set(duties.map(({ code }) => code)).size, 5)
    for (const { code, pointers } of duties) {
      assert.ok(pointers.length > 0, code)
      for (const pointer of pointers) assert.ok(isInContract(pointer), `${code}: ${pointer}`)
    }
  })

  it('are found at the pointers of the table alone', () => {
    for (const [name, payload] of cases) {
      for (const { code, pointer, pointers = [pointer] } of told(payload)) {
        const known = duties.find((duty) => duty.code === code)?.pointers ?? []
        for (const place of pointers)
          assert.ok(
            known.some((one) => place === one || place.startsWith(`${one}/`)),
            `${name}: ${place}`,
          )
      }
    }
  })

  it('are found in bounded work, and nothing is thrown, whatever a payload is (P11)', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void told({ details: value, price_information: value })))
    const started = performance.now()
    told(details({ description: 'no child, not '.repeat(2_200), summary: 'children <'.repeat(100) }))
    told(details({ description: 'no pets or smokers and '.repeat(1_300) + 'x' }))
    const words = { ...letting.price_information, price_qualifier_string: '1'.repeat(10_000) }
    for (let again = 0; again < 5; again += 1) told({ ...letting, price_information: words })
    assert.ok(performance.now() - started < 1000)
  })
})

describe('wording that shuts people out', () => {
  it('is found in 100 spellings, and quoted', () => {
    assert.equal(new Set(shutting).size, 100)
    const missed = shutting.filter((text) => {
      const description = `Fflat braf – £1,200 pcm 🏠. ${text}\nCall us today.`
      const [first] = told(details({ description }))
      return first?.code !== 'tenant_excluded' || !/ says "[^"]+/.test(first.message)
    })
    assert.deepEqual(missed, [])
  })

  it('is found in those spellings alone, and in capitals', () => {
    for (const text of shutting) {
      assert.deepEqual(
        codes(details({ summary: text.toUpperCase() })),
        ['/details/summary tenant_excluded'],
        text,
      )
    }
  })

  it('is not seen in 100 texts that shut nobody out', () => {
    assert.equal(new Set(harmless).size, 100)
    const alarms = harmless.filter((text) => {
      return (
        codes(details({ summary: text })).length + codes(details({ description: `A flat. ${text}` })).length >
        0
      )
    })
    assert.deepEqual(alarms, [])
  })

  it('is found by each word of the subject, at the beginning and at the end of a text of any kind', () => {
    const words =
      'dss d.s.s. D/S/S dhss dwp benefits uc lha hb children kids babies infants toddlers newborns teenagers youngsters families'
    for (const word of [...words.split(' '), 'universal credit', 'housing allowance', 'social security']) {
      for (const text of [
        `no ${word}`,
        `Tŷ â gardd 🏠 – £900, dim mwg; no ${word}`,
        `no ${word}. ${'Braf. '.repeat(200)}`,
      ]) {
        assert.deepEqual(codes(details({ summary: text })), ['/details/summary tenant_excluded'], text)
      }
    }
    for (const text of [
      'DSS no',
      'uc: no',
      'hb not accepted',
      'Adults only',
      'over 18s only',
      'No under 18s',
      'No 👶',
      'dim plant',
      'No council tenants',
      "Restaurants don't matter, we won't accept children",
    ]) {
      assert.deepEqual(codes(details({ summary: text })), ['/details/summary tenant_excluded'], text)
    }
  })

  it('quotes the passage without markup', () => {
    const [first] = told(details({ description: '<p>Braf.</p><p>Sorry, <b>no</b>&nbsp;pets or DSS.</p>' }))
    assert.match(
      first?.message ?? '',
      /^details\/description says "no pets or DSS"\. An advert does not shut out/,
    )
  })
})

describe('material information', () => {
  const missing = (payload: unknown, category: Category | undefined) => {
    const [first] = told(payload, category).filter(({ code }) => code === 'material_information')
    return (first?.pointers ?? []).map((pointer) => pointer.split('/').at(-1))
  }
  const homes = ['council_tax_band', 'current_energy_rating', 'property_type', 'bedrooms']
  const services = ['parking', 'heating', 'water', 'electricity', 'sewerage', 'broadband']
  const risks = ['flooded_in_last_five_years', 'Restrictions', 'RightOfWay']

  it('is complete where everything is stated, in every nation', () => {
    for (const postcode_1 of ['LS6', 'EH1', 'CF10', 'BT9', null]) {
      assert.deepEqual(missing({ ...letting, address: { postcode_1 } }, 'lettings'), [])
      assert.deepEqual(missing({ ...sale, address: { postcode_1 } }, 'sales'), [])
    }
  })

  it('that is missing is in one warning, with a pointer for each fact', () => {
    const bare = { agent_ref: subject, address: { postcode_1: 'EH1' } }
    const [first, ...more] = told(bare, 'lettings')
    assert.deepEqual(more, [])
    assert.equal(first?.pointer, first?.pointers?.[0])
    assert.match(
      first?.message ?? '',
      /^Not stated: price, deposit, council tax band, EPC rating, .*part 4; in force/,
    )
    assert.deepEqual(missing(bare, 'lettings'), ['price', 'deposit', ...homes, ...services, ...risks])
    assert.deepEqual(missing(bare, 'sales'), ['price', 'tenure_type', ...homes, ...services, ...risks])
    assert.deepEqual(missing({ ...bare, property_type: 20 }, 'sales'), ['price', 'tenure_type', ...risks])
    assert.deepEqual(missing({ ...bare, property_type: 178 }, 'sales'), [])
    const lease = missing({ ...bare, price_information: { tenure_type: 2 } }, 'sales')
    assert.ok(lease.length <= 20)
    assert.deepEqual(lease.slice(1, 4), [
      'tenure_unexpired_years',
      'annual_ground_rent',
      'annual_service_charge',
    ])
    assert.deepEqual(missing({ ...bare, address: { postcode_1: 'JE2' } }, 'sales'), [])
  })

  it('is not stated by null, an empty text or list; and is by 0, false or a code for none', () => {
    for (const [pointer, none, stated] of [
      ['/price_information/deposit', null, 0],
      ['/details/parking', [], [56]],
      ['/details/broadband', [null], ['none']],
      ['/details/water', '', 'private_supply'],
      ['/details/bedrooms', null, 0],
      ['/details/obligations/Restrictions', null, false],
      ['/risks/flooded_in_last_five_years', null, false],
      ['/details/council_tax_band', '', 'TBC'],
    ] as const) {
      assert.deepEqual(missing(withMember(letting, pointer, none), 'lettings'), [pointer.split('/').at(-1)])
      assert.deepEqual(missing(withMember(letting, pointer, stated), 'lettings'), [])
    }
  })

  it('is also stated in the spellings and places of RTDF', () => {
    const { obligations: _, ...rest } = letting.details
    const { risks: __, ...payload } = letting
    const obligations = { restrictions: true, rights_of_way: false }
    const rtdf = { ...payload, details: { ...rest, obligations, risks: { sources_of_flooding: ['river'] } } }
    assert.deepEqual(missing(rtdf, 'lettings'), [])
  })
})

describe('fields that the coming law knows', () => {
  it('are known to the contract: a UPRN as text or number, a registration, four measures of a certificate', () => {
    for (const uprn of [100_023_336_956, '100023336956', '1']) {
      const payload = {
        ...specProperty,
        prs_registration: 'PRS-1',
        address: { ...specProperty.address, uprn },
        details: {
          ...specProperty.details,
          epc_information: {
            fabric_performance: 'B',
            heating_system: 'C',
            smart_readiness: 'A',
            energy_cost: 62,
          },
        },
      }
      assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
      assert.deepEqual(findUnknownFields('property', payload), { misspelled: [], others: 0 })
    }
  })

  it('are advised on: a UPRN has digits alone, and 12 at most', () => {
    const about = (uprn: unknown) =>
      adviseProperty({ ...specProperty, address: { ...specProperty.address, uprn } }, undefined)
        .filter(({ pointer }) => pointer === '/address/uprn')
        .map(({ code }) => code)
    for (const good of [100_023_336_956, '000100023336', null]) assert.deepEqual(about(good), [])
    for (const bad of ['1234567890123', 1_234_567_890_123, '10-02', 'Tŷ £ 🏠', -1])
      assert.deepEqual(about(bad), ['out_of_range'], String(bad))
  })
})
