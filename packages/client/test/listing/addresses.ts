/** Addresses as agencies' programs fill them in, and the lines that are shown: one table for TypeScript and PHP. */
export interface AddressCase {
  readonly address: Readonly<Record<string, string>>
  readonly lines: readonly string[]
  /** Where nothing says how it should be displayed. */
  readonly display?: string
}

const houses: readonly (readonly [house: string, street: string, ...lines: readonly string[]])[] = [
  ['12', 'Mill Lane', '12 Mill Lane'],
  ['12a', 'Mill Lane', '12a Mill Lane'],
  ['12 B', 'Mill Lane', '12 B Mill Lane'],
  ['12-14', 'Mill Lane', '12-14 Mill Lane'],
  ['12 – 14', 'Mill Lane', '12 – 14 Mill Lane'],
  ['12a-12c', 'Mill Lane', '12a-12c Mill Lane'],
  ['1/2', 'Mill Lane', '1/2 Mill Lane'],
  ['7 & 9', 'Mill Lane', '7 & 9 Mill Lane'],
  ['7 &amp; 9', 'Mill Lane', '7 & 9 Mill Lane'],
  ['Flat 3, 12', 'Mill Lane', 'Flat 3, 12 Mill Lane'],
  ['Tŷ Gwyn, 12', 'Lôn Felin', 'Tŷ Gwyn, 12 Lôn Felin'],
  ['Flat 3', '12 Mill Lane', 'Flat 3', '12 Mill Lane'],
  ['Unit 4', 'Mill Lane', 'Unit 4', 'Mill Lane'],
  ['Tŷ Gwyn', 'Lôn Felin', 'Tŷ Gwyn', 'Lôn Felin'],
  ['꤆᱙', '12 Mill Lane', '꤆᱙', '12 Mill Lane'],
  ['12', '12 Mill Lane', '12 Mill Lane'],
  ['12A', '12a Mill Lane', '12a Mill Lane'],
  ['12', '12, Mill Lane', '12, Mill Lane'],
  ['12', '12-14 Mill Lane', '12-14 Mill Lane'],
  ['12', '120 Mill Lane', '12 120 Mill Lane'],
  ['1', '1st Avenue', '1 1st Avenue'],
  ['Flat 3, 12', '12 Mill Lane', 'Flat 3, 12 Mill Lane'],
  ['Flat 3, 12', 'flat 3, 12 Mill Lane', 'flat 3, 12 Mill Lane'],
  ['TŶ GWYN', 'Tŷ Gwyn, Lôn Felin', 'Tŷ Gwyn, Lôn Felin'],
  ['Mill Lane', 'Mill Lane', 'Mill Lane'],
  ['12', '', '12'],
  ['', '12 Mill Lane', '12 Mill Lane'],
  ['(12)', '(12) Mill Lane', '(12) Mill Lane'],
  ['£12', 'Mill Lane', '£12', 'Mill Lane'],
]

const postcodes: readonly (readonly [outward: string, inward: string, shown: string])[] = [
  ['BA1', '1AA', 'BA1 1AA'],
  ['ba1', ' 1aa ', 'BA1 1AA'],
  ['BA1 1AA', '1AA', 'BA1 1AA'],
  ['BA11AA', '1aa', 'BA1 1AA'],
  ['BA1 1AA', 'BA1', 'BA1 1AA'],
  ['BA1', 'BA1 1AA', 'BA1 1AA'],
  ['BA1 1AA', 'BA1 1AA', 'BA1 1AA'],
  ['ba1  1aa', '', 'BA1 1AA'],
  ['', 'BA11AA', 'BA1 1AA'],
  ['SW1A', '1AA', 'SW1A 1AA'],
  ['M1 1', 'AA', 'M1 1AA'],
  ['M1', 'M1', 'M1'],
  ['M1', '', 'M1'],
  ['', '1AA', '1AA'],
  ['GIR', '0AA', 'GIR 0AA'],
  ['BA1 1AA', 'CB7 4AB', 'BA1 1AA CB7 4AB'],
]

const towns: readonly AddressCase[] = [
  { address: { address_4: 'Bath', town: 'BATH' }, lines: ['Bath'], display: 'Bath' },
  { address: { address_3: 'LLANGEFNI', town: 'Llangefni' }, lines: ['LLANGEFNI'], display: 'LLANGEFNI' },
  {
    address: { address_2: 'Ŷd', address_3: 'ŷd', address_4: 'Yd', town: 'ŶD' },
    lines: ['Ŷd', 'Yd'],
    display: 'Ŷd, Yd',
  },
  {
    address: { house_name_number: '12', address_2: 'Mill Lane', address_3: '12 mill lane', town: 'Bath' },
    lines: ['12 Mill Lane', 'Bath'],
    display: 'Mill Lane, 12 mill lane, Bath',
  },
  {
    address: { address_4: 'ba1 1aa', town: 'Bath', postcode_1: 'BA1', postcode_2: '1AA' },
    lines: ['ba1 1aa', 'Bath'],
    display: 'ba1 1aa, Bath',
  },
  {
    address: { address_2: 'x'.repeat(201), address_3: 'X'.repeat(201), address_4: 'x'.repeat(201) },
    lines: ['x'.repeat(201), 'X'.repeat(201)],
  },
]

export const addresses: readonly AddressCase[] = [
  ...houses.map(([house_name_number, address_2, ...lines]) => ({
    address: { house_name_number, address_2 },
    lines,
  })),
  ...postcodes.map(([postcode_1, postcode_2, shown]) => ({
    address: { postcode_1, postcode_2 },
    lines: [shown],
  })),
  ...towns,
]
