/** The listing model in PHP says what the client's says, of any payload. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { allNames } from '../packages/client/src/listing/entity-names.ts'
import { codeNames, listing } from '../packages/client/src/listing/index.ts'
import { addresses } from '../packages/client/test/listing/addresses.ts'
import { payloadOf } from '../packages/client/test/listing/text-fields.ts'
import { markedTexts, plainTexts } from '../packages/client/test/listing/texts.ts'
import { codedFields } from '../packages/protocol/schemas/index.ts'
import { webAddresses } from '../packages/protocol/test/payload/web-addresses.ts'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }
const folder = join(import.meta.dirname, 'php')

/** Runs PHP code with these lines on its standard input, and gives back its lines. */
function php(code: string, lines: readonly string[]): readonly unknown[] {
  const start = `require ${JSON.stringify(join(folder, 'PropertyListing.php'))};`
  const loop = `while (($line = fgets(STDIN)) !== false) { echo json_encode(${code}, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\\n"; }`
  const { stdout, stderr, status } = spawnSync('php', ['-d', 'error_reporting=-1', '-r', start + loop], {
    input: lines.map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  assert.equal(status, 0, stdout.slice(-2_000) + stderr)
  const answers = stdout.trimEnd().split('\n')
  assert.equal(answers.length, lines.length, stdout.slice(0, 2_000))
  return answers.map((line): unknown => JSON.parse(line))
}

const listingCode = 'PropertyListing::of(json_decode($line, true, 64, JSON_THROW_ON_ERROR))'

const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'x',
    '12',
    'High Street',
    'POA',
    'true',
    '1',
    '01-09-2025',
    '31-06-2025 10:00:00',
    '02-07-2025 23:59:59',
    '05-02-2026 9:05:03',
  ),
  fc.constantFrom(
    'https://a.example/1.jpg',
    "HTTPS://a.example/Tŷ Gwyn's\\\n£1.jpg",
    'http://a b',
    'javascript:x',
    '<p>A<b>b</p>\n\n<li>c',
    '&pound;1 &#x1F600;',
    '&lt;p&gt;T&amp;ycirc; &#146;&lt;/p&gt;',
    '<![CDATA[&eacute]]>',
    'a\n\nb\r\nc',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)
const number = fc.oneof(
  fc.integer({ min: -2, max: 70 }),
  // As people write them: the two languages write 0.0000027 as a text differently.
  fc.integer({ min: -1_000_000, max: 2_000_000_000 }).map((thousandths) => thousandths / 1_000),
  fc.constantFrom(0, 1.005, 2.675, 1_234_567.891, 1e15, 52, 365, 12),
)
const value = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.oneof(text, number), { minLength: 1, maxLength: 4 }),
)

/** Members as the contract has them, with values of the right kind as a rule, and of any kind at times. */
const oneOf = (usual: fc.Arbitrary<unknown>) => fc.oneof({ weight: 6, arbitrary: usual }, value)
const record = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .record({ kept: fc.constant(1), ...members }, { requiredKeys: ['kept'] })
    .map((members_): unknown => members_)

const coded = (pointer: string): fc.Arbitrary<unknown> => {
  const field = codedFields().find((one) => one.payload === 'property' && one.pointer === pointer)
  const codes = (field ?? assert.fail(pointer)).codes.codes.map(({ code }) => code)
  return oneOf(fc.oneof(fc.constantFrom(...codes), fc.constantFrom(...codes).map(String)))
}
const codesAt = (pointer: string) => oneOf(fc.array(coded(`${pointer}/*`), { minLength: 1, maxLength: 4 }))

