import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPropertyPayload } from '../../src/payload/index.ts'
import { rtdfRemoveProperty, rtdfSendProperty, specProperty, subject, withMember } from './samples.ts'

const check = (payload: unknown) => checkPropertyPayload(payload, { publishedRequired: true })
const places = (payload: unknown) => check(payload).map(({ pointer, code }) => `${pointer} ${code}`)

/** Every row of the spec's payload tables, with values of other types that it must refuse. */
const wrongValues: Readonly<Record<string, readonly unknown[]>> = {
  string: [1, true, [], {}],
  integer: [1.5, '1', true, [], {}],
  number: ['1e5', true, [], {}],
  boolean: ['true', 0, [], {}],
  object: ['', 1, true, []],
  array: ['', 1, true, {}],
  'object or array': ['', 1, true],
}

const rows: Readonly<Record<string, readonly string[]>> = {
  string: [
    '/branch_id',
    '/statusstring',
    '/create_date',
    '/directions',
    '/service_reference',
    '/address/house_name_number',
    '/address/address_2',
    '/address/address_3',
    '/address/town',
    '/address/postcode_1',
    '/address/postcode_2',
    '/address/display_address',
    '/details/summary',
    '/details/description',
    '/details/features/0',
    '/details/sewerage',
    '/details/water',
    '/details/electricity/0',
    '/media/0/media_url',
    '/media/0/caption',
    '/media/0/media_update_date',
  ],
  integer: [
    '/property_type',
    '/status',
    '/contract_months',
    '/details/bedrooms',
    '/details/bathrooms',
    '/details/reception_rooms',
    '/details/entrance_floor',
    '/details/accessibility/0',
    '/details/heating/0',
    '/media/0/media_type',
  ],
  number: ['/price_information/price', '/price_information/deposit'],
  boolean: [
    '/published',
    '/details/deposit_replacement_scheme',
    '/details/flood_defences',
    '/details/obligations/Listed',
    '/details/obligations/Restrictions',
    '/details/obligations/RequiredAccess',
    '/details/obligations/RightOfWay',
    '/risks/flood_defences',
  ],
  object: ['/address', '/price_information', '/details', '/details/epc_information', '/risks', '/media/0'],
  array: [
    '/media',
    '/details/features',
    '/details/accessibility',
    '/details/heating',
    '/details/electricity',
    '/details/broadband',
    '/details/sources_of_flooding',
    '/risks/sources_of_flooding',
  ],
  'object or array': ['/details/obligations'],
}

describe('property payload: rows of the spec', () => {
  it('a payload with every field of the spec is accepted (spec §2.3 to §2.7)', () => {
    assert.deepEqual(check(specProperty), [])
  })

  for (const [type, pointers] of Object.entries(rows)) {
    for (const pointer of pointers) {
      it(`${pointer} is ${type}, null or absent, and nothing else (spec §2.3 to §2.7)`, () => {
        const notRequired = { publishedRequired: false }
        assert.deepEqual(checkPropertyPayload(withMember(specProperty, pointer, null), notRequired), [])
        if (!/\d$/.test(pointer)) {
          assert.deepEqual(checkPropertyPayload(withMember(specProperty, pointer), notRequired), [])
        }
        for (const wrong of wrongValues[type] ?? []) {
          assert.deepEqual(places(withMember(specProperty, pointer, wrong)), [`${pointer} wrong_type`])
        }
      })
    }
  }

  it('the members of epc_information may be text, numbers or null: the spec types none (spec §2.6)', () => {
    for (const name of Object.keys(specProperty.details.epc_information)) {
      const pointer = `/details/epc_information/${name}`
      for (const value of ['C', 71, 70.5, null]) {
        assert.deepEqual(check(withMember(specProperty, pointer, value)), [])
      }
      assert.deepEqual(places(withMember(specProperty, pointer, {})), [`${pointer} wrong_type`])
    }
  })
})

