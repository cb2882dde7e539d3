/** What the documents have to say, and where: words that somebody will look for. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { documents, root, textOf } from '../support/documents.ts'
import { run } from '../support/program.ts'

/** The paragraphs, list items and table rows of a document, each on one line. */
function paragraphsOf(document: string): readonly string[] {
  return textOf(document)
    .split(/\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' '))
}

describe('the documents', () => {
  it('say what published-0 is for before a store is made, because it cannot be changed later (D12)', () => {
    const text = textOf('docs/operating.md')
    const first = text.search(/ExecStart|enable --now|npx property-events tenants/)
    assert(first > 0)
    const before = text.slice(0, first).replaceAll(/\s+/g, ' ')
    for (const words of [/--catalogue published-0/, /WordPress/, /before the first start/i])
      assert.match(before, words)
    assert.match(textOf('README.md'), /\(docs\/operating\.md#before-the-first-start\)/)
  })

  it('say of each command for data protection whether it opens the store, or needs an address and a key (D17)', async () => {
    const rows = [
      ...textOf('docs/privacy.md').matchAll(/^\| [^|]* \| (`[^|]*) \| (at the store|over HTTP) \|/gm),
    ]
    const commands = rows.flatMap(([, names = '', where = '']) =>
      [...names.matchAll(/`([a-z ]+?)(?: --[^`]*)?`/g)].map(([, name = '']) => [name, where] as const),
    )
    assert.ok(commands.length >= 18)
    for (const [name, where] of commands) {
      const { stdout } = await run([...name.split(' '), '--help'])
      const option =
        where === 'over HTTP' ? /--url <url>[^]*--key <key>|--key <key>[^]*--url <url>/ : /--data <folder>/
      assert.match(stdout, option, name)
      if (where === 'at the store') assert.doesNotMatch(stdout, /--url <url>/, name)
    }
  })

  it('contain only links to headings that exist', () => {
    const slugs = (document: string) =>
      new Set(
        [
          ...textOf(document)
            .replaceAll(/^```.*?^```/gms, '')
            .matchAll(/^#+ (.*)$/gm),
        ].map(([, heading = '']) =>
          heading
            .replaceAll(/\[([^\]]*)\]\([^)]*\)|`/g, '$1')
            .toLowerCase()
            .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
            .replaceAll(/\s/g, '-'),
        ),
      )
    let links = 0
    for (const document of documents) {
      for (const [link, target = '', heading = ''] of textOf(document).matchAll(
        /\]\(([^)#\s]*)#([^)\s]+)\)/g,
      )) {
        const file = target === '' ? document : join(dirname(document), target)
        if (/^https?:/.test(target) || !file.endsWith('.md')) continue
        links += 1
        assert.ok(slugs(file).has(heading), `${document}: ${link}`)
      }
    }
    assert.ok(links > 50)
  })

  it('name only source files that exist', () => {
    const folders = ['packages', 'scripts', 'examples', 'bench']
    const files = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `/${folder}/${name}`,
      ),
    )
    const gone: string[] = []
    let named = 0
    for (const document of documents) {
      for (const [, path = ''] of textOf(document).matchAll(
        /`((?!wp-)[a-z][\w./-]*\.(?:ts|tsx|sql|mjs|php|py))`/g,
      )) {
        named += 1
        if (!files.some((file) => file.endsWith(`/${path}`)) && !existsSync(join(root, path)))
          gone.push(`${document}: ${path}`)
      }
    }
    assert.ok(named > 150)
    assert.deepEqual(gone, [])
  })

  it('can be searched for WordPress, and say what to do for it (D12, D15)', () => {
    const section = /^## An existing importer plugin\n(.*)/ms.exec(textOf('docs/wordpress.md'))?.[1] ?? ''
    for (const word of ['--event-types published-0', 'transactionId', 'price_information', 'property:read'])
      assert(section.includes(word), word)
    for (const document of ['README.md', 'docs/operating.md', 'docs/consuming.md', 'docs/README.md'])
      assert.match(textOf(document), /\]\((?:docs\/)?wordpress\.md/, document)
  })

  it('promise consumers no browsers but those on the same origin, unless an operator names theirs (D9)', () => {
    for (const document of [
      'README.md',
      'docs/consuming.md',
      'docs/tutorial.md',
      'packages/client/README.md',
    ]) {
      for (const paragraph of paragraphsOf(document)) {
        if (/\bbrowsers?\b/i.test(paragraph))
          assert.match(paragraph, /same origin|operating\/browsers\.md/i, `${document}: ${paragraph}`)
      }
    }
    const browsers = paragraphsOf('docs/operating/browsers.md').join('\n')
    for (const words of [/A key in a page is public/, /off by default/, /Credentials of browsers .* never/])
      assert.match(browsers, words)
  })
})