const flooding = record({ sources_of_flooding: codesAt('/risks/sources_of_flooding') })
const payloads = record({
  agent_ref: fc.oneof(
    fc.uuid(),
    fc.uuid().map((uuid) => uuid.toUpperCase()),
    fc.constant(null),
  ),
  branch_id: text,
  published: oneOf(fc.boolean()),
  new_home: oneOf(fc.boolean()),
  property_type: coded('/property_type'),
  status: coded('/status'),
  statusstring: text,
  let_type: coded('/let_type'),
  create_date: text,
  update_date: text,
  date_available: text,
  directions: text,
  reference: oneOf(text),
  removal_reason: coded('/removal_reason'),
  address: record({
    house_name_number: fc.oneof(text, fc.constantFrom('12-14', 'Flat 3, 1', 'TŶ Gwyn', 'high street')),
    address_2: fc.oneof(text, fc.constantFrom('12 High Street', 'Tŷ Gwyn, High Street', 'ſ', 'K')),
    address_3: fc.oneof(text, fc.constantFrom('HIGH STREET', 'S', 'k')),
    town: text,
    postcode_1: fc.constantFrom('SW1', 'ls1 ', '', 'ls1 4AB'),
    postcode_2: fc.constantFrom('4ab', '', 'LS14ab'),
    display_address: text,
    latitude: oneOf(fc.integer({ min: -91_000, max: 91_000 }).map((thousandths) => thousandths / 1_000)),
    longitude: oneOf(fc.integer({ min: -181_000, max: 181_000 }).map((thousandths) => thousandths / 1_000)),
  }),
  price_information: record({
    price: oneOf(number),
    deposit: oneOf(number),
    price_qualifier: coded('/price_information/price_qualifier'),
    price_qualifier_string: text,
    rent_frequency: coded('/price_information/rent_frequency'),
    tenure_type: coded('/price_information/tenure_type'),
    shared_ownership: oneOf(fc.boolean()),
    shared_ownership_percentage: oneOf(number),
  }),
  details: record({
    summary: text,
    description: oneOf(text),
    features: oneOf(fc.array(text, { minLength: 1, maxLength: 3 })),
    bedrooms: oneOf(number),
    heating: codesAt('/details/heating'),
    parking: codesAt('/details/parking'),
    electricity: codesAt('/details/electricity'),
    broadband: codesAt('/details/broadband'),
    water: coded('/details/water'),
    council_tax_band: coded('/details/council_tax_band'),
    epc_information: record({
      current_energy_rating: coded('/details/epc_information/current_energy_rating'),
    }),
    internal_area: oneOf(number),
    internal_area_unit: coded('/details/internal_area_unit'),
    sizing: record({ minimum: oneOf(number), area_unit: coded('/details/sizing/area_unit') }),
    rooms: oneOf(
      fc.array(record({ room_name: text, room_length: oneOf(number), room_width: oneOf(number) }), {
        minLength: 1,
        maxLength: 2,
      }),
    ),
    risks: flooding,
  }),
  media: oneOf(
    fc.array(
      record({
        media_type: coded('/media/*/media_type'),
        media_url: fc.oneof(
          text,
          fc.string({ unit: 'grapheme', maxLength: 12 }).map((end) => `https://a.example/${end}`),
          fc.constantFrom('https://a.example/1.jpg', 'https://a.example/2.jpg'),
        ),
        sort_order: oneOf(number),
        caption: text,
        media_update_date: text,
      }),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
  ),
  risks: flooding,
})

describe('PropertyListing.php', () => {
  it('shows a property as the client does, whatever its payload holds (spec §2.3–2.7)', withPhp, () => {
    const texts = fc.sample(payloads, 2_000).map((payload) => JSON.stringify(payload))
    const answers = php(listingCode, texts)
    for (const [index, payload] of texts.entries()) {
      const own: unknown = JSON.parse(JSON.stringify(listing(payload)))
      assert.deepEqual(answers[index], own, payload)
    }
  })

  it('takes 0, false and what is empty for no sign of a letting, as the client does (D23)', withPhp, () => {
    const signs = [
      ['price_information', 'rent_frequency'],
      ['price_information', 'deposit'],
      ['details', 'furnished_type'],
      ['details', 'deposit_replacement_scheme'],
      ['contract_months'],
      ['let_type'],
      ['minimum_term'],
    ]
    const values: readonly unknown[] = [
      1,
      '1',
      0,
      -0,
      0.0,
      '0',
      '0.00',
      false,
      null,
      '',
      'Not specified',
      [],
      {},
    ]
    const texts = signs.flatMap(([outer = '', inner]) =>
      values.map((value) => JSON.stringify({ [outer]: inner === undefined ? value : { [inner]: value } })),
    )
    const categories = php(`${listingCode}['category']`, texts)
    for (const [index, payload] of texts.entries()) {
      assert.equal(categories[index], index % values.length < 2 ? 'lettings' : 'sales', payload)
      assert.equal(categories[index], listing(payload)?.category, payload)
    }
  })

  it('shows long and broken descriptions as the client does (P11)', withPhp, () => {
    const pieces = [
      '<x> ',
      '&nbsp;',
      'a<br>',
      '<a b="',
      '</script',
      '<!--',
      '<p>',
      '<b>',
      '\n',
      '<',
      '\u00e9',
    ]
    const texts = pieces.flatMap((piece) =>
      ['', '<script>'].map((start) =>
        JSON.stringify({ details: { description: start + piece.repeat(60_000 / piece.length) } }),
      ),
    )
    const answers = php(listingCode, texts)
    for (const [index, payload] of texts.entries()) {
      assert.deepEqual(answers[index], JSON.parse(JSON.stringify(listing(payload))), payload.slice(0, 60))
    }
  })

  it('shows texts of all kinds in every field as the client does, by the same table (P11)', withPhp, () => {
    const written = [...Object.keys(plainTexts), ...Object.keys(markedTexts)]
    const names = written.flatMap((text) => text.match(/&[A-Za-z]+;/g) ?? [])
    const texts = [...written, ...names].map((text) => JSON.stringify(payloadOf(text)))
    const answers = php(listingCode, texts)
    for (const [index, payload] of texts.entries()) {
      assert.deepEqual(answers[index], JSON.parse(JSON.stringify(listing(payload))), payload)
    }
  })

  it(
    'knows the names of characters that PHP and HTML 4 know, and no others than the client (P11)',
    withPhp,
    () => {
      const [ofHtml4] = php(
        'array_map(fn ($name) => [$name, html_entity_decode($name, ENT_QUOTES | ENT_HTML5)], array_values(get_html_translation_table(HTML_ENTITIES, ENT_QUOTES | ENT_HTML401)))',
        ['x'],
      ) as readonly (readonly (readonly [string, string])[])[]
      const byNumber = new Map(ofHtml4)
      const html4 = ofHtml4?.filter(([name]) => !name.startsWith('&#')) ?? []
      assert.equal(html4.length, 252)
      const all = new Map(Array.from(allNames, ([name, character]) => [`&${name};`, character]))
      const invisible = new Map([['&shy;', '']])
      for (const [name, character] of html4)
        assert.equal(all.get(name), invisible.get(name) ?? character, name)
      assert.ok(byNumber.size > 252)
      const names = [...all.keys()]
      const [ofPhp] = php('array_map(PropertyText::decode(...), json_decode($line))', [JSON.stringify(names)])
      assert.deepEqual(ofPhp, [...all.values()])
      const [asHtml] = php(
        'array_map(fn ($name) => html_entity_decode($name, ENT_QUOTES | ENT_HTML5), json_decode($line))',
        [JSON.stringify(names.filter((name) => !invisible.has(name)))],
      )
      assert.deepEqual(
        asHtml,
        names.flatMap((name) => (invisible.has(name) ? [] : [all.get(name)])),
      )
    },
  )

  it('shows where a home is as the client does, by the same table (spec §2.4)', withPhp, () => {
    const hostile = ['1-', '1 - ', ', 1', '(', '\\', '1 a '].map((piece) => {
      const text = piece.repeat(20_000)
      return { house_name_number: text, address_2: `${text}x`, town: text }
    })
    const texts = [...addresses.map(({ address }) => address), ...hostile].map((address) =>
      JSON.stringify({ address }),
    )
    const answers = php(`${listingCode}['address']`, texts)
    for (const [index, payload] of texts.entries()) {
      assert.deepEqual(answers[index], listing(payload)?.address, payload.slice(0, 200))
    }
  })

  it('shows the addresses of photographs as the client does, by the same table (P11)', withPhp, () => {
    const texts = webAddresses.map(({ sent }) =>
      JSON.stringify({ media: [{ media_type: 1, media_url: sent }] }),
    )
    const answers = php(`array_column(${listingCode}['photographs'], 'url')`, texts)
    for (const [index, { sent, shown }] of webAddresses.entries()) {
      assert.deepEqual(answers[index], shown === undefined ? [] : [shown], sent)
    }
  })

  it('has the same names for the same codes, and leads from each back to its code', withPhp, () => {
    const lists = Object.entries(codeNames)
    const known = php(
      '[PropertyEvents\\CodeNames::LISTS[trim($line)], array_map(fn ($name) => PropertyListing::codeOf(trim($line), strtoupper($name)), PropertyEvents\\CodeNames::LISTS[trim($line)])]',
      lists.map(([name]) => name),
    )
    for (const [index, [name, codes]] of lists.entries()) {
      const [names, back] = known[index] as [object, object]
      assert.deepEqual(Object.entries(names), Object.entries(codes), name)
      assert.deepEqual(
        Object.entries(back).map(([code, found]) => [code, String(found)]),
        Object.keys(codes).map((code) => [code, code]),
      )
    }
  })
})
