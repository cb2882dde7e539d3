/** The one comparison of two payloads. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { changes, versionChanges } from '../src/index.ts'
import type { PayloadChange } from '../src/index.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'

/** A change, and the rest of the way to it. */
interface Step {
  readonly path: readonly string[]
  readonly change: PayloadChange
}

/** What a reader of the changes makes of `before`; it knows nothing but the description of their members. */
function applied(before: unknown, found: readonly PayloadChange[]): unknown {
  return withSteps(
    before,
    found.map((change) => ({ path: partsOf(change.pointer), change })),
  )
}

function partsOf(pointer: string): readonly string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function withSteps(before: unknown, steps: readonly Step[]): unknown {
  const whole = steps.find(({ path }) => path.length === 0)
  if (whole !== undefined) return whole.change.to
  if (steps.length === 0) return before
  const own = steps
    .filter(({ path }) => path.length === 1)
    .map(({ path: [name = ''], change }) => ({ name, change }))
  const below = Map.groupBy(
    steps.filter(({ path }) => path.length > 1),
    ({ path: [name = ''] }) => name,
  )
  const inside = (name: string, value: unknown): unknown =>
    withSteps(
      value,
      (below.get(name) ?? []).map(({ path, change }) => ({ path: path.slice(1), change })),
    )
  if (Array.isArray(before)) return listWith(before, own).map((item, index) => inside(String(index), item))
  const members = new Map<string, unknown>(Object.entries(Object(before)))
  for (const { name, change } of own) {
    if ('to' in change) members.set(name, change.to)
    else members.delete(name)
  }
  return Object.fromEntries([...members].map(([name, value]) => [name, inside(name, value)]))
}

function listWith(
  before: readonly unknown[],
  own: readonly { readonly name: string; readonly change: PayloadChange }[],
): readonly unknown[] {
  const isGone = ({ from, to, movedFrom }: PayloadChange) =>
    from !== undefined && to === undefined && movedFrom === undefined
  const left = new Set(
    own.flatMap(({ name, change }) => (isGone(change) ? [Number(name)] : (change.movedFrom ?? []))),
  )
  const list = before.filter((_, index) => !left.has(index))
  const placed = own.filter(({ change }) => change.movedFrom !== undefined || !('from' in change))
  for (const { name, change } of placed.toSorted((a, b) => Number(a.name) - Number(b.name))) {
    list.splice(Number(name), 0, change.movedFrom === undefined ? change.to : before[change.movedFrom])
  }
  for (const { name, change } of own) if ('from' in change && 'to' in change) list[Number(name)] = change.to
  return list
}

/** As JSON.parse makes it: `__proto__` is a member like any other. */
function parsed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

const names = ['media', 'a/b', '~1', '~', '', '__proto__', 'toString', '0', 'tŷ', '🏡', '\ud800']

const letter = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')

const { json } = fc.letrec((tie) => {
  const members = fc.array(
    fc.tuple(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...names) }, fc.string()), tie('json')),
    { maxLength: 5 },
  )
  const photograph = fc
    .tuple(letter, fc.constantFrom('Cegin – £1', '🏡', null), tie('json'))
    .map(([one, caption, more]) => ({ media_url: `https://example.com/${one}.jpg`, caption, more }))
  return {
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<unknown>(null, true, false, 0, 1, '1', 'Tŷ gwyn – £1', ''),
      fc.array(tie('json'), { maxLength: 6 }),
      fc.array(photograph, { maxLength: 8 }),
      members.map((entries) => Object.fromEntries(entries)),
    ),
  }
})

const photographs = (letters: Iterable<string>) =>
  Array.from(letters, (one) => ({ media_url: `https://example.com/${one}.jpg`, caption: one }))

