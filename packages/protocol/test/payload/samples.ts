/** Payloads for the tests. RTDF samples (2016 edition) after frozensheep/rightmoveADF, MIT licence, shortened. */

export const subject = '0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e60'

/** Every field of the spec's tables, once (spec §2.3 to §2.7). */
export const specProperty = {
  branch_id: '12',
  agent_ref: subject,
  published: true,
  property_type: 8,
  status: 1,
  statusstring: 'Available',
  create_date: '02-07-2013 00:00:00',
  contract_months: 12,
  address: {
    house_name_number: '33',
    address_2: 'Sample Street',
    address_3: '',
    town: 'London',
    postcode_1: 'SW19',
    postcode_2: '3QU',
    display_address: 'Sample Street, London',
  },
  price_information: { price: 1500.5, deposit: 1730.76 },
  details: {
    summary: 'A flat.',
    description: 'A flat with a view.',
    features: ['View'],
    bedrooms: 2,
    bathrooms: 1,
    reception_rooms: 1,
    entrance_floor: 2,
    accessibility: [42, 42],
    heating: [7],
    sewerage: 'mains_supply',
    water: 'mains_supply',
    electricity: ['mains_supply'],
    obligations: { Listed: false, Restrictions: true, RequiredAccess: false, RightOfWay: false },
    epc_information: {
      epc_certificate_id: null,
      current_energy_efficiency: 66,
      potential_energy_efficiency: 80,
      current_energy_rating: 'D',
      potential_energy_rating: 'C',
    },
    deposit_replacement_scheme: false,
    flood_defences: false,
    broadband: [null, 'fttp'],
    sources_of_flooding: [null],
  },
  media: [
    {
      media_type: 1,
      media_url: 'https://images.example.com/1.jpg',
      caption: 'Front',
      media_update_date: '02-07-2013 12:12:12',
    },
  ],
  risks: { flood_defences: false, sources_of_flooding: ['river', null] },
  directions: 'Past the station.',
  service_reference: 'SR-1',
}

/** RTDF's SendProperty sample with a UUID as reference, an absolute media URL and a plain `date_available`. */
export const rtdfSendProperty = {
  agent_ref: subject,
  published: true,
  property_type: 2,
  status: 1,
  new_home: false,
  student_property: false,
  create_date: '02-07-2013 00:00:00',
  update_date: '02-07-2013 00:00:00',
  date_available: '02-07-2013',
  contract_months: 12,
  minimum_term: 12,
  let_type: 1,
  address: {
    house_name_number: '33',
    address_2: 'Sample House',
    address_3: '4th Floor',
    address_4: 'Soho Square',
    town: 'London',
    postcode_1: 'W1D',
    postcode_2: '3QU',
    display_address: 'Soho Square',
    latitude: 51.514899,
    longitude: -0.132587,
    pov_latitude: 51.51482,
    pov_longitude: -0.13249,
    pov_pitch: -16.78,
    pov_heading: 235.75,
    pov_zoom: 0,
  },
  price_information: {
    price: 1500,
    price_qualifier: 0,
    deposit: 1000,
    administration_fee: '100',
    rent_frequency: 1,
    tenure_type: 1,
    auction: false,
    tenure_unexpired_years: 999,
    price_per_unit_area: 10,
  },
  details: {
    summary: 'Sample property',
    description: 'All the fields of the schema in one call',
    features: ['Has own Drive', 'Garage included', 'Double Glazed'],
    bedrooms: 2,
    bathrooms: 2,
    reception_rooms: 1,
    parking: [13],
    outside_space: [29],
    year_built: 999,
    internal_area: 100,
    internal_area_unit: 1,
    land_area: 100,
    land_area_unit: 1,
    floors: 5,
    entrance_floor: 1,
    condition: 1,
    accessibility: [42],
    heating: [1],
    furnished_type: 0,
    pets_allowed: true,
    smokers_considered: true,
    housing_benefit_considered: true,
    sharers_considered: true,
    burglar_alarm: true,
    washing_machine: true,
    dishwasher: true,
    all_bills_inc: true,
    water_bill_inc: true,
    gas_bill_inc: true,
    electricity_bill_inc: true,
    tv_licence_inc: true,
    sat_cable_tv_bill_inc: true,
    internet_bill_inc: true,
    business_for_sale: true,
    comm_use_class: [1, 4],
    rooms: [
      {
        room_name: 'room1',
        room_description: 'room1',
        room_length: 10.1,
        room_width: 20.2,
        room_dimension_unit: 5,
        room_photo_urls: ['http://www.example.com/image1.JPG'],
      },
    ],
  },
  media: [
    {
      media_type: 1,
      media_url: 'http://www.example.com/image1.JPG',
      caption: 'This is an image',
      sort_order: 1,
      media_update_date: '02-07-2013 12:12:12',
    },
  ],
  principal: {
    principal_email_address: 'principal@example.com',
    auto_email_when_live: true,
    auto_email_updates: true,
  },
}

/** RTDF's RemoveProperty sample, as the payload of a removed property. */
export const rtdfRemoveProperty = {
  agent_ref: subject,
  published: false,
  removal_reason: 7,
  transaction_date: '02-07-2013 00:00:00',
}

/** Every field of the contact payload, once (D18). */
export const fullContact = {
  contact_ref: '6f0f3f0a-6f0b-4c55-8a1e-0d6b1c9a7e11',
  kind: 'person',
  title: 'Ms',
  first_name: 'Ada',
  middle_name: 'M',
  last_name: 'Example',
  suffix: 'OBE',
  salutation: 'Ada',
  company_name: 'Example Ltd',
  company_number: '01234567',
  job_title: 'Director',
  roles: ['vendor', 'applicant'],
  communications: [
    {
      channel: 'email',
      value: 'ada@example.com',
      label: 'work',
      preferred: true,
      consent: { marketing: true, given_date: '01-02-2025 09:00:00', source: 'website form' },
    },
    { channel: 'mobile', value: '07700 900123', preferred: false, consent: null },
  ],
  address: { house_name_number: '1', town: 'London', postcode_1: 'SW19', postcode_2: '3AB', country: 'GB' },
  branch_id: '12',
  properties: [{ agent_ref: subject, role: 'vendor' }],
  notes: 'Prefers mornings.',
  create_date: '01-02-2025 09:00:00',
  update_date: null,
  service_reference: 'C-1',
  erased: null,
}

/** A deep copy of a JSON object in which the member at a pointer is replaced, or removed when no value is given. */
export function withMember(payload: object, pointer: string, ...replacement: readonly unknown[]): unknown {
  const copy: unknown = structuredClone(payload)
  const path = pointer.slice(1).split('/')
  const last = path.pop() ?? ''
  let parent = copy
  for (const name of path) parent = memberOf(parent, name)
  if (typeof parent !== 'object' || parent === null) throw new TypeError(`Nothing at ${pointer}`)
  if (replacement.length === 0) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, replacement[0])
  return copy
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
