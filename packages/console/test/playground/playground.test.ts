/** Drafts of the playground: how they are read, and where a fault of them is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { drafted, readDraft } from '../../src/views/playground/read-draft.ts'
import { offsetOfPointer, receiptWords, remarksOf } from '../../src/views/playground/remarks.ts'
import type { Draft } from '../../src/views/playground/read-draft.ts'

const agentRef = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

function eventsOf(text: string): Extract<Draft, { readonly kind: 'events' }> {
  const draft = readDraft(text)
  assert(draft.kind === 'events', JSON.stringify(draft))
  return draft
}

describe('a draft', () => {
  const bodies: readonly (readonly [what: string, text: string, body: string])[] = [
    [
      'a payload becomes an event, digit for digit',
      '{"price": 250000.00}',
      '{"payload":{"price": 250000.00}}',
    ],
    ['an event stays as it is', ' {"payload":{"a":1.0},"id":"x"} ', '{"payload":{"a":1.0},"id":"x"}'],
    ['a removal too', '{"remove":{"agentRef":"x"}}', '{"remove":{"agentRef":"x"}}'],
    ['an array is sent whole', '[{"payload":{"a":1}}]', '[{"payload":{"a":1}}]'],
    [
      'lines become an array',
      '{"a":1}\n\n{"payload":{"b":2.50}}\n',
      '[{"payload":{"a":1}},{"payload":{"b":2.50}}]',
    ],
  ]
  for (const [what, text, body] of bodies) {
    it(`of ${what} (D22)`, () => assert.equal(eventsOf(text).body, body))
  }

  it('that is not JSON gets the place of the fault, and an empty one gets no message (D31)', () => {
    assert.deepEqual(readDraft(' \n'), { kind: 'empty' })
    const fault = readDraft('{\n  "a": 1,\n  "b": x\n}')
    assert.deepEqual(fault, { kind: 'fault', line: 3, message: 'This is not JSON: "x" cannot stand here.' })
    const cut = readDraft('{"a":')
    assert(cut.kind === 'fault')
    assert.equal(cut.line, 1)
    const second = readDraft('{"a":1}\n{"b":}')
    assert(second.kind === 'fault')
    assert.equal(second.line, 2)
    const many = readDraft('1\n'.repeat(1_001))
    assert(many.kind === 'fault')
    assert.match(many.message, /command line/)
  })

  it('names the property that it is about, if it is one (D31)', () => {
    const payload = { agent_ref: agentRef, a: 1 }
    const whole = JSON.stringify(payload)
    for (const text of [whole, JSON.stringify({ payload }), JSON.stringify({ payload: whole })]) {
      assert.deepEqual(drafted(eventsOf(text)), { agentRef, payload })
    }
    for (const text of ['{"agent_ref":"../x"}', `${whole}\n${whole}`, '3', '{"payload":"nonsense"}', '[]']) {
      assert.equal(drafted(eventsOf(text)), undefined)
    }
  })
})

describe('a fault', () => {
  const text = `{
  "a": { "x/y": [10, "]}", { "deep": true }] },
  "quote\\"d": 1,
  "price": "285k",
  "twice": 1, "twice": 2
}`
  const pointers: readonly (readonly [pointer: string, at: string])[] = [
    ['', '{\n'],
    ['/price', '"285k"'],
    ['/a/x~1y/1', '"]}"'],
    ['/a/x~1y/2/deep', 'true'],
    ['/quote"d', '1,\n'],
    ['/twice', '2\n'],
    ['/missing', '{\n'],
    ['/a/x~1y/9', '[10'],
    ['/price/further', '"285k"'],
  ]
  for (const [pointer, at] of pointers) {
    it(`at ${pointer === '' ? 'the whole' : pointer} is found (D31)`, () => {
      const offset = offsetOfPointer(text, pointer)
      assert.ok(text.slice(offset).startsWith(at), text.slice(offset, offset + 20))
    })
  }

  it('is found in endlessly nested values and in a line of a megabyte (D31)', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"b":"${'x'.repeat(2 ** 20)}","c":7}`
    assert.equal(deep.charAt(offsetOfPointer(deep, '/c')), '7')
  })

  it('is shown at its line, in payloads, events, arrays and lines (D31)', () => {
    const fault = (pointer: string) => ({ errors: [{ pointer, code: 'wrong_type', message: 'No.' }] })
    const lineOf = (draft: string, pointer: string) =>
      remarksOf(draft, eventsOf(draft), fault(pointer))[0]?.line
    assert.equal(lineOf(text, '/payload/price'), 4)
    assert.equal(lineOf(`{"payload":\n${text}}`, '/payload/price'), 5)
    assert.equal(lineOf(`[{"payload":1},\n{"payload":\n${text}}]`, '/1/payload/price'), 6)
    assert.equal(lineOf('{"a":1}\n\n{"b":2}', '/1/payload/b'), 3)
    assert.equal(lineOf(text, ''), 1)
    const advice = { warnings: [{ index: 0, pointer: '/price', code: 'too_long', message: 'Long.' }] }
    assert.deepEqual(remarksOf(text, eventsOf(text), advice), [
      { kind: 'advice', line: 4, code: 'too_long', message: 'Long.' },
    ])
  })
})

describe('a receipt', () => {
  const event = { id: 'x', eventType: 0, eventTypeShortCode: 'PropertyUpdated', transactionId: 't' }
  it('says what would be stored, and what is stored already (PROTOCOL §4)', () => {
    const of = (
      events: readonly (typeof event & { unchanged?: true; sequenceNumber?: number })[],
      isDry = true,
    ) => receiptWords({ events, warnings: [] }, isDry)
    assert.equal(of([event]), 'Would store 1 event: Updated.')
    assert.equal(
      of([event, { ...event, unchanged: true }]),
      'Would store 1 event: Updated; 1 event is already stored.',
    )
    assert.equal(of([{ ...event, unchanged: true }]), 'Would store nothing; 1 event is already stored.')
    assert.equal(of([{ ...event, sequenceNumber: 7 }], false), 'Stored 1 event: Updated, as #7.')
    assert.equal(
      of(
        [
          { ...event, sequenceNumber: 7 },
          { ...event, sequenceNumber: 8 },
        ],
        false,
      ),
      'Stored 2 events: Updated, as #7 to #8.',
    )
  })
})
