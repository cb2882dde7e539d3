/** A shell in which the commands of the documents do what they say: a demo service, and the variables that they name. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './documents.ts'

const program = join(root, 'packages/cli/bin/property-events.mjs')

export interface DocumentShell {
  /** Runs a script as it stands, and ends it at the first command that fails. */
  run(script: string): Promise<{ readonly code: number; readonly output: string }>
  close(): Promise<void>
}

interface DemoLine {
  readonly url: string
  readonly metricsUrl: string
  readonly tenants: readonly {
    readonly tenantId: string
    readonly readKey: string
    readonly publishKey: string
  }[]
}

export async function openDocumentShell(): Promise<DocumentShell> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-documents-'))
  const command = (name: string, line: string): void => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  // `npx property-events` in a document is this program, run by this Node.
  command('npx', `shift\nexec "${process.execPath}" "${program}" "$@"`)
  // A machine with git and Node alone has no curl; then the same requests are made by Node.
  if (spawnSync('curl', ['--version']).status !== 0)
    command('curl', `exec "${process.execPath}" "${join(import.meta.dirname, 'curl.ts')}" "$@"`)
  const data = join(folder, 'data')
  const args = [
    'demo',
    '--no-live',
    '--json',
    '--port',
    '0',
    '--data',
    data,
    '--log-level',
    'error',
    '--drain',
    '0',
  ]
  const service = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(service, 'exit').then(() =>
    Promise.reject(new Error('the demo ended before it was ready')),
  )
  const [line] = await Promise.race([once(createInterface({ input: service.stdout }), 'line'), ended])
  ended.catch(() => undefined)
  const { url, metricsUrl, tenants }: DemoLine = JSON.parse(String(line))
  const [tenant] = tenants
  const environment = {
    ...process.env,
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    PROPERTY_EVENTS_URL: url,
    METRICS: metricsUrl,
    PROPERTY_EVENTS_KEY: tenant?.readKey,
    PROPERTY_EVENTS_PUBLISH_KEY: tenant?.publishKey,
    TENANT: tenant?.tenantId,
    DATA: data,
    STORE: join(folder, 'store'),
  }
  return {
    async run(script) {
      const shell = spawn('/bin/sh', ['-eu', '-c', script], { cwd: folder, env: environment })
      let output = ''
      shell.stdout.on('data', (chunk) => (output += String(chunk)))
      shell.stderr.on('data', (chunk) => (output += String(chunk)))
      const [code] = await once(shell, 'close')
      return { code: Number(code), output }
    },
    async close() {
      service.kill('SIGTERM')
      await once(service, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
