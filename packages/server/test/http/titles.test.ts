/** Every black-box test says what it proves. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { describe, it } from 'node:test'

/** `(D2)`, `(P11)`, `(spec §4.1)`, `(PROTOCOL "Publishing")`, or several of them with commas. */
const proof =
  /\((?:D\d+|P\d+|spec §\d(?:\.\d)?|PROTOCOL "[^"]+")(?:, (?:D\d+|P\d+|spec §\d(?:\.\d)?|PROTOCOL "[^"]+"))*\)$/

/** The titles of the tests in a file; a title with a placeholder counts as it is written. */
function titlesIn(source: string): readonly string[] {
  return [...source.matchAll(/^\s*it\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gms)].map((match) => match[2] ?? '')
}

describe('the tests of this folder', () => {
  it('each name the section or decision they prove (PROTOCOL "Tests")', () => {
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
})
