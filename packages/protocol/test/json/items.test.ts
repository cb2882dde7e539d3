import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { CompactCopy } from '../../src/json/compact-copy.ts'
import { afterBlanks, readItems, readRange, readRangeInPieces } from '../../src/json/items.ts'
import type { ItemLimits, JsonItem } from '../../src/json/items.ts'
import type { JsonFault } from '../../src/json/scan.ts'
import { compactJson, readJson } from '../../src/json/text.ts'
import { brokenText, text, values } from '../support/json-texts.ts'

const unlimited = { maxBytes: 2 ** 30, maxBytesOutsideStrings: 2 ** 30 }
const limitsOf = (maxDepth: number, keys: readonly string[] = ['payload', 'a']): ItemLimits => ({
  maxDepth,
  members: { keys, depth: 1 },
  ...unlimited,
})

/** What a run of steps gives and returns, and in how many steps. */
function collect<T, R>(steps: Iterator<T | undefined, R>): { given: T[]; result: R; steps: number } {
  const given: T[] = []
  for (let count = 1; ; count += 1) {
    const step = steps.next()
    if (step.done === true) return { given, result: step.value, steps: count }
    if (step.value !== undefined) given.push(step.value)
  }
}

function textsOf({ spans, text }: JsonItem): readonly string[] {
  return spans.map(({ key, start, end }) => `${key} ${compactJson(text.slice(start, end))}`)
}

function parses(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

const spaces = fc.constantFrom('', ' ', '\r\n', ' '.repeat(30))
/** From windows that hold half a token to those that hold everything. */
const sizes = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 4 })).map(([usual, times]) => ({
    usual,
    largest: usual * times,
  })),
  fc.constant(undefined),
)
const depths = fc.integer({ min: 2, max: 6 })
const arrays = fc
  .tuple(
    fc.array(fc.tuple(spaces, fc.oneof(values, values, values, brokenText), spaces), { maxLength: 4 }),
    fc.constantFrom(']', ']', ' ] ', ',]', '', ']x', '}', ']]'),
  )
  .map(([items, end]) => `${items.map((item) => item.join('')).join(',')}${end}`)

describe('an array read item by item', () => {
  it('gives the same as reading it at once: values, members and faults (P11, D22)', () => {
    const seen = { read: 0, faults: 0, broken: 0 }
    fc.assert(
      fc.property(
        fc.oneof({ weight: 4, arbitrary: arrays }, text),
        depths,
        sizes,
        (behind, maxDepth, windows) => {
          const json = `[${behind}`
          const limits = limitsOf(maxDepth)
          const { given, result } = collect(readItems(Buffer.from(json), 1, limits, windows))
          const whole = readJson(json, {
            maxDepth: maxDepth + 1,
            members: { keys: limits.members?.keys ?? [], depth: 2 },
          })
          if (whole.kind === 'read') {
            seen.read += 1
            assert.equal(result, undefined, json)
            assert.deepEqual(
              given.map(({ value }) => value),
              whole.value,
              json,
            )
            const spans = whole.spans.map(
              ({ item, key, start, end }) => [item, key, json.slice(start, end)] as const,
            )
            assert.deepEqual(
              given.flatMap((item, index) => textsOf(item).map((found) => `${index} ${found}`)),
              spans.map(([item, key, found]) => `${item} ${key} ${compactJson(found)}`),
              json,
            )
            return
          }
          assert.ok(result !== undefined, json)
          if (!parses(json)) {
            // A fault of the grammar, or one that stands before it.
            seen.broken += 1
            return
          }
          seen.faults += 1
          assert.deepEqual(placed(result, given.length), whole.fault, json)
        },
      ),
      { numRuns: 4_000 },
    )
    assert.ok(seen.read > 300 && seen.faults > 100 && seen.broken > 300, JSON.stringify(seen))
  })

  it('is read to its end whichever part of it is decoded at a time (P11, D22)', () => {
    const item = fc.oneof(
      fc.integer(),
      fc.constantFrom('\uFEFFa', '\u00e9', '\u{1f3e0}\u{1f3e0}', '\u2019"\\', 'long '.repeat(20), true, null),
      fc
        .tuple(fc.constantFrom('\u00a3', '\uFEFF', 'b'), fc.integer())
        .map(([a, n]) => ({ payload: { a, n } })),
    )
    fc.assert(
      fc.property(fc.array(item), sizes, spaces, (items, windows, space) => {
        const json = `[${space}${items.map((each) => JSON.stringify(each) + space).join(`,${space}`)}]${space}`
        const { given, result } = collect(readItems(Buffer.from(json), 1, limitsOf(4), windows))
        assert.equal(result, undefined, json)
        assert.deepEqual(
          given.map(({ value }) => value),
          items,
        )
      }),
    )
  })

  it('keeps a byte order mark that a part begins with, and so refuses it (P11)', () => {
    for (let usual = 1; usual < 10; usual += 1) {
      const windows = { usual, largest: usual }
      const { given, result } = collect(readItems(Buffer.from('1,\uFEFF2]'), 0, limitsOf(5), windows))
      assert.deepEqual([given.length, result?.code], [1, 'invalid_json'])
    }
  })
})

