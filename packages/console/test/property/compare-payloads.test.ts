/** What differs between two payloads, field by field. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { comparePayloads } from '../../src/views/property/diff/compare-payloads.ts'
import type { Difference, ItemChange } from '../../src/views/property/diff/difference.ts'

/** As a line of the timeline says it. */
function said(difference: Difference): string {
  const { label } = difference
  if (difference.kind === 'value') {
    return `${label}: ${difference.before ?? 'nothing'} → ${difference.after ?? 'nothing'}`
  }
  if (difference.kind === 'words') {
    const signs = { same: '', added: '+', removed: '-', gap: '' }
    return `${label}: ${difference.pieces.map(({ kind, text }) => `${signs[kind]}${text}`).join(' | ')}`
  }
  const more = difference.more > 0 ? ` and ${difference.more} more` : ''
  return `${label}: ${difference.changes.map(changeSaid).join(', ')}${more}`
}

function changeSaid({ kind, name, from, differences = [] }: ItemChange): string {
  const within = differences.length === 0 ? '' : ` (${differences.map(said).join('; ')})`
  return `${name} ${kind}${from === undefined ? '' : ` from ${from}`}${within}`
}

const picture = (name: string, further: object = {}) => ({
  media_type: 1,
  media_url: `https://images.example.com/${name}.jpg`,
  ...further,
})

const cases: readonly {
  readonly what: string
  readonly before: unknown
  readonly after: unknown
  readonly said: readonly string[]
}[] = [
  { what: 'nothing', before: { status: 1 }, after: { status: 1 }, said: [] },
  { what: 'null for what was absent', before: {}, after: { directions: null }, said: [] },
  { what: 'other order and spelling', before: { a: 1, b: [2] }, after: { b: [2.0], a: 1 }, said: [] },
  {
    what: 'a price',
    before: { price_information: { price: 450000 } },
    after: { price_information: { price: 435000 } },
    said: ['price: 450,000 → 435,000'],
  },
  {
    what: 'a price with pence, and one that is gone',
    before: { price_information: { price: 1234.5, deposit: 900 } },
    after: { price_information: { price: 1234.75 } },
    said: ['price: 1,234.50 → 1,234.75', 'deposit: 900 → nothing'],
  },
  {
    what: 'a status, by name, before what every event changes',
    before: { update_date: '01-01-2026 10:00:00', status: 4, statusstring: 'Under offer' },
    after: { update_date: '02-01-2026 10:00:00', status: 1, statusstring: 'For sale' },
    said: [
      'status: Under Offer → Available',
      'update date: 01-01-2026 10:00:00 → 02-01-2026 10:00:00',
      'status text: Under offer → For sale',
    ],
  },
  {
    what: 'a code that no list has',
    before: { status: 1 },
    after: { status: 44 },
    said: ['status: Available → 44'],
  },
  {
    what: 'words in a text',
    before: { details: { summary: 'A house of three bedrooms, reduced for sale.' } },
    after: { details: { summary: 'A house of three bedrooms, reduced for a quick sale.' } },
    said: ['summary: A house of three bedrooms, reduced for | +a quick | sale.'],
  },
  {
    what: 'a text that is another one',
    before: { details: { summary: 'One bedroom flat' } },
    after: { details: { summary: 'Detached house with garage' } },
    said: ['summary: -One bedroom flat | +Detached house with garage'],
  },
  {
    what: 'blanks alone',
    before: { details: { summary: 'two  words here' } },
    after: { details: { summary: 'two words here' } },
    said: ['summary: other blanks → same words'],
  },
  {
    what: 'photographs that came, went and moved',
    before: { media: ['a', 'b', 'c', 'd'].map((name) => picture(name)) },
    after: { media: ['a', 'new', 'd', 'b'].map((name) => picture(name)) },
    said: ['media: photograph 2 added, photograph 3 removed, photograph 3 moved from 4'],
  },
  {
    what: 'one photograph in front of all others',
    before: { media: ['a', 'b', 'c'].map((name) => picture(name)) },
    after: { media: ['x', 'a', 'b', 'c'].map((name) => picture(name)) },
    said: ['media: photograph 1 added'],
  },
  {
    what: 'photographs sorted by another order',
    before: {
      media: [
        picture('a', { sort_order: 1 }),
        picture('b', { sort_order: 2 }),
        picture('c', { sort_order: 3 }),
      ],
    },
    after: {
      media: [
        picture('a', { sort_order: 9 }),
        picture('b', { sort_order: 2 }),
        picture('c', { sort_order: 3 }),
      ],
    },
    said: ['media: photograph 3 moved from 1'],
  },
  {
    what: 'a photograph with another caption and file, beside a floor plan',
    before: { media: [picture('a', { caption: 'Front' }), { ...picture('plan'), media_type: 2 }] },
    after: {
      media: [
        { ...picture('plan'), media_type: 2 },
        picture('a', { caption: 'Garden', media_update_date: '01-03-2026 09:00:00' }),
      ],
    },
    said: ['media: photograph 1 changed (caption: Front → Garden; file: nothing → 01-03-2026 09:00:00)'],
  },
  {
    what: 'the same photograph twice, and then once',
    before: { media: [picture('a'), picture('a')] },
    after: { media: [picture('a')] },
    said: ['media: photograph 2 removed'],
  },
  {
    what: 'a room by its name',
    before: { details: { rooms: [{ room_name: 'Kitchen', room_length: 3 }, { room_name: 'Hall' }] } },
    after: { details: { rooms: [{ room_name: 'Hall' }, { room_name: 'Kitchen', room_length: 3.5 }] } },
    said: ['rooms: Hall moved from 2, Kitchen changed (room length: 3 → 3.5)'],
  },
  {
    what: 'features and codes',
    before: { details: { features: ['Garage', 'Garden'], heating: [1] } },
    after: { details: { features: ['Garden', 'Sea view'], heating: [1] } },
    said: ['features: Garage removed, Sea view added'],
  },
  {
    what: 'fields that the contract does not have, by their path',
    before: { crm: { 'a/b': { deep: [1, { x: true }] } } },
    after: { crm: { 'a/b': { deep: [1, { x: false }] } } },
    said: ['crm, a/b, deep: number 2 changed (x: yes → no)'],
  },
  {
    what: 'names that objects have by themselves',
    before: JSON.parse('{"__proto__":{"x":1},"toString":1,"constructor":null}'),
    after: JSON.parse('{"__proto__":{"x":2},"hasOwnProperty":2}'),
    said: ['proto, x: 1 → 2', 'hasOwnProperty: nothing → 2', 'toString: 1 → nothing'],
  },
  {
    what: 'a value of another kind',
    before: { details: { obligations: [] } },
    after: { details: { obligations: { Listed: true } } },
    said: ['obligations: [] → {Listed: true}'],
  },
  {
    what: 'markup and letters that turn the writing round, as one line of text',
    before: { directions: 'left' },
    after: { directions: '<img src=x onerror=alert(1)>\u202E\nright' },
    said: ['directions: left → <img src=x onerror=alert(1)> right'],
  },
  {
    what: 'HTML of a description as the text that readers see',
    before: { details: { description: '<p>Light rooms.<br />A garden &amp; a shed, £450,000</p>' } },
    after: {
      details: { description: '<p>Light rooms.<br>A walled garden &amp; a shed, &pound;450,000</p>' },
    },
    said: ['description: Light rooms. A | +walled | garden & a shed, £450,000'],
  },
  {
    what: 'a description of which only the markup differs',
    before: { details: { description: '<p>Light rooms with a view</p>' } },
    after: { details: { description: '<div>Light rooms<br /> with a view</div>' } },
    said: ['description: other markup → same words'],
  },
  {
    what: 'values that look alike, as they are written',
    before: { published: true },
    after: { published: 'yes' },
    said: ['published: true → "yes"'],
  },
  {
    what: 'payloads that are no objects',
    before: null,
    after: 'text',
    said: ['the whole payload: nothing → text'],
  },
]

