/** A real HAProxy in front of a service, set up as deploy/haproxy says. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePorts } from './free-ports.ts'
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

/** Debian keeps servers where not everybody's PATH leads. */
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
const haproxy = folders.map((folder) => join(folder, 'haproxy')).find((path) => existsSync(path))
/** Why tests with it are skipped, or `false`. */
export const needsHaproxy =
  haproxy === undefined ? 'haproxy is not installed (Debian: apt-get install haproxy)' : false

export const haproxyFile = join(import.meta.dirname, '../../../../deploy/haproxy/haproxy.cfg')

/** The file of deploy/haproxy with the addresses of a test, each of which has to be there to be replaced, and without TLS. */
function adaptedHaproxy(port: number, nodePort: number, readyPort: number): string {
  let text = readFileSync(haproxyFile, 'utf8')
  for (const [pattern, replacement] of [
    [/bind :443 ssl .*/, `bind 127.0.0.1:${port}`],
    [/port 9464/, `port ${readyPort}`],
    [/10\.0\.0\.1:8080/, `127.0.0.1:${nodePort}`],
    [/10\.0\.0\.2:8080/, `127.0.0.1:${nodePort}`],
  ] as const) {
    assert.match(text, pattern, `${pattern.source} in ${haproxyFile}`)
    text = text.replace(pattern, replacement)
  }
  return text
}

export interface Haproxy {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Resolves once it has found the node ready, and passes on what it answers. */
export async function startHaproxy({
  port: nodePort,
  service,
}: Pick<TestService, 'port' | 'service'>): Promise<Haproxy> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-haproxy-'))
  const [port = 0] = await freePorts(1)
  const path = join(folder, 'haproxy.cfg')
  writeFileSync(path, adaptedHaproxy(port, nodePort, Number(new URL(service.metricsUrl ?? '').port)))
  const child = spawn(haproxy ?? '', ['-db', '-f', path], { stdio: 'ignore' })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('HAProxy ended')))
  ended.catch(() => undefined)
  await Promise.race([until(() => answers(port), { what: 'an answer through HAProxy' }), ended])
  return {
    port,
    async stop() {
      if (child.exitCode === null && child.kill('SIGKILL')) await ended.catch(() => undefined)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/openapi.json`).then(
    ({ ok }) => ok,
    () => false,
  )
}
