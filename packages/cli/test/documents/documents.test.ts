/** The commands in the documents do what they say: every `sh` block is run as it stands against a demo service. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openDocumentShell } from '../support/document-shell.ts'
import type { DocumentShell } from '../support/document-shell.ts'

const root = join(import.meta.dirname, '../../../..')
const documents = [
  'README.md',
  'PROTOCOL.md',
  'ARCHITECTURE.md',
  ...['docs', 'docs/operating'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

interface Block {
  readonly language: string
  readonly text: string
  readonly line: number
}

function blocksOf(document: string): readonly Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }))
}

/** Commands that are run elsewhere: `npm …` by whoever runs this, `git clone …` by tutorial.test.ts. */
const runElsewhere = /^(?:npm |git clone |npx property-events demo\b)/

/** A service that does not end by itself runs beside the commands after it, on free ports. */
function besides(line: string): string {
  if (!line.startsWith('npx property-events serve ')) return line
  return `${line} --port 0 --metrics-port 0 --drain 0 --log-level error --json > serving & serving=$!
trap 'kill $serving; wait $serving || true' EXIT
until [ -s serving ]; do kill -0 $serving; sleep 0.1; done`
}

/** As those who show Markdown make them of headings: lower case, spaces as hyphens, no punctuation. */
function anchorsOf(path: string): ReadonlySet<string> {
  const text = readFileSync(path, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

let shell: DocumentShell

before(async () => {
  shell = await openDocumentShell()
})

after(() => shell.close())

describe('the documents', () => {
  for (const document of documents) {
    for (const block of blocksOf(document)) {
      if (block.language === 'sh') {
        const commands = block.text.split('\n').filter((line) => !runElsewhere.test(line))
        const script = commands.map(besides).join('\n').trim()
        if (script === '') continue
        it(`${document}:${block.line} runs as it stands`, async () => {
          const { code, output } = await shell.run(script)
          assert.equal(code, 0, output)
        })
      }
      if (block.language === 'json' && !block.text.includes('…')) {
        it(`${document}:${block.line} is JSON`, () => {
          JSON.parse(block.text)
        })
      }
    }
  }

  it('link to files that exist, and to headings that are in them', () => {
    for (const document of documents) {
      const text = readFileSync(join(root, document), 'utf8')
      for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
        if (/^https?:/.test(target)) continue
        const path = target === '' ? join(root, document) : join(root, document, '..', target)
        assert.doesNotThrow(() => statSync(path), `${document} links to ${target}`)
        if (anchor === '' || !path.endsWith('.md')) continue
        assert.ok(anchorsOf(path).has(anchor), `${document} links to ${target}#${anchor}`)
      }
    }
  })

  it('name every decision and promise of the protocol', () => {
    const protocol = readFileSync(join(root, 'PROTOCOL.md'), 'utf8')
    for (let number = 1; number <= 27; number += 1)
      assert.match(protocol, new RegExp(`\\bD${number}\\b`), `D${number}`)
    for (let number = 1; number <= 12; number += 1)
      assert.match(protocol, new RegExp(`\\| P${number} +\\|`), `P${number}`)
  })
})
