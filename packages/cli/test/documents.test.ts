/** The commands in the documents do what they say: every `sh` block is run as it stands against a demo service. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'

const root = join(import.meta.dirname, '../../..')
const program = join(root, 'packages/cli/bin/property-events.mjs')
const documents = [
  'README.md',
  'PROTOCOL.md',
  'ARCHITECTURE.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
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

/** Commands that are run elsewhere (`npm …`, by whoever runs this), need another machine, or do not end by themselves. */
const runElsewhere = /^(npm |npx property-events (serve|demo)\b)/

let folder = ''
let stopService: () => Promise<void> = () => Promise.resolve()
let environment: NodeJS.ProcessEnv = {}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'property-events-documents-'))
  // `npx property-events` in a document is this program, run by this Node.
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${program}" "$@"\n`)
  chmodSync(join(folder, 'npx'), 0o755)
  // A machine with git and Node alone has no curl; then the same requests are made by Node.
  if (spawnSync('curl', ['--version']).status !== 0) {
    const curl = join(import.meta.dirname, 'support/curl.ts')
    writeFileSync(join(folder, 'curl'), `#!/bin/sh\nexec "${process.execPath}" "${curl}" "$@"\n`)
    chmodSync(join(folder, 'curl'), 0o755)
  }
  const service = spawn(
    process.execPath,
    [
      program,
      'demo',
      '--json',
      '--port',
      '0',
      '--data',
      join(folder, 'data'),
      '--log-level',
      'error',
      '--drain',
      '0',
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [line] = await once(createInterface({ input: service.stdout }), 'line')
  const ready: { url: string; tenants: { tenantId: string; readKey: string; publishKey: string }[] } =
    JSON.parse(String(line))
  const tenant = ready.tenants[0]
  environment = {
    ...process.env,
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    URL: ready.url,
    KEY: tenant?.readKey,
    PUBLISH_KEY: tenant?.publishKey,
    TENANT: tenant?.tenantId,
    DATA: join(folder, 'data'),
  }
  stopService = async () => {
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
})

after(async () => {
  await stopService()
  rmSync(folder, { recursive: true, force: true })
})

async function runShell(script: string): Promise<{ readonly code: number; readonly output: string }> {
  const shell = spawn('/bin/sh', ['-eu', '-c', script], { cwd: folder, env: environment })
  let output = ''
  shell.stdout.on('data', (chunk) => (output += String(chunk)))
  shell.stderr.on('data', (chunk) => (output += String(chunk)))
  const [code] = await once(shell, 'close')
  return { code: Number(code), output }
}

describe('the documents', () => {
  for (const document of documents) {
    for (const block of blocksOf(document)) {
      if (block.language === 'sh') {
        const commands = block.text.split('\n').filter((line) => !runElsewhere.test(line))
        const script = commands.join('\n').trim()
        if (script === '') continue
        it(`${document}:${block.line} runs as it stands`, async () => {
          const { code, output } = await runShell(script)
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

  it('link to files that exist', () => {
    for (const document of documents) {
      const text = readFileSync(join(root, document), 'utf8')
      for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^https?:/.test(target)) continue
        assert.doesNotThrow(
          () => statSync(join(root, document, '..', target)),
          `${document} links to ${target}`,
        )
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
