/** SECURITY.md and docs/owasp.md: each claim names the test that proves it, and the tables leave no requirement out. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { KeyTiming } from '../../../../bench/key-timing.ts'
import { root, textOf } from '../support/documents.ts'

const states = ['holds', 'falls short', 'not applicable'] as const
type State = (typeof states)[number]

interface Row {
  readonly what: string
  readonly state: State
  readonly why: string
}

function sectionOf(text: string, heading: string): string {
  return text.split(`\n## ${heading}`)[1]?.split('\n## ')[0] ?? ''
}

/** The rows of a table of claims. Throws where one says another state than the three. */
function claimsIn(section: string): readonly Row[] {
  return [...section.matchAll(/^\| ((?:API\d|V\d+\.).*?) \| (.*?) \| (.*) \|$/gm)].map(
    ([row, what = '', said, why = '']) => {
      const state = states.find((one) => one === said)
      assert.ok(state, row)
      return { what, state, why }
    },
  )
}

function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(/`((?:packages|scripts|bench)\/[^` ]+)`/g)].map(([, path]) => path ?? '')
}

/** `V1.2.6–8` is three of them. */
function requirementsIn(list: string): readonly string[] {
  return list.split(', ').flatMap((part) => {
    const [, section, first, last = first] = /^(V\d+\.\d+)\.(\d+)(?:–(\d+))?$/.exec(part) ?? []
    assert.ok(section, part)
    const count = Number(last) - Number(first) + 1
    return Array.from({ length: count }, (_, index) => `${section}.${Number(first) + index}`)
  })
}

/** Why a row is no claim that can be looked up, or `undefined`. */
function faultOfClaim({ state, why }: Row): string | undefined {
  const paths = pathsIn(why)
  const missing = paths.find((path) => !existsSync(join(root, path)))
  if (missing !== undefined) return `${missing} does not exist`
  const tests = paths.filter((path) => path.endsWith('.test.ts'))
  if (state === 'holds' && tests.length === 0) return 'no test is named'
  if (state !== 'holds' && why.replaceAll(/\(?`[^`]*`\)?/g, '').trim().length < 12)
    return 'no reason is given'
  return undefined
}

const text = textOf('SECURITY.md')
const owasp = textOf('docs/owasp.md')
const topTen = claimsIn(sectionOf(owasp, 'OWASP API Security Top 10'))
const asvs = claimsIn(sectionOf(owasp, 'OWASP ASVS'))

describe('SECURITY.md', () => {
  it('names the test or file that makes each claim on security true', () => {
    const rows = [...sectionOf(text, 'Claims').matchAll(/^\| (.*) \| (.*) \|$/gm)].filter(
      ([, claim]) => claim !== 'Claim',
    )
    assert.ok(rows.length > 30)
    for (const [, claim = '', proof = ''] of rows) {
      const paths = pathsIn(proof)
      assert.notDeepEqual(paths, [], claim)
      for (const path of paths) assert.ok(existsSync(join(root, path)), path)
    }
  })

  it('has every risk of the API Top 10 once', () => {
    const names = topTen.map(({ what }) => what.split(' ')[0])
    assert.deepEqual(
      names,
      Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
    )
  })

  it('has every requirement of the ASVS at levels 1 and 2 in exactly one row, and counts them', () => {
    const expected = readFileSync(join(import.meta.dirname, './asvs-level-2.txt'), 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => {
        const [section, ...numbers] = line.split(' ')
        return numbers.map((number) => `${section}.${number}`)
      })
    assert.equal(expected.length, 253)
    const named = asvs.flatMap(({ what }) => requirementsIn(what))
    assert.deepEqual(named.toSorted(), expected.toSorted())
    const [holds, short, apart] = states.map((wanted) =>
      asvs
        .filter(({ state }) => state === wanted)
        .reduce((sum, { what }) => sum + requirementsIn(what).length, 0),
    )
    assert.ok(
      owasp.includes(`${holds} hold, ${short} fall short, ${apart} are not applicable`),
      `${holds}, ${short}, ${apart}`,
    )
  })

  it('names an existing test for each requirement that is met, and a reason for each that is not', () => {
    for (const row of [...topTen, ...asvs]) assert.equal(faultOfClaim(row), undefined, row.what)
  })

  it('would fail if it named a test that is gone, or none: this test can fail', () => {
    const row = { what: 'V1.1.1', state: 'holds' } as const
    assert.match(
      faultOfClaim({ ...row, why: 'Well (`packages/cli/test/gone.test.ts`)' }) ?? '',
      /gone\.test\.ts does not exist/,
    )
    assert.equal(faultOfClaim({ ...row, why: 'Because we say so, at some length' }), 'no test is named')
    assert.equal(faultOfClaim({ ...row, state: 'falls short', why: '(`README.md`)' }), 'no reason is given')
    assert.throws(() => claimsIn('| V1.1.1 | mostly | Well |'))
  })

  it('gives the measured times of refusals', () => {
    const { requests, timings }: { requests: number; timings: readonly KeyTiming[] } = JSON.parse(
      readFileSync(join(root, 'bench/results/key-timing.json'), 'utf8'),
    )
    assert.ok(text.includes(`${requests.toLocaleString('en')} requests of each kind`))
    for (const { kind, medianUs, p10Us, p90Us, differenceUs, between } of timings) {
      assert.ok(
        text.includes(
          `| ${kind} | ${medianUs} | ${p10Us}–${p90Us} | ${differenceUs} (${between.join(' to ')}) |`,
        ),
        kind,
      )
    }
  })
})
