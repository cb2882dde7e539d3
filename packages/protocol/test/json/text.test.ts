import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { compactJson, readJson, setMembers } from '../../src/index.ts'

const limits = { maxDepth: 32 }
const spaces = ['', ' ', '\n', '\t', '\r\n  ']

/** A JSON value written out with white space between all tokens. */
function spacedText(value: unknown, space: string): string {
  if (Array.isArray(value))
    return `[${value.map((item) => space + spacedText(item, space) + space).join(',')}${space}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, member]) => `${space}${JSON.stringify(key)}${space}:${space}${spacedText(member, space)}${space}`,
  )
  return `{${members.join(',')}${space}}`
}

/** What is refused on purpose stays out: it has its own tests below. */
const refusedSomewhere = /__proto__|"prototype"|\\u0000|\\ud[89a-f]|\d{16}/i
const jsonValue = fc
  .jsonValue({ maxDepth: 6 })
  .filter((value) => !refusedSomewhere.test(JSON.stringify(value)))

describe('strict JSON', () => {
  it('reads every ordinary document to the same value as JSON.parse (D22)', () => {
    fc.assert(
      fc.property(jsonValue, fc.constantFrom(...spaces), (value, space) => {
        const text = spacedText(value, space)
        const reading = readJson(text, limits)
        assert.equal(reading.kind, 'read', JSON.stringify(reading))
        assert.deepEqual(reading.kind === 'read' ? reading.value : undefined, JSON.parse(text))
      }),
    )
  })

  it('drops white space between tokens and nothing else (D22)', () => {
    fc.assert(
      fc.property(jsonValue, fc.constantFrom(...spaces), (value, space) => {
        assert.equal(compactJson(spacedText(value, space)), spacedText(value, ''))
      }),
    )
    assert.equal(
      compactJson('{ "price" : 250000.00 , "t" : " a  b \\" c " }'),
      '{"price":250000.00,"t":" a  b \\" c "}',
    )
  })

  it('finds the requested member, wherever it is (D22)', () => {
    fc.assert(
      fc.property(fc.array(jsonValue, { maxLength: 5 }), fc.constantFrom(...spaces), (values, space) => {
        const text = spacedText(
          values.map((value) => ({ before: { payload: 1 }, payload: value, after: [{ payload: 2 }] })),
          space,
        )
        const reading = readJson(text, { maxDepth: 32, members: { keys: ['payload'], depth: 2 } })
        assert.ok(reading.kind === 'read')
        assert.deepEqual(
          reading.spans.map((span) => span.item),
          values.map((_, index) => index),
        )
        for (const [index, span] of reading.spans.entries()) {
          assert.equal(text.slice(span.start, span.end), spacedText(values[index], space))
        }
      }),
    )
  })

  const refused: readonly (readonly [string, string, string])[] = [
    ['{"a":1,"a":2}', 'duplicate_key', '/a'],
    [String.raw`{"a":1,"\u0061":2}`, 'duplicate_key', '/a'],
    ['{"x":[{"y":1},{"y":1,"y":1}]}', 'duplicate_key', '/x/1/y'],
    ['{"__proto__":{}}', 'forbidden_key', '/__proto__'],
    [String.raw`{"\u005f_proto__":{}}`, 'forbidden_key', '/__proto__'],
    ['{"constructor":{"prototype":{}}}', 'forbidden_key', '/constructor/prototype'],
    ['{"n":9007199254740993}', 'number_out_of_range', '/n'],
    ['{"n":-9007199254740992}', 'number_out_of_range', '/n'],
    ['[1e400]', 'number_out_of_range', '/0'],
    ['[-1E400]', 'number_out_of_range', '/0'],
    ['[1e-400]', 'number_out_of_range', '/0'],
    [String.raw`["\u0000"]`, 'nul_character', '/0'],
    [String.raw`["\ud800"]`, 'lone_surrogate', '/0'],
    [String.raw`["\udc00"]`, 'lone_surrogate', '/0'],
    [String.raw`["\ud800\u0041"]`, 'lone_surrogate', '/0'],
    [String.raw`["\ud800\ue000"]`, 'lone_surrogate', '/0'],
    [String.raw`["\ud800\ud800"]`, 'lone_surrogate', '/0'],
    [String.raw`["\ud800x\udc00"]`, 'lone_surrogate', '/0'],
    [String.raw`["\udc00\udc00"]`, 'lone_surrogate', '/0'],
    [String.raw`["\ud83d\ude00\ude00"]`, 'lone_surrogate', '/0'],
    [String.raw`["\ud800\\udc00"]`, 'lone_surrogate', '/0'],
    [String.raw`{"\ud800":1}`, 'lone_surrogate', '/'],
    ['', 'invalid_json', ''],
    ['\u{feff}{}', 'invalid_json', ''],
    ['{"a":1}{"b":2}', 'invalid_json', ''],
    ['{"a":NaN}', 'invalid_json', ''],
    ['{"a":"\u0001"}', 'invalid_json', ''],
    ['["', 'invalid_json', ''],
    [String.raw`["\u12`, 'invalid_json', ''],
    [']', 'invalid_json', ''],
  ]
  for (const [text, code, pointer] of refused) {
    it(`refuses ${JSON.stringify(text)} as ${code} (P11)`, () => {
      const reading = readJson(text, limits)
      assert.equal(reading.kind, 'fault')
      if (reading.kind !== 'fault') return
      assert.equal(reading.fault.code, code)
      if (pointer !== '/') assert.equal(reading.fault.pointer, pointer)
    })
  }

  it('keeps what is unusual but exact: -0, trailing zeros, escaped pairs (D22)', () => {
    for (const text of [
      '[-0,0.0,250000.00,1e5,123456789.123456789,9007199254740991,9007199254740993.0,1e16,1e-300]',
      String.raw`["\ud83d\ude00"]`,
    ]) {
      assert.equal(readJson(text, limits).kind, 'read', text)
    }
  })

  it('allows exactly the given depth (P11)', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    assert.equal(readJson(nested(32), limits).kind, 'read')
    const reading = readJson(nested(33), limits)
    assert.deepEqual(reading.kind === 'fault' ? reading.fault : undefined, {
      code: 'too_deep',
      pointer: '/0'.repeat(32).slice(0, 200),
      message: 'Nested deeper than 32 levels.',
    })
    assert.equal(readJson('['.repeat(1_000_000), limits).kind, 'fault')
    assert.equal(readJson('{"a":'.repeat(1_000_000), limits).kind, 'fault')
  })

  it('ends on any text at all, with a value only if JSON.parse has the same (P11)', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '1',
      '-',
      'e',
      '.',
      'true',
      ' ',
      'a',
      '\\u00',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
        (text) => {
          const reading = readJson(text, { maxDepth: 32, members: { keys: ['a'], depth: 1 } })
          if (reading.kind === 'read') assert.deepEqual(reading.value, JSON.parse(text))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('setting members of an object text', () => {
  it('changes those members and no other byte (D26)', () => {
    const text = '{ "agent_ref":"x" , "published" : true, "price":250000.00, "address":{"published":true} }'
    assert.equal(
      setMembers(text, { published: 'false', removal_reason: '9' }),
      '{ "agent_ref":"x" , "published" : false, "price":250000.00, "address":{"published":true} ,"removal_reason":9}',
    )
  })

  it('gives the object with the members set, for every object (D26)', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('published', 'a', 'b'), jsonValue),
        fc.constantFrom(...spaces),
        (object, space) => {
          const before = spacedText(object, space)
          const after = setMembers(before, { published: 'false', removal_reason: '7' })
          assert.deepEqual(JSON.parse(after), { ...JSON.parse(before), published: false, removal_reason: 7 })
        },
      ),
    )
  })
})
