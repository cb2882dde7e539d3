/** Every block of TypeScript, JavaScript and PHP in the documents runs here, or says on its fence that it is a fragment. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { blocksIn, documents, root, textOf } from '../support/documents.ts'
import type { Block } from '../support/documents.ts'

const context = join(import.meta.dirname, '../support/fragment-context.ts')
const scripts = new Map([
  ['ts', 'ts'],
  ['typescript', 'ts'],
  ['mts', 'ts'],
  ['tsx', 'ts'],
  ['js', 'js'],
  ['javascript', 'js'],
  ['mjs', 'js'],
  ['jsx', 'js'],
])
/** Checked elsewhere, or not programs of ours. A language that is not known here could be one that nobody runs. */
const others = new Set(['sh', 'json', 'text', 'ini', 'nginx', 'haproxy', 'sql', 'yaml', 'mermaid'])

const blocks = documents.flatMap((document) => blocksIn(document, textOf(document)))
const scriptBlocks = blocks.filter(({ language }) => scripts.has(language))
const phpBlocks = blocks.filter(({ language }) => language === 'php')
const nameOf = ({ document, line }: Block): string => `${document}:${line}`
const hasPhp = spawnSync('php', ['--version']).status === 0

/** Why a block is not as it has to be; `undefined` if it is. */
function faultOf(block: Block): string | undefined {
  const { document, language, mark } = block
  // Blocks that only root can run: operating-guide.test.ts runs them.
  if (language === 'sh' && mark === 'root' && document.startsWith('docs/operating/')) return undefined
  // Blocks for one of several terminals: tutorial.test.ts runs all of them, and knows the terminals.
  if (language === 'sh' && document === 'docs/tutorial.md') return undefined
  if (mark !== '' && mark !== 'fragment') return `has the mark "${mark}"; there is only "fragment"`
  if (scripts.has(language) || others.has(language)) return undefined
  if (language !== 'php') return `is of the language "${language}", which nothing here runs`
  if (mark === 'fragment' || isInExamples(block.text)) return undefined
  return 'is PHP that stands in no file of examples/php, and is not marked: write ```php fragment'
}

/** The files of examples/php are run by the tests beside them. */
function isInExamples(text: string): boolean {
  const folder = join(root, 'examples/php')
  return readdirSync(folder).some((name) => readFileSync(join(folder, name), 'utf8').includes(text.trim()))
}

let folder = ''
let service: TestService
let environment: NodeJS.ProcessEnv = {}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'property-events-fragments-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  service = await startTestService()
  await publish(
    service,
    Array.from({ length: 5 }, () => ({ payload: property() })),
  )
  const { tenantId } = service.tenant
  const key = await service.issue({ grants: [{ tenantId, scopes: ['property:read', 'property:publish'] }] })
  environment = { ...process.env, PROPERTY_EVENTS_URL: service.url, PROPERTY_EVENTS_KEY: key.text }
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

function fileOf(block: Block): string {
  const name = `${nameOf(block).replaceAll(/\W+/g, '-')}.${scripts.get(block.language) ?? block.language}`
  writeFileSync(join(folder, name), block.text)
  return name
}

/** Runs it as it stands, with what it takes as given. */
async function runBlock(block: Block): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(process.execPath, ['--import', context, fileOf(block)], {
    cwd: folder,
    env: environment,
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  const [code] = await once(child, 'close')
  return { code: Number(code), output }
}

/** What the compiler has against these blocks. A block is a module of its own. */
function typeFaults(checked: readonly Block[]): string {
  const files = checked.map((block) => {
    const name = fileOf(block)
    writeFileSync(join(folder, name), `${block.text}\nexport {}\n`)
    return name
  })
  const compilerOptions = { noUnusedLocals: false, typeRoots: [join(root, 'node_modules/@types')] }
  const configuration = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: [],
    files: [...files, context],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  return stdout
}

describe('the blocks of code in the documents', () => {
  it('are of a language that is run or checked, and no PHP is without its mark that no test runs', () => {
    assert(scriptBlocks.length >= 4 && phpBlocks.length >= 1, 'the documents have been found')
    assert.deepEqual(
      blocks.flatMap((block) => faultOf(block)?.replace(/^/, `${nameOf(block)} `) ?? []),
      [],
    )
  })

  it('type-check, fragments too', () => {
    assert.equal(typeFaults(scriptBlocks.filter(({ language }) => scripts.get(language) === 'ts')), '')
  })

  for (const block of scriptBlocks) {
    if (block.mark === 'fragment') continue
    it(`${nameOf(block)} runs as it stands`, async () => {
      const { code, output } = await runBlock(block)
      assert.equal(code, 0, output)
      // What compares values at hand asks nobody.
      if (/\b(?:feed|createClient|fetch)\b/.test(block.text)) assert.match(output, /asked the service [1-9]/)
    })
  }

  for (const block of phpBlocks) {
    it(
      `${nameOf(block)} is PHP`,
      { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' },
      () => {
        const input = block.text.startsWith('<?php') ? block.text : `<?php\n${block.text}`
        const { status, stdout } = spawnSync('php', ['-l'], { input, encoding: 'utf8' })
        assert.equal(status, 0, stdout)
      },
    )
  }
})

describe('the check of blocks', () => {
  const only = (text: string): Block => {
    const [block] = blocksIn('planted.md', text)
    assert(block !== undefined)
    return block
  }

  it('finds every fence, in lists too, with its language and its mark', () => {
    const text = '# A\n\n```ts fragment\na\n```\n\n- b\n\n  ```js\n  c\n    d\n  ```\n\n~~~\ne\n~~~\n'
    assert.deepEqual(
      blocksIn('x.md', text).map(({ line, language, mark, text }) => [line, language, mark, text]),
      [
        [3, 'ts', 'fragment', 'a\n'],
        [9, 'js', '', 'c\n  d\n'],
        [14, '', '', 'e\n'],
      ],
    )
  })

  it('sees what does not run, does not type-check, has no mark or a wrong one, or is of a language nobody runs', async () => {
    assert.notEqual((await runBlock(only('```ts\nawait feed.list({ page: 0 })\n```\n'))).code, 0)
    assert.match(typeFaults([only('```ts fragment\nawait feed.lost()\n```\n')]), /planted.*lost/)
    assert.match(faultOf(only('```php\necho nobody_runs_this();\n```\n')) ?? '', /not marked/)
    assert.equal(faultOf(only('```php fragment\necho 1;\n```\n')), undefined)
    assert.match(faultOf(only('```ts example\na\n```\n')) ?? '', /there is only "fragment"/)
    assert.match(faultOf(only('```kotlin\na\n```\n')) ?? '', /nothing here runs/)
    assert.match(faultOf(only('```\nconst a = 1\n```\n')) ?? '', /nothing here runs/)
  })
})