describe('property payload: what must be there', () => {
  it('agent_ref alone is enough when the event names its type (spec §2.3, D12)', () => {
    assert.deepEqual(checkPropertyPayload({ agent_ref: subject }, { publishedRequired: false }), [])
  })

  it('published must be there and not null when the event names no type (D12)', () => {
    assert.deepEqual(places({ agent_ref: subject }), ['/published missing'])
    assert.deepEqual(places({ agent_ref: subject, published: null }), ['/published missing'])
    assert.deepEqual(places({ agent_ref: subject, published: 'yes' }), ['/published wrong_type'])
    assert.deepEqual(places({ agent_ref: subject, published: false }), [])
  })

  it('agent_ref must be there and not null (D16)', () => {
    assert.deepEqual(places({ published: true }), ['/agent_ref missing'])
    assert.deepEqual(places({ published: true, agent_ref: null }), ['/agent_ref missing'])
    assert.deepEqual(places({}), ['/agent_ref missing', '/published missing'])
  })

  it('agent_ref is a UUID in either case and in no other spelling (D16)', () => {
    assert.deepEqual(places({ published: true, agent_ref: subject.toUpperCase() }), [])
    for (const agent_ref of [
      `{${subject}}`,
      `urn:uuid:${subject}`,
      subject.replaceAll('-', ''),
      ` ${subject}`,
      `${subject}\n`,
      subject.replace('0d', '0g'),
      subject.replace('0', '０'),
      'AGENT_0406',
      '',
    ]) {
      assert.deepEqual(places({ published: true, agent_ref }), ['/agent_ref not_a_uuid'], agent_ref)
    }
    assert.deepEqual(places({ published: true, agent_ref: 7 }), ['/agent_ref wrong_type'])
  })

  it('a value that is not an object is refused with one fault for the whole payload (P11)', () => {
    for (const value of [null, [], [specProperty], 'text', 1, true, undefined]) {
      assert.deepEqual(places(value), [' wrong_type'])
    }
  })
})

describe('property payload: what real feeds send', () => {
  it('obligations may be an empty array, or hold RTDF spellings (spec §2.6)', () => {
    assert.deepEqual(check(withMember(specProperty, '/details/obligations', [])), [])
    assert.deepEqual(check(withMember(specProperty, '/details/obligations', { listed: true })), [])
  })

  it('accessibility codes may repeat and flood data may be in two places (spec §2.6)', () => {
    assert.deepEqual(check(withMember(specProperty, '/details/accessibility', [42, 42, 42])), [])
    const nested = withMember(specProperty, '/details/risks', {
      flood_defences: true,
      sources_of_flooding: [null],
    })
    assert.deepEqual(check(nested), [])
  })

  it('every array may hold nulls, and be empty (spec §2.6)', () => {
    for (const pointer of [
      ...(rows['array'] ?? []),
      '/details/parking',
      '/details/rooms',
      '/details/comm_use_class',
    ]) {
      assert.deepEqual(check(withMember(specProperty, pointer, [null, null])), [], pointer)
      assert.deepEqual(check(withMember(specProperty, pointer, [])), [], pointer)
    }
  })

  it('unknown fields and unknown codes pass, at every level (D14, D22)', () => {
    const payload = {
      ...specProperty,
      property_type: 999_999,
      status: -4,
      virtual_staging: { by: ['nobody'] },
    }
    assert.deepEqual(check(payload), [])
    assert.deepEqual(check(withMember(specProperty, '/details/hot_tub', { depth: 1 })), [])
    assert.deepEqual(check(withMember(specProperty, '/media/0/checksum', [1])), [])
  })

  it('both RTDF samples are accepted once their reference is a UUID and their URL absolute (D16)', () => {
    assert.deepEqual(check(rtdfSendProperty), [])
    assert.deepEqual(check(rtdfRemoveProperty), [])
  })

  it('any number is a price: negative, zero, tiny, with many decimals (spec §2.5)', () => {
    for (const price of [-1, -0, 0, 1e-9, 250_000.12345678901, 1e15]) {
      assert.deepEqual(check(withMember(specProperty, '/price_information/price', price)), [])
    }
  })
})

