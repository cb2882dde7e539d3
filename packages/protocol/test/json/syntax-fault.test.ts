/** Where a text stops being JSON, as a person who has to mend it is told. `JSON.parse` says whether it does. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { findSyntaxFault, textPositionOf } from '../../src/index.ts'

/** Runs to the end, and tells how often others were given a turn. */
function run<Value>(steps: Generator<undefined, Value>): { readonly value: Value; readonly turns: number } {
  for (let turns = 0; ; turns += 1) {
    const step = steps.next()
    if (step.done === true) return { value: step.value, turns }
  }
}

const faultIn = (text: string): number | undefined => run(findSyntaxFault(Buffer.from(text))).value

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a fault of syntax', () => {
  it('is found at the place where a text stops being JSON (PROTOCOL §4)', () => {
    const faults: readonly (readonly [text: string, offset: number | undefined])[] = [
      ['{"a":[1,-2.5e+3,true,null,"x\\n\\u00e9"],"b":{}}', undefined],
      [' \n[] ', undefined],
      ['', 0],
      ['  ', 2],
      ['{"a":1,}', 7],
      ['{"a" 1}', 5],
      ['{a:1}', 1],
      ["{'a':1}", 1],
      ['[1,2', 4],
      ['[1,,2]', 3],
      ['[1]]', 3],
      ['[1}', 2],
      ['{"a":1 "b":2}', 7],
      ['{"a":01}', 5],
      ['[1.]', 1],
      ['{"a":tru}', 5],
      ['{"a":"x\ny"}', 7],
      ['{"a":"x\\q"}', 7],
      ['"abc', 4],
    ]
    for (const [text, offset] of faults) assert.equal(faultIn(text), offset, text)
  })

  it('is found in exactly those texts that JSON.parse refuses (PROTOCOL §4)', () => {
    const piece = fc.constantFrom(
      ...Array.from('{}[]",:1 0ae.-+\\u\ntrue'),
      '\\u12',
      '1e5',
      'null',
      '"a"',
      '\u00e9',
    )
    const change = fc.record({ at: fc.nat(60), remove: fc.nat(2), insert: fc.option(piece, { nil: '' }) })
    let faulty = 0
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.array(change, { maxLength: 3 }), (json, changes) => {
        let text = json
        for (const { at, remove, insert } of changes) {
          const place = at % (text.length + 1)
          text = text.slice(0, place) + insert + text.slice(place + remove)
        }
        const whole = isJson(text)
        if (!whole) faulty += 1
        assert.equal(faultIn(text) === undefined, whole, text)
      }),
      { numRuns: 10_000 },
    )
    assert.ok(faulty > 1_000, `${faulty} texts were faulty`)
  })

  it('is reported by line and column, counted in characters, with the text around it on one line (PROTOCOL §4)', () => {
    const text = '{\n  "town": "Č\u00e9 \u{1f3e0}",,\n}'
    const offset = faultIn(text)
    assert.ok(offset !== undefined)
    const { value } = run(textPositionOf(Buffer.from(text), offset))
    assert.deepEqual(value, { line: 2, column: 18, excerpt: '"town": "Č\u00e9 \u{1f3e0}",,' })
  })

  it('is looked for in pieces, whatever the text is made of: others have their turn (P5)', () => {
    const length = 2 ** 22
    const texts: Readonly<Record<string, string>> = {
      blanks: ' '.repeat(length),
      'line feeds': '\n'.repeat(length),
      'one string': `"${'a'.repeat(length)}`,
      escapes: `"${'\\n'.repeat(length / 2)}`,
      'short values': `[${'1,'.repeat(length / 2)}`,
      'empty objects': `[${'{},'.repeat(length / 3)}`,
    }
    for (const [what, text] of Object.entries(texts)) {
      const bytes = Buffer.from(text)
      const { value: offset, turns } = run(findSyntaxFault(bytes))
      assert.ok(turns >= length / 2 ** 17, `${what}: ${turns} turns`)
      assert.ok(offset !== undefined, what)
      assert.ok(run(textPositionOf(bytes, offset)).turns >= offset / 2 ** 17, what)
    }
  })

  it('has no place if the text is too deep, or a number too long, to be examined', () => {
    assert.equal(faultIn(`${'['.repeat(5_000)}x`), undefined)
    assert.equal(faultIn(`[${'1'.repeat(5_000)},x]`), undefined)
  })
})
