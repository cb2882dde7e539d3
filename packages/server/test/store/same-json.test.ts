import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sameJson } from '../../src/events/append/content-hash.ts'

/** A value of JSON whose numbers are written, so that no double rounds them. */
type Written =
  | { readonly number: { readonly digits: bigint; readonly power: number } }
  | string
  | boolean
  | null
  | readonly Written[]
  | { readonly members: readonly (readonly [string, Written])[] }

const number = fc.record({
  number: fc.record({
    digits: fc.oneof(fc.bigInt(-99n, 99n), fc.bigInt(-(10n ** 25n), 10n ** 25n)),
    power: fc.integer({ min: -30, max: 12 }),
  }),
})
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('', 'Tŷ Gwyn', '£450,000 – a/b', '🏡', '\u2028"\\', '450000', '1e5', 'null', 'decimal'),
)
const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 4 },
    number,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('written'), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(text, tie('written')), { maxLength: 4, selector: ([name]) => name })
      .map((members) => ({ members })),
  ),
}))

/** A choice of spelling from a stream of numbers. */
type Choose = (upTo: number) => number

function chooser(seed: number): Choose {
  let state = seed
  return (upTo) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * upTo)
  }
}

function spell(value: Written, choose: Choose): string {
  const blank = ['', '', ' ', '\n\t'][choose(4)] ?? ''
  return blank + spellValue(value, choose) + blank
}

function spellValue(value: Written, choose: Choose): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return spellText(value, choose)
  if ('number' in value) return spellNumber(value.number, choose)
  if ('members' in value) {
    const members = value.members.map(([name, one]) => `${spellText(name, choose)}:${spell(one, choose)}`)
    const from = choose(members.length)
    return `{${[...members.slice(from), ...members.slice(0, from).toReversed()].join()}}`
  }
  return `[${value.map((one) => spell(one, choose)).join()}]`
}

function spellText(value: string, choose: Choose): string {
  const short = new Map([
    ['\n', '\\n'],
    ['"', '\\"'],
    ['\\', '\\\\'],
    ['/', '\\/'],
  ])
  const units = value.split('').map((unit) => {
    const code = unit.charCodeAt(0)
    const isPlain = code >= 0x20 && unit !== '"' && unit !== '\\'
    const isPart = code >= 0xd800 && code < 0xe000
    if (isPlain && (isPart || choose(3) > 0)) return unit
    const hex = code.toString(16).padStart(4, '0')
    return (choose(2) > 0 ? short.get(unit) : undefined) ?? `\\u${choose(2) > 0 ? hex : hex.toUpperCase()}`
  })
  return `"${units.join('')}"`
}

function spellNumber({ digits, power }: { digits: bigint; power: number }, choose: Choose): string {
  const zeros = choose(4)
  const shifted = digits * 10n ** BigInt(zeros)
  const exponent = power - zeros
  const sign = shifted < 0n || (shifted === 0n && choose(2) > 0) ? '-' : ''
  const all = String(shifted < 0n ? -shifted : shifted)
  const point = choose(all.length)
  const [whole, fraction] = [all.slice(0, all.length - point), all.slice(all.length - point)]
  const e = exponent + point
  const letter = choose(2) > 0 ? 'e' : 'E'
  const tail =
    e === 0 && choose(2) > 0
      ? ''
      : `${letter}${e < 0 ? '-' : ['', '+'][choose(2)]}${'0'.repeat(choose(3))}${Math.abs(e)}`
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${tail}`
}

/** The same value, changed in one place; `undefined`: the path leads to no place. */
function changed(value: Written, choose: Choose): Written {
  if (typeof value === 'string') return choose(2) > 0 ? `${value}x` : null
  if (value === null) return false
  if (typeof value === 'boolean') return choose(2) > 0 ? !value : String(value)
  if ('number' in value) {
    const { digits, power } = value.number
    if (choose(3) === 0) return spellNumber(value.number, choose)
    return {
      number: choose(2) > 0 || digits === 0n ? { digits: digits + 1n, power } : { digits, power: power + 1 },
    }
  }
  const list = 'members' in value ? value.members : value
  const place = choose(list.length)
  if (list.length === 0) return 'members' in value ? { members: [['new', null]] } : [null]
  if (choose(4) === 0) {
    return 'members' in value ? { members: value.members.toSpliced(place, 1) } : value.toSpliced(place, 1)
  }
  if (!('members' in value)) return value.with(place, changed(value[place] ?? null, choose))
  const [name = '', one = null] = value.members[place] ?? []
  return { members: value.members.with(place, [name, changed(one, choose)]) }
}

const seeds = fc.tuple(fc.nat(), fc.nat(), fc.nat())

describe('JSON that is the same by value', () => {
  it('is the same in any spelling and any order of members (D14)', () => {
    fc.assert(
      fc.property(written, seeds, (value, [one, other]) => {
        const [a, b] = [spell(value, chooser(one)), spell(value, chooser(other))]
        assert.ok(sameJson(a, b), `${a} ${b}`)
      }),
    )
  })

  it('is another one after any change of a value, however it is spelled (D14)', () => {
    fc.assert(
      fc.property(written, seeds, (value, [one, other, where]) => {
        const [a, b] = [spell(value, chooser(one)), spell(changed(value, chooser(where)), chooser(other))]
        assert.ok(!sameJson(a, b), `${a} ${b}`)
        assert.ok(!sameJson(b, a), `${b} ${a}`)
      }),
    )
  })

  const cases: readonly (readonly [string, string, boolean])[] = [
    ['450000', '450000.00', true],
    ['450000', '4.5e5', true],
    ['-0', '0', true],
    ['-0.0e7', '0', true],
    ['9007199254740993.0', '9007199254740992.0', false],
    ['9007199254740993.0', '9.007199254740993e15', true],
    ['0.1', '0.1000000000000000055511151231257827', false],
    ['0.30000000000000004', '3.0000000000000004e-1', true],
    ['1e-310', '1.0000000000000000001e-310', false],
    ['4.9e-324', '5e-324', false],
    ['1', '"1"', false],
    ['1', 'true', false],
    ['null', 'false', false],
    ['[]', '{}', false],
    ['[1]', '{"0":1}', false],
    ['{"a":null}', '{}', false],
    ['{"a":1}', '{"b":1}', false],
    ['{"a":1.2345678901234567}', '{"a":{"decimal":"12345678901234567e-16"}}', false],
    ['"\\u00e9"', '"é"', true],
    ['"e\\u0301"', '"é"', false],
    ['[1,2]', '[2,1]', false],
  ]
  for (const [one, other, same] of cases) {
    it(`${one} and ${other}: ${same ? 'the same' : 'another'} (D14)`, () => {
      assert.equal(sameJson(one, other), same)
      assert.equal(sameJson(other, one), same)
    })
  }
})
