/** The hint at the path that was meant: the same for whatever could be meant, and bounded work for all else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { feedNames, feeds } from '@property-events/protocol'
import * as fc from 'fast-check'
import { nearestPaths } from '../../src/http/nearest-path.ts'

const paths = [
  ...feedNames.flatMap((name) => {
    const { eventsPath, publishPath, subjectsPath } = feeds[name]
    return [
      `${eventsPath}/getevents`,
      `${eventsPath}/geteventbyid/:eventId`,
      publishPath,
      `${publishPath}/snapshot`,
      `${subjectsPath}/:reference`,
      `${subjectsPath}/:reference/events`,
    ]
  }),
  '/v1/heads',
  '/openapi.json',
  '/docs',
]
const nearest = nearestPaths(paths)

/** All of the table, without a bound: what the hint is held against. */
function distance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const change = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}

function expected(path: string): string | undefined {
  if (path.length > 100) return undefined
  const given = path.split('/')
  let best: { readonly shown: string; readonly far: number } | undefined
  for (const known of paths) {
    const parts = known.split('/')
    const filled = parts.map((part, n) => (part.startsWith(':') ? (given[n] ?? part) : part)).join('/')
    const far = distance(path.toLowerCase(), filled.toLowerCase())
    const ours = known.split('/').filter((part) => !part.startsWith(':'))
    if (far > Math.min(8, ours.join('/').length / 4)) continue
    // The table gives the first of equally near ones, and the last shown where two come to the same text.
    if (best === undefined || far < best.far) best = { shown: known.replaceAll(/:([A-Za-z]+)/g, '{$1}'), far }
  }
  return best?.shown
}

const letters = fc.string({ unit: fc.constantFrom(...'/-aeginprstv0.%'.split('')), maxLength: 4 })
/** A path of ours in which a few letters are left out, put in or changed. */
const misspelled = fc
  .tuple(
    fc.constantFrom(...paths),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), letters), { maxLength: 5 }),
  )
  .map(([path, edits]) =>
    edits.reduce((text, [at, cut, more]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + more + text.slice(place + cut)
    }, path),
  )

describe('the path that was probably meant', () => {
  it('is the nearest of all, whatever was written (D19)', () => {
    fc.assert(
      fc.property(fc.oneof(misspelled, fc.string({ maxLength: 110 })), (path) => {
        assert.equal(nearest(path), expected(path))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is none for a path that is longer than any typing error (D9)', () => {
    for (const path of ['/'.repeat(8_000), `/v1/${'a/'.repeat(3_000)}`, `${paths[0]}${'x'.repeat(100)}`]) {
      assert.equal(nearest(path), undefined)
    }
  })

  it('is none for a path that shares nothing with it but a long reference (D19)', () => {
    const reference = '5f0c3f7e-8d0b-4a6e-9f0e-2b7f4c9a1d33'
    for (const path of [
      `/homes/${reference}`,
      `/v1/pictures/${reference}`,
      `/properties/${reference}/photographs`,
    ])
      assert.equal(nearest(path), undefined, path)
  })

  it('names parameters and shows nothing of the request (D18)', () => {
    assert.equal(nearest('/v1/contcts/Jane-Doe/events'), `${feeds.contact.subjectsPath}/{reference}/events`)
  })
})