describe('the difference between two payloads', () => {
  for (const { what, before, after, said: expected } of cases) {
    it(`names ${what} (D31)`, () => {
      const { differences, more } = comparePayloads(before, after)
      assert.deepEqual(differences.map(said), expected)
      assert.equal(more, 0)
    })
  }

  it('lists a limited number of differences and counts the others (D31)', () => {
    const fields = (value: number) =>
      Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field_${n}`, value]))
    const { differences, more } = comparePayloads(fields(1), fields(2))
    assert.equal(differences.length, 100)
    assert.equal(more, 4_900)
  })

  it('shows the beginning of a line of a megabyte, and copes with endlessly nested values (D31)', () => {
    const line = 'x'.repeat(2 ** 20)
    const long = comparePayloads({ directions: line }, { directions: `${line}y` }).differences[0]
    assert(long?.kind === 'value' && (long.after ?? '').length <= 200)

    const words = Array.from({ length: 150_000 }, (_, n) => `w${n % 977}`)
    const prose = comparePayloads(
      { directions: words.join(' ') },
      { directions: words.toReversed().join(' ') },
    )
    assert(JSON.stringify(prose).length < 20_000)

    const deep = (last: string): unknown =>
      JSON.parse(`${'['.repeat(100_000)}"${last}"${']'.repeat(100_000)}`)
    const nested = comparePayloads({ crm: deep('a') }, { crm: deep('b') })
    assert.equal(nested.differences.length, 1)
    assert.deepEqual(comparePayloads({ crm: deep('a') }, { crm: deep('a') }).differences, [])

    const list = (last: number): unknown => ({ crm: [...Array.from({ length: 200_000 }, () => 0), last] })
    assert.deepEqual(comparePayloads(list(1), list(2)).differences.map(said), ['crm: 1 removed, 2 added'])
  })
})