describe('property payload: hostile content', () => {
  const mediaUrl = '/media/0/media_url'

  it('media_url is an absolute http or https URL without credentials (P11)', () => {
    for (const url of [
      'javascript:alert(1)',
      'JaVaScRiPt://example.com/%0aalert(1)',
      'data:text/html,<script>alert(1)</script>',
      'file:///etc/passwd',
      'ftp://example.com/1.jpg',
      '//example.com/1.jpg',
      '/1.jpg',
      'www.example.com/1.jpg',
      '',
      ' https://example.com/1.jpg',
      'https://',
      'https:///1.jpg',
      'https:example.com',
      'https:\\\\example.com',
      'https://user@example.com/1.jpg',
      'https://user:secret@example.com/1.jpg',
      'https://example.com\\@example.org/1.jpg',
      'https://example.com\t@example.org/',
      'https://exa\nmple.com/1.jpg',
      'https://example.com/1.jpg\n',
      'https://example.com/\u0000',
      'https://example.com:port/',
      'https://user%40example.com/',
    ]) {
      assert.deepEqual(places(withMember(specProperty, mediaUrl, url)), [`${mediaUrl} bad_url`], url)
    }
    for (const url of [
      'HTTPS://EXAMPLE.COM',
      'http://example.com:8080/a?b=c@d#e',
      'http://[2001:db8::1]:80/1.jpg',
      'https://bücher.example/straße.jpg',
      'https://example.com/front of house.jpg',
      'https://example.com/@user/x:y',
    ]) {
      assert.deepEqual(check(withMember(specProperty, mediaUrl, url)), [], url)
      assert.ok(URL.canParse(url))
    }
  })

  it('no accepted media_url is read by the URL parser as another scheme or with credentials (P11)', () => {
    const pieces = [
      'http',
      ':',
      '//',
      '@',
      'a.b',
      '\\',
      '/',
      '%',
      '[',
      ']',
      '?',
      '#',
      ' ',
      'javascript:',
      '\t',
      '１',
    ]
    for (const first of pieces) {
      for (const second of pieces) {
        for (const third of pieces) {
          const url = `https://${first}${second}${third}`
          if (check(withMember(specProperty, mediaUrl, url)).length > 0 || !URL.canParse(url)) continue
          const { protocol, username, password } = new URL(url)
          assert.deepEqual([protocol, username, password], ['https:', '', ''], url)
        }
      }
    }
  })

  it('the photographs of rooms obey the same rule (P11)', () => {
    const rooms = [{ room_photo_urls: ['http://example.com/1.jpg', null, 'javascript:alert(1)'] }]
    assert.deepEqual(places(withMember(specProperty, '/details/rooms', rooms)), [
      '/details/rooms/0/room_photo_urls/2 bad_url',
    ])
  })

  it('media_url has at most 2,048 characters, counted as characters (P11)', () => {
    const start = 'https://example.com/'
    const longest = start + '😀'.repeat(2048 - start.length)
    assert.deepEqual(check(withMember(specProperty, mediaUrl, longest)), [])
    for (const url of [`${longest}a`, start + 'a'.repeat(10_000)]) {
      assert.deepEqual(places(withMember(specProperty, mediaUrl, url)), [`${mediaUrl} too_long`])
    }
  })

  it('an array may have 10,000 items and not one more (P11)', () => {
    const features = Array.from({ length: 10_000 }, () => 'x')
    assert.deepEqual(check(withMember(specProperty, '/details/features', features)), [])
    const hundredThousand = Array.from({ length: 100_000 }, () => 1)
    for (const pointer of [...(rows['array'] ?? []), '/details/obligations']) {
      const payload = withMember(specProperty, pointer, hundredThousand)
      assert.deepEqual(places(payload), [`${pointer} too_many_items`])
    }
  })

  it('a payload full of faults is answered with 20 (P11)', () => {
    const media = Array.from({ length: 9_000 }, () => ({ media_type: 'x', media_url: 1, caption: 2 }))
    const faults = check({ agent_ref: subject, media })
    assert.equal(faults.length, 20)
    assert.equal(faults[0]?.pointer, '/media/0/media_type')
  })

  it('a fault repeats at most 100 characters of what was sent, printable (P11)', () => {
    const [fault] = check(withMember(specProperty, mediaUrl, `javascript:\u0007\u202E${'a'.repeat(2_000)}`))
    assert.match(fault?.message ?? '', /^media\/0\/media_url must be an absolute http or https URL/)
    assert.match(fault?.message ?? '', /javascript:\\u0007\\u202ea/)
    assert.ok((fault?.message.length ?? 0) < 400)
    const [nested] = check({ ...specProperty, status: { secret: 'x'.repeat(500) } })
    assert.match(
      nested?.message ?? '',
      /^status must be an integer or null; an object was sent\. Send the number /,
    )
    assert.doesNotMatch(nested?.message ?? '', /secret|xx/)
    const [cutPair] = check(withMember(specProperty, '/status', `${'a'.repeat(99)}😀`))
    assert.ok(cutPair?.message.isWellFormed())
  })

  it('long hostile texts are checked without going back over them again and again (P11)', () => {
    for (const unit of ['a', '%', '1', '.', ':', '@', '/', '[', ' ', '-', '0d4b6a1e-']) {
      const text = unit.repeat(100_000)
      assert.equal(check(withMember(specProperty, mediaUrl, `https://${text}`)).length, 1)
      assert.equal(check({ ...specProperty, agent_ref: text }).length, 1)
    }
  })
})
