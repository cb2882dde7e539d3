/** Payloads as a publisher would send them. */
import { randomUUID } from 'node:crypto'

export interface TestProperty {
  readonly agent_ref: string
  readonly published: boolean
  readonly [field: string]: unknown
}

/** A sales property in the spec's form; `fields` replace its own. */
export function property(fields: Readonly<Record<string, unknown>> = {}): TestProperty {
  return {
    agent_ref: randomUUID(),
    published: true,
    property_type: 26,
    status: 1,
    statusstring: 'Available',
    address: {
      house_name_number: '12',
      address_2: 'Mill Lane',
      town: 'Ely',
      postcode_1: 'CB7',
      postcode_2: '4AA',
      display_address: 'Mill Lane, Ely',
    },
    price_information: { price: 350000 },
    details: { summary: 'A house.', description: 'A house by the river.', features: ['Garden'], bedrooms: 3 },
    media: [{ media_type: 1, media_url: 'https://images.example.com/front.jpg', sort_order: 0 }],
    ...fields,
  }
}

/** A contact; `fields` replace its own. */
export function contact(fields: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { contact_ref: randomUUID(), kind: 'person', forename: 'Ada', surname: 'Example', ...fields }
}
