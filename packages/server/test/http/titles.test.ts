/** Every black-box test says what it proves. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { problems } from '../../src/http/problem/problem.ts'

/** `(D2)`, `(P11)`, `(W3)`, `(L1)`, `(spec §4.1)`, `(PROTOCOL §4)`, or several of them with commas. */
const one = String.raw`(?:[DPWL]\d+|spec §\d(?:\.\d)?|PROTOCOL §\d+(?:\.\d+)?)`
const proof = new RegExp(String.raw`\(${one}(?:, ${one})*\)$`)

const textOf = (document: string) => readFileSync(join(import.meta.dirname, '../../../..', document), 'utf8')
const protocol = textOf('PROTOCOL.md')
/** The sections on administration and the console have a document of their own. */
const everything = protocol + textOf('docs/administration.md')

/** The titles of the tests in a file; a title with a placeholder counts as it is written. */
function titlesIn(source: string): readonly string[] {
  return [...source.matchAll(/^\s*it\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gms)].map((match) => match[2] ?? '')
}

describe('the tests of this folder', () => {
  it('each name the section or decision they prove (PROTOCOL §6)', () => {
    const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
    assert.ok(files.length > 5)
    const without: string[] = []
    for (const name of files) {
      const source = readFileSync(`${import.meta.dirname}/${name}`, 'utf8')
      const titles = titlesIn(source)
      const calls = source.match(/^\s*it\(/gm) ?? []
      assert.equal(titles.length, calls.length, `${name}: a title that is not a literal`)
      assert.ok(titles.length > 0, `${name} holds no test`)
      for (const title of titles) if (!proof.test(title)) without.push(`${name}: ${title}`)
    }
    assert.deepEqual(without, [])
  })

  it('name sections, decisions and promises that the protocol has (PROTOCOL §6)', () => {
    const headings = [...everything.matchAll(/^#+ (\d+(?:\.\d+)?) /gm)].map((match) => match[1] ?? '')
    const unknown: string[] = []
    for (const name of readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test.ts'))) {
      for (const title of titlesIn(readFileSync(`${import.meta.dirname}/${name}`, 'utf8'))) {
        for (const [, section = ''] of title.matchAll(/PROTOCOL §(\d+(?:\.\d+)?)/g)) {
          const known = headings.includes(section) || headings.includes(section.split('.')[0] ?? '')
          if (!known) unknown.push(`${name}: §${section}`)
        }
        for (const [number = ''] of title.matchAll(/\b[DPWL]\d+\b/g)) {
          if (!new RegExp(`\\b${number}\\b`).test(everything)) unknown.push(`${name}: ${number}`)
        }
      }
    }
    assert.deepEqual(unknown, [])
  })

  it('have every problem code in the table of PROTOCOL §7, with its status (PROTOCOL §7, D9)', () => {
    const table = /^## 7 Errors$(.*?)^## 8 /ms.exec(protocol)?.[1] ?? ''
    const listed = new Map<string, number>()
    for (const [, status = '', codes = ''] of table.matchAll(/^\| (\d{3}) \| (.*?) \|/gm)) {
      for (const [, code = ''] of codes.matchAll(/`(\w+)`/g)) listed.set(code, Number(status))
    }
    const known = new Map(Object.entries(problems).map(([code, { status }]) => [code, status]))
    assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(known))
  })
})