/** A fault of an item as one of the whole array. */
function placed(fault: JsonFault, index: number): JsonFault {
  return { ...fault, pointer: `/${index}${fault.pointer}` }
}

describe('a long text read in pieces', () => {
  it('is the same as reading it at once (P11, D22)', () => {
    fc.assert(
      fc.property(fc.tuple(spaces, text, spaces), depths, (parts, maxDepth) => {
        const bytes = Buffer.from(`xx${parts.join('')}xx`)
        const [start, end] = [2, bytes.length - 2]
        const limits = limitsOf(maxDepth)
        const { result } = collect(readRangeInPieces(bytes, start, end, limits))
        const atOnce = readRange(bytes, start, end, limits)
        const json = parts.join('')
        assert.equal(result.kind, atOnce.kind, json)
        if (result.kind === 'item' && atOnce.kind === 'item') {
          assert.deepEqual(result.item.value, atOnce.item.value, json)
          assert.deepEqual(textsOf(result.item), textsOf(atOnce.item), json)
        } else if (parses(json)) assert.deepEqual(result, atOnce, json)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is copied without its white space, and is JSON then if and only if it was before (D22)', () => {
    const words = fc.constantFrom(
      '1',
      ' ',
      '\n',
      'true',
      '"a b"',
      '"',
      '\\',
      '-',
      '.5',
      ',',
      ':',
      '{',
      '}',
      '[',
      ']',
      'x',
    )
    const spaced = fc.oneof(
      text,
      fc.array(words, { maxLength: 12 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(spaced, fc.integer({ min: 1, max: 9 }), (json, piece) => {
        const bytes = Buffer.from(json)
        const copy = new CompactCopy(bytes, 0, bytes.length, false, unlimited)
        while (!copy.advance(piece)) continue
        const copied = Buffer.from(copy.copied).toString()
        assert.equal(parses(copied), parses(json), json)
        if (parses(json)) assert.equal(copied, compactJson(json))
      }),
      { numRuns: 3_000 },
    )
  })

  it('ends when it is too large, and says in what; white space does not count (P11)', () => {
    const limits = { ...limitsOf(5), maxBytes: 60, maxBytesOutsideStrings: 30 }
    const read = (json: string) => {
      const { result } = collect(readRangeInPieces(Buffer.from(json), 0, Buffer.byteLength(json), limits))
      return result.kind === 'item' ? 'read' : `${result.fault.code} ${result.fault.pointer}`
    }
    const member = (name: string, length: number) => `{"${name}":"${'x'.repeat(length)}"}`
    assert.equal(read(member('payload', 60 - 14)), 'read')
    assert.equal(read(member('payload', 60 - 13)), 'too_large /payload')
    assert.equal(read(`{"payload" ${' '.repeat(1_000)}:[${'0,'.repeat(5)}0]}`), 'read')
    assert.equal(read(`{"payload":{"a":[${'0,'.repeat(15)}0]}}`), 'too_large /payload/a/11')
    assert.equal(read(`{"a":1,"a":[${'0,'.repeat(15)}0]}`), 'duplicate_key /a')
  })

  it('takes one step for each fixed number of bytes, including white space (P11)', () => {
    const blanks = Buffer.alloc(2 ** 20, ' ')
    const { result, steps } = collect(afterBlanks(blanks, 0))
    assert.equal(result, blanks.length)
    assert.ok(steps > 16, `${steps} steps`)
    for (const json of [
      `[1${' '.repeat(2 ** 20)}]`,
      `[${' '.repeat(2 ** 20)}1]`,
      `[1]${' '.repeat(2 ** 20)}`,
      `["${'x'.repeat(2 ** 20)}"]`,
    ]) {
      const reading = collect(readItems(Buffer.from(json), 1, limitsOf(5)))
      assert.deepEqual([reading.given.length, reading.result], [1, undefined])
      assert.ok(reading.steps > 16, `${reading.steps} steps`)
    }
  })
})
