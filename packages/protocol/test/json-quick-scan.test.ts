import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { countKeys, quickScan } from '../src/json-quick-scan.ts'
import { JsonScan } from '../src/json-scan.ts'
import { readItems, readJson } from '../src/json-text.ts'

/** Texts that are JSON, nearly JSON, and full of what must be refused. */
const pieces = fc.constantFrom(
  ...String.raw`{ } [ ] , : "a" "b": "payload": "payload"\s: true null 1 -0.5e3 9007199254740993 1e400 12.345678901234567`
    .split(' ')
    .map((piece) => piece.replace(String.raw`\s`, ' \n')),
  ...String.raw`"\u0000" "\u00e9" "\ud83d" "\ud83d\ude00" "\ud83d\ue000" "\ude00\ude00" "\\" "\"" "__proto__": "constructor": "prototype": "\u0061":`.split(
    ' ',
  ),
  ...String.raw`" \ ’ "’" x .`.split(' '),
)
const brokenText = fc.array(pieces, { maxLength: 30 }).map((all) => all.join(''))
const names = fc.constantFrom('payload', 'a', 'b', '__proto__', 'constructor', 'prototype', '1', '\u2019')
const values = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '-2.50', '9007199254740993', '1e-400', '"t"', '"\\ud83d\\ude00"', '"\\/"', 'null'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(names, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`),
  ),
})).value
const text = fc.oneof(brokenText, values)
const limits = fc.record({
  maxDepth: fc.integer({ min: 1, max: 6 }),
  members: fc.constantFrom({ keys: ['payload'], depth: 1 }, { keys: ['a', 'b'], depth: 1 }),
})

describe('the quick scan', () => {
  it('passes nothing that the exact one refuses, and finds the same members (P11, D22)', () => {
    let passed = 0
    fc.assert(
      fc.property(text, limits, (json, within) => {
        const quick = quickScan({ text: json, nextBackslash: -1 }, within)
        const value = parsed(json)
        if (quick === undefined || value === undefined || countKeys(value) !== quick.keys) return
        passed += 1
        const exact = new JsonScan(json, within)
        assert.equal(exact.run(), undefined, json)
        assert.deepEqual(quick.spans, exact.spans, json)
        assert.equal(json.slice(quick.end).trim(), '')
      }),
      { numRuns: 3_000 },
    )
    assert.ok(passed > 300, `only ${passed} texts were passed`)
  })

  it('passes an ordinary event, so that the exact one is not needed', () => {
    const json =
      '{"payload": {"agent_ref":"x","price":250000.00,"note":"caf\\u00e9 \\/ \\"\u2019\\""},"id":null}'
    const quick = quickScan(
      { text: json, nextBackslash: -1 },
      { maxDepth: 33, members: { keys: ['payload'], depth: 1 } },
    )
    assert.equal(quick?.keys, countKeys(parsed(json)))
  })
})

describe('an array read item by item', () => {
  const spaces = fc.constantFrom('', ' ', '\r\n')
  const windows = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(undefined))
  const arrays = fc
    .tuple(
      fc.array(fc.tuple(spaces, fc.oneof(values, values, values, brokenText), spaces), { maxLength: 4 }),
      fc.constantFrom(']', ']', ' ] ', ',]', '', ']x'),
    )
    .map(([items, end]) => `[${items.map((item) => item.join('')).join(',')}${end}`)

  it('is read only if the whole has no fault, and then as the whole (P11, D22)', () => {
    let passed = 0
    fc.assert(
      fc.property(
        fc.oneof({ weight: 4, arbitrary: arrays }, text),
        fc.integer({ min: 2, max: 6 }),
        windows,
        (json, maxDepth, windowBytes) => {
          const keys = ['payload', 'a']
          const items = readItems(Buffer.from(json), { maxDepth, members: { keys, depth: 1 } }, windowBytes)
          const values: unknown[] = []
          const spans: unknown[] = []
          let item = items.next()
          for (; item.done !== true; item = items.next()) {
            for (const { start, end, ...span } of item.value.spans) {
              spans.push({ ...span, item: values.length, text: item.value.text.slice(start, end) })
            }
            values.push(item.value.value)
          }
          if (!item.value) return
          if (values.length > 0) passed += 1
          const whole = readJson(json, { maxDepth: maxDepth + 1, members: { keys, depth: 2 } })
          assert.ok(whole.kind === 'read', json)
          assert.deepEqual(values, whole.value, json)
          assert.deepEqual(
            spans,
            whole.spans.map(({ start, end, ...span }) => ({ ...span, text: json.slice(start, end) })),
            json,
          )
        },
      ),
      { numRuns: 3_000 },
    )
    assert.ok(passed > 100, `only ${passed} texts were passed`)
  })

  it('is read to its end whatever part of it is decoded at a time (P11, D22)', () => {
    const item = fc.oneof(
      fc.integer(),
      fc.constantFrom('\uFEFFa', '\u00e9', '\u{1f3e0}\u{1f3e0}', '\u2019"\\', 'long '.repeat(20), true, null),
      fc
        .tuple(fc.constantFrom('\u00a3', '\uFEFF', 'b'), fc.integer())
        .map(([a, n]) => ({ payload: { a, n } })),
    )
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), windows, spaces, (given, windowBytes, space) => {
        const json = `[${given.map((each) => JSON.stringify(each) + space).join(',')}]${space}`
        const limits = { maxDepth: 4, members: { keys: ['payload'], depth: 1 } }
        const items = readItems(Buffer.from(json), limits, windowBytes)
        const values: unknown[] = []
        let item = items.next()
        for (; item.done !== true; item = items.next()) {
          const { value, spans, text } = item.value
          values.push(value)
          for (const { start, end } of spans)
            assert.deepEqual({ payload: parsed(text.slice(start, end)) }, value)
        }
        assert.equal(item.value, true, json)
        assert.deepEqual(values, given)
      }),
    )
  })

  it('ends where it does so, and not at a comma or before more (P11)', () => {
    for (const [json, count, whole] of [
      ['[]', 0, false],
      ['[1]', 1, true],
      [' [ {"a":1} , {} ] ', 2, true],
      ['[1,]', 1, false],
      ['[1]2', 1, false],
      ['[1 2]', 1, false],
      ['[1', 1, false],
      ['[,1]', 0, false],
      ['[{"a":1},{"a":1,"a":2}]', 1, false],
      ['{}', 0, false],
    ] as const) {
      const items = readItems(Buffer.from(json), { maxDepth: 5 })
      let read = 0
      let item = items.next()
      for (; item.done !== true; item = items.next()) read += 1
      assert.deepEqual([read, item.value], [count, whole], json)
    }
  })

  it('keeps a byte order mark that a part begins with, and so refuses it (P11)', () => {
    for (let windowBytes = 1; windowBytes < 10; windowBytes += 1) {
      const items = readItems(Buffer.from('[1,\uFEFF2]'), { maxDepth: 5 }, windowBytes)
      assert.equal(items.next().done, false)
      assert.deepEqual(items.next(), { done: true, value: false })
    }
  })

  it('looks for a backslash far behind once, not once for every item', () => {
    const json = `[${'{"a":"b"},'.repeat(100_000)}"\\n"]`
    const scanned = { text: json, nextBackslash: -1 }
    quickScan(scanned, { maxDepth: 2 }, 1)
    assert.equal(scanned.nextBackslash, json.indexOf('\\'))
  })
})

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
