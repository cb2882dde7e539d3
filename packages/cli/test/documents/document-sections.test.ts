/** Every section of the protocol that code, tests and documents cite is there to be found. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { documents, root, textOf } from '../support/documents.ts'

const cited = /\.(?:ts|tsx|mjs|php|sql|yml|yaml|css)$/
const generated = /node_modules|[/]built[/]|[/]results[/]/

/** A § of these is a section of another document. */
const others =
  /\b(?:spec(?:'s)?|RFC \d+|RTDF(?:'s)?|Trace Context|HTML standard|EventSource|XML|CSS|JSON Schema|ASVS|BCP \d+)\b/g
const ours = /PROTOCOL(?:\.md)?|administration\.md/g

/** `3.1.3` is the third item of the list in section 3.1; `2.9.4` the fourth of the list in item 9 of section 2. */
function sectionsOf(text: string): ReadonlySet<string> {
  const sections = new Set<string>()
  let [section, item] = ['', '']
  for (const line of text.replaceAll(/^ *```.*?^ *```/gms, '').split('\n')) {
    const [, heading] = /^#{2,3} (\d+(?:\.\d+)?) /.exec(line) ?? []
    const [, indent = '', number] = /^( *)(\d+)\. /.exec(line) ?? []
    if (heading !== undefined) [section, item] = [heading, '']
    else if (number !== undefined && indent === '') item = `${section}.${number}`
    else if (number === undefined || item === '') continue
    sections.add(number === undefined ? section : indent === '' ? item : `${item}.${number}`)
  }
  return sections
}

/** The numbers behind every § that is the protocol's: those after its name, and those after no name. */
function citationsIn(text: string): readonly string[] {
  return [...text.matchAll(/§ ?(\d+(?:\.\d+)*)/g)].flatMap(([, number = ''], index, all) => {
    const at = all[index]?.index ?? 0
    const before = text.slice(Math.max(0, at - 120), at).replaceAll(/\n[\s/*#-]*/g, ' ')
    const last = (name: RegExp) => [...before.matchAll(name)].at(-1)?.index ?? -1
    return last(others) > last(ours) ? [] : [number]
  })
}

const sections = new Set(
  ['PROTOCOL.md', 'docs/administration.md'].flatMap((document) => [...sectionsOf(textOf(document))]),
)

const files = [
  ...documents,
  ...['packages', 'scripts', 'examples', 'deploy', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, String(name)))
      .filter((path) => cited.test(path) && !generated.test(path)),
  ),
]

describe('a section of the protocol that something cites', () => {
  it('exists, in PROTOCOL.md or docs/administration.md (PROTOCOL §1)', () => {
    assert.ok(files.length > 1_000 && sections.size > 100)
    const unknown: string[] = []
    let citations = 0
    for (const path of files) {
      const numbers = citationsIn(readFileSync(join(root, path), 'utf8'))
      citations += numbers.length
      for (const number of numbers) if (!sections.has(number)) unknown.push(`${path}: §${number}`)
    }
    assert.ok(citations > 500)
    assert.deepEqual(unknown, [])
  })

  it('is told from the sections of other documents, and from one that is not there (PROTOCOL §1)', () => {
    const gone = ['§', '99.1'].join('')
    assert.deepEqual(citationsIn(`(spec §4.1), RFC 9110 §7.2, PROTOCOL §5.7, ${gone}; RFC 9112\n * §9.6`), [
      '5.7',
      '99.1',
    ])
    assert.deepEqual(
      [...sectionsOf('## 2 Keys\n\n9. Nine\n   4. Four\n\n### 2.1 One\n\n```text\n7. no\n```\n3. Three\n')],
      ['2', '2.9', '2.9.4', '2.1', '2.1.3'],
    )
    assert.ok(!sections.has('99.1'))
  })
})
