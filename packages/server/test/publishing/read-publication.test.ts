import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { readPublication } from '../../src/publishing/read-publication.ts'
import { defaultPublicationLimits } from '../../src/http/limits.ts'

const home = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const flat = '5F1B3C70-6C0E-4D2C-8D0F-7D3C1A9E2B44'

function read(text: string, options: { feed?: FeedName; format?: 'json' | 'ndjson' } = {}) {
  let made = 0
  return readPublication({
    feed: options.feed ?? 'property',
    body: Buffer.from(text),
    format: options.format ?? 'json',
    catalogue: catalogues.default,
    limits: defaultPublicationLimits,
    newId: () => `00000000-0000-7000-8000-${String((made += 1)).padStart(12, '0')}`,
  })
}

function draftsOf(text: string, options: Parameters<typeof read>[1] = {}) {
  const reading = read(text, options)
  assert.ok(reading.kind === 'drafts', JSON.stringify(reading))
  return reading.drafts
}

function faultsOf(text: string, options: Parameters<typeof read>[1] = {}): string[] {
  const reading = read(text, options)
  assert.equal(reading.kind, 'faults')
  return reading.kind === 'faults' ? reading.errors.map((error) => `${error.pointer} ${error.code}`) : []
}

function payloadText(draft: ReturnType<typeof draftsOf>[number] | undefined): string | undefined {
  return draft?.content.kind === 'payload' ? draft.content.text : undefined
}