describe('the changes between two payloads', () => {
  it('give the later payload when they are applied to the earlier one (D31)', () => {
    const payload = fc.tuple(json, json, json).map(([media, x, y]) => parsed({ media, '': x, 'a/b': y }))
    fc.assert(
      fc.property(payload, payload, (before, after) => {
        const found = changes(before, after)
        assert.deepEqual(applied(before, found), after)
        assert.equal(found.length === 0, isDeepStrictEqual(before, after))
      }),
      { numRuns: isLong ? 20_000 : 2_000 },
    )
  })

  it('give the later list of photographs, each of which may be there twice (D31)', () => {
    const list = fc.array(letter, { maxLength: 12 }).map(photographs)
    fc.assert(
      fc.property(list, list, (before, after) => {
        assert.deepEqual(applied({ media: before }, changes({ media: before }, { media: after })), {
          media: after,
        })
      }),
      { numRuns: 2_000 },
    )
  })

  it('name one photograph alone where one came, went, moved or has another caption (D31)', () => {
    const media = photographs('abcdef')
    const [a, b, c, d, e, f] = media
    const cases: readonly (readonly [after: readonly unknown[], found: readonly PayloadChange[]])[] = [
      [[{ media_url: 'n' }, ...media], [{ pointer: '/media/0', to: { media_url: 'n' } }]],
      [media.slice(1), [{ pointer: '/media/0', from: a }]],
      [[f, a, b, c, d, e], [{ pointer: '/media/0', movedFrom: 5 }]],
      [[b, c, d, e, a, f], [{ pointer: '/media/4', movedFrom: 0 }]],
      [[a, a, b, c, d, e, f], [{ pointer: '/media/1', to: a }]],
      [
        [a, { ...b, caption: 'Cegin' }, c, d, e, f],
        [{ pointer: '/media/1/caption', from: 'b', to: 'Cegin' }],
      ],
      [
        [{ ...c, caption: null }, a, b, d, e, f],
        [
          { pointer: '/media/0', movedFrom: 2 },
          { pointer: '/media/0/caption', from: 'c', to: null },
        ],
      ],
    ]
    for (const [after, found] of cases) assert.deepEqual(changes({ media }, { media: after }), found)
  })

  it('tell what is absent from what is null, and point at members of any name (D31)', () => {
    const before = parsed({ price: 1, 'a/b': { '~': [1] }, '': 'x', gone: null })
    const after: unknown = JSON.parse('{"price":null,"a/b":{"~":[1,"🏡"]},"":"y","__proto__":{"tŷ":1}}')
    assert.deepEqual(changes(before, after), [
      { pointer: '/price', from: 1, to: null },
      { pointer: '/a~1b/~0/1', to: '🏡' },
      { pointer: '/', from: 'x', to: 'y' },
      { pointer: '/__proto__', to: { tŷ: 1 } },
      { pointer: '/gone', from: null },
    ])
    assert.deepEqual(changes(null, 'text'), [{ pointer: '', from: null, to: 'text' }])
  })

  it('take values nested a hundred thousand deep as a whole (D31)', () => {
    const deep = (last: string): unknown =>
      JSON.parse(`{"crm":${'['.repeat(100_000)}"${last}"${']'.repeat(100_000)}}`)
    assert.deepEqual(changes(deep('a'), deep('a')), [])
    const [found, ...others] = changes(deep('a'), deep('b'))
    assert.equal(others.length, 0)
    assert.match(found?.pointer ?? '', /^\/crm(?:\/0){15}$/)
  })

  it('take a time that grows with the length of the payloads, and not with its square (D31)', () => {
    const long = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ media_url: `https://example.com/${n}.jpg` }))
    const before = { media: long(100_000), features: Array.from({ length: 100_000 }, () => 'Gardd') }
    const after = { media: before.media.toReversed(), features: before.features.slice(1) }
    const startedMs = performance.now()
    assert.equal(changes(before, after).length, 100_000)
    // Each with each would be 10 thousand million comparisons.
    assert.ok(performance.now() - startedMs < 8_000)
  })
})

describe('what a version changed', () => {
  const home = '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c33'
  const shown = JSON.stringify({ agent_ref: home, published: true, price: '£1' })
  const reduced = (state: string) => `{"agent_ref":"${home}","published":false,"${state}":true}`

  it('is said only where both payloads are there, and otherwise why it is not (D17)', () => {
    const absent = (before: string | undefined, payload: string) => {
      const { changes: found, changesAbsent } = versionChanges(before, payload)
      assert.equal(found, null)
      return changesAbsent
    }
    assert.equal(absent(undefined, shown), 'first_version')
    for (const state of ['erased', 'thinned']) {
      assert.equal(absent(shown, reduced(state)), state)
      assert.equal(absent(reduced(state), shown), state)
      assert.equal(absent(reduced('thinned'), reduced(state)), state)
    }
    for (const odd of ['', 'null', '[1]', '"text"', '{']) {
      assert.equal(absent(odd, shown), 'not_an_object')
      assert.equal(absent(shown, odd), 'not_an_object')
    }
  })

  it('is the list of changes, for a removal and for a member of the agency named erased as well', () => {
    const removed = JSON.stringify({ agent_ref: home, published: false, price: '£1', erased: true })
    assert.deepEqual(versionChanges(shown, removed), {
      changes: [
        { pointer: '/published', from: true, to: false },
        { pointer: '/erased', to: true },
      ],
    })
    assert.deepEqual(versionChanges(shown, shown), { changes: [] })
  })
})