describe('a publish request', () => {
  it('keeps the text of a payload sent as an object, number lexemes included, without white space (D22)', () => {
    const body = `[ { "payload" : { "agent_ref" : "${home}", "published" : true, "price_information" : { "price" : 250000.00 },\n "directions":" left  here " } } ]`
    const expected = `{"agent_ref":"${home}","published":true,"price_information":{"price":250000.00},"directions":" left  here "}`
    assert.equal(payloadText(draftsOf(body)[0]), expected)
    assert.equal(payloadText(draftsOf(body.slice(2, -2))[0]), expected)
    assert.equal(
      payloadText(draftsOf(body.slice(2, -2).replaceAll('\n', ' '), { format: 'ndjson' })[0]),
      expected,
    )
  })

  it('keeps a payload sent as text byte for byte, white space included (D22)', () => {
    const payload = `{ "agent_ref":"${home}" , "published":false, "price_information":{"price":1.50} }`
    assert.equal(payloadText(draftsOf(JSON.stringify({ payload }))[0]), payload)
  })

  it('accepts one event, an array, or lines, with empty lines and CRLF between (PROTOCOL §4)', () => {
    const event = (ref: string) => JSON.stringify({ payload: { agent_ref: ref, published: true } })
    assert.equal(draftsOf(event(home)).length, 1)
    assert.equal(draftsOf(`[${event(home)},${event(flat)}]`).length, 2)
    assert.equal(draftsOf(`${event(home)}\r\n\r\n${event(flat)}\n`, { format: 'ndjson' }).length, 2)
  })

  it('makes subject and id lower case and leaves subject and transaction id as spelled (D14, D15, D16)', () => {
    const id = 'AAAAAAAA-0000-4000-8000-000000000001'
    const [draft, own] = draftsOf(
      JSON.stringify([
        { id, payload: { agent_ref: flat, published: true } },
        { payload: { agent_ref: home, published: true }, transactionId: flat },
      ]),
    )
    assert.equal(draft?.id, id.toLowerCase())
    assert.equal(draft?.subjectId, flat.toLowerCase())
    assert.equal(draft?.subjectSpelling, flat)
    assert.equal(draft?.transactionId, undefined)
    assert.equal(draft?.idGiven, true)
    assert.equal(own?.transactionId, flat)
    assert.equal(own?.idGiven, false)
  })

  it('hashes content, type, transaction id and category as sent, not the id (D14)', () => {
    const hashOf = (extra: object, payload: object = { agent_ref: home, published: true }) =>
      Buffer.from(draftsOf(JSON.stringify({ payload, ...extra }))[0]?.contentHash ?? []).toString('hex')
    const plain = hashOf({})
    assert.equal(plain.length, 64)
    assert.equal(hashOf({ id: flat }), plain)
    const others = [{ eventType: 'PropertyUpdated' }, { transactionId: home }, { category: 'sales' }].map(
      (extra) => hashOf(extra),
    )
    others.push(hashOf({}, { agent_ref: home, published: true, status: 1 }))
    assert.equal(new Set([plain, ...others]).size, 5)
  })

  it('requires published unless an event type is named (PROTOCOL §4)', () => {
    assert.deepEqual(faultsOf(JSON.stringify({ payload: { agent_ref: home } })), [
      '/payload/published missing',
    ])
    assert.equal(
      draftsOf(JSON.stringify({ payload: { agent_ref: home }, eventType: 'PropertyUpdated' })).length,
      1,
    )
  })

  it('warns when the named type and the payload contradict each other (D12)', () => {
    const reading = read(
      JSON.stringify({ payload: { agent_ref: home, published: true }, eventType: 'PropertyUnpublished' }),
    )
    assert.ok(reading.kind === 'drafts')
    assert.ok(
      reading.warnings.some(
        (warning) => warning.code === 'event_type_contradicts_payload' && warning.index === 0,
      ),
    )
  })

  it('finds lettings by the payload (D23)', () => {
    const [letting, sale] = draftsOf(
      JSON.stringify([
        { payload: { agent_ref: home, published: true, price_information: { price: 900, deposit: 500 } } },
        { payload: { agent_ref: flat, published: true, price_information: { price: 900, deposit: 0 } } },
      ]),
    )
    assert.equal(letting?.content.kind === 'payload' ? letting.content.impliedCategory : '', 'lettings')
    assert.equal(sale?.content.kind === 'payload' ? sale.content.impliedCategory : '', undefined)
  })

  const good = { agent_ref: home, published: true }
  const refused: readonly (readonly [string, string, readonly string[]])[] = [
    ['an empty body', '', [' invalid_json']],
    ['an empty batch', '[]', [' empty_batch']],
    ['null', 'null', [' wrong_type']],
    ['a number in a batch', '[1]', ['/0 wrong_type']],
    ['neither payload nor remove', '{}', ['/payload payload_or_remove']],
    [
      'both payload and remove',
      JSON.stringify({ payload: good, remove: { agentRef: home } }),
      ['/remove payload_or_remove'],
    ],
    [
      'numbers of its own',
      JSON.stringify({ payload: good, sequenceNumber: 1 }),
      ['/sequenceNumber assigned_by_service'],
    ],
    [
      'a tenant of its own',
      JSON.stringify({ payload: good, tenantId: home }),
      ['/tenantId assigned_by_service'],
    ],
    ['an unknown member', JSON.stringify({ payload: good, 'a/b': 1 }), ['/a~1b unknown_member']],
    [
      'an unknown type',
      JSON.stringify({ payload: good, eventType: 'toString' }),
      ['/eventType unknown_event_type'],
    ],
    ['an id that is none', JSON.stringify({ payload: good, id: `{${home}}` }), ['/id not_a_uuid']],
    ['one id twice', JSON.stringify([1, 2].map(() => ({ payload: good, id: home }))), ['/1/id duplicate_id']],
    [
      'a wrong category',
      JSON.stringify({ payload: good, category: 'Sales' }),
      ['/category unknown_category'],
    ],
    ['a payload that is a number', '{"payload":1}', ['/payload wrong_type']],
    ['a payload text that is no JSON', '{"payload":"{"}', ['/payload invalid_json']],
    ['a payload text that is no object', '{"payload":"[]"}', ['/payload wrong_type']],
    [
      'a duplicate key in a payload text',
      JSON.stringify({ payload: '{"a":1,"a":2}' }),
      ['/payload/a duplicate_key'],
    ],
    [
      'a duplicate key in a payload',
      `{"payload":{"agent_ref":"${home}","published":true,"published":true}}`,
      ['/payload/published duplicate_key'],
    ],
    ['a removal without a reference', '{"remove":{}}', ['/remove/agentRef not_a_uuid']],
    [
      'a removal of something else',
      JSON.stringify({ remove: { agentRef: home, agent_ref: home } }),
      ['/remove unknown_member'],
    ],
    [
      'a removal with a list for a reason',
      JSON.stringify({ remove: { agentRef: home, reason: [] } }),
      ['/remove/reason wrong_type'],
    ],
    [
      'a typed removal',
      JSON.stringify({ remove: { agentRef: home }, eventType: 'PropertyUpdated' }),
      ['/eventType payload_or_remove'],
    ],
  ]
  for (const [what, body, faults] of refused) {
    it(`with ${what} is refused, naming the place (P11)`, () => assert.deepEqual(faultsOf(body), faults))
  }

  it('reports the faults of all its events at once, each with its place (P11)', () => {
    const body = JSON.stringify([
      { payload: { published: true } },
      { payload: good },
      { payload: { ...good, status: 'x' } },
    ])
    assert.deepEqual(faultsOf(body), ['/0/payload/agent_ref missing', '/2/payload/status wrong_type'])
    assert.deepEqual(faultsOf('{"payload":1}\n{', { format: 'ndjson' }), ['/1 invalid_json'])
    // Only the white space of JSON makes a line an empty one.
    for (const line of ['\ufeff', '\u00a0', '\v']) {
      assert.deepEqual(faultsOf(`${line}\n`, { format: 'ndjson' }), ['/0 invalid_json'])
    }
    assert.deepEqual(faultsOf(' \t\r\n', { format: 'ndjson' }), [' empty_batch'])
  })

  it('is refused because of a fault of the whole body alone, wherever that is and whatever its events are (P11)', () => {
    const faulty = JSON.stringify({ payload: { published: true } })
    const many = (event: string, count: number) => Array.from({ length: count }, () => event)
    const array = (events: readonly string[]) => `[${events.join(',')}]`
    const twice = `{"payload":{"agent_ref":"${home}","published":true,"a":{"b":1,"b":2}}}`
    assert.deepEqual(faultsOf(array([faulty, JSON.stringify({ payload: good }), '{"payload":}'])), [
      ' invalid_json',
    ])
    assert.deepEqual(faultsOf(array(many(faulty, 150)).slice(0, -1)), [' invalid_json'])
    assert.deepEqual(faultsOf(`${array([faulty])},`), [' invalid_json'])
    assert.deepEqual(faultsOf(array([faulty, twice])), ['/1/payload/a/b duplicate_key'])
    assert.deepEqual(faultsOf(array([...many(faulty, 999), twice])), ['/999/payload/a/b duplicate_key'])
    // What stands behind the first event that is too many is not read.
    assert.deepEqual(faultsOf(array([...many(faulty, 1_001), twice])), [' too_many_events'])
    assert.deepEqual(faultsOf(array(many(faulty, 1_001))), [' too_many_events'])
    assert.equal(faultsOf(array(many(faulty, 150))).length, 100)
    assert.deepEqual(faultsOf([faulty, '{', twice].join('\n'), { format: 'ndjson' }), [
      '/1 invalid_json',
      '/2/payload/a/b duplicate_key',
    ])
    assert.deepEqual(faultsOf(many(faulty, 1_001).join('\n'), { format: 'ndjson' }), [' too_many_events'])
    assert.deepEqual(faultsOf(['{', ...many(faulty, 1_001)].join('\n'), { format: 'ndjson' }), [
      '/0 invalid_json',
    ])
    assert.equal(faultsOf(many('{', 1_001).join('\n'), { format: 'ndjson' }).length, 100)
  })

  it('has limits: 1,000 events, 256 KiB and 32 levels a payload (PROTOCOL §4)', () => {
    const event = JSON.stringify({ payload: good })
    assert.equal(draftsOf(`[${Array.from({ length: 1_000 }, () => event).join(',')}]`).length, 1_000)
    assert.deepEqual(faultsOf(`[${Array.from({ length: 1_001 }, () => event).join(',')}]`), [
      ' too_many_events',
    ])

    const sized = (bytes: number) => {
      const empty = JSON.stringify({ ...good, directions: '' })
      return { ...good, directions: 'é'.repeat(1) + 'x'.repeat(bytes - empty.length - 2) }
    }
    for (const wrap of [
      (payload: object): unknown => payload,
      (payload: object): unknown => JSON.stringify(payload),
    ]) {
      assert.equal(draftsOf(JSON.stringify({ payload: wrap(sized(256 * 1_024)) })).length, 1)
      assert.deepEqual(faultsOf(JSON.stringify({ payload: wrap(sized(256 * 1_024 + 1)) })), [
        '/payload payload_too_large',
      ])
    }

    const nested = (levels: number) =>
      `{"agent_ref":"${home}","published":true,"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    const forms: readonly ((payload: string) => [string, 'json' | 'ndjson'])[] = [
      (payload) => [`{"payload":${payload}}`, 'json'],
      (payload) => [`[{"payload":${payload}}]`, 'json'],
      (payload) => [`{"payload":${payload}}`, 'ndjson'],
      (payload) => [JSON.stringify({ payload }), 'json'],
    ]
    for (const form of forms) {
      const [deepest, format] = form(nested(32))
      assert.equal(draftsOf(deepest, { format }).length, 1)
      const [tooDeep] = form(nested(33))
      const reading = read(tooDeep, { format })
      const [tooDeepFault] = reading.kind === 'faults' ? reading.errors : []
      assert.equal(tooDeepFault?.code, 'too_deep')
      assert.match(tooDeepFault?.message ?? '', /ested deeper than 32 levels\.$/)
    }
  })

  it('for a contact names the contact as subject and never removes (D16, D18)', () => {
    const [draft] = draftsOf(JSON.stringify({ payload: { contact_ref: flat } }), { feed: 'contact' })
    assert.equal(draft?.subjectId, flat.toLowerCase())
    assert.deepEqual(faultsOf(JSON.stringify({ remove: { agentRef: home } }), { feed: 'contact' }), [
      '/remove unknown_member',
    ])
    const withCategory = JSON.stringify({ payload: { contact_ref: flat }, category: 'sales' })
    assert.deepEqual(faultsOf(withCategory, { feed: 'contact' }), ['/category unknown_member'])
  })
})
