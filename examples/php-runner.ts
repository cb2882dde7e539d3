/** Runs the PHP examples against servers that a test makes. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
export const withPhp = {
  skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried',
}
const drivers = hasPhp ? spawnSync('php', ['-m'], { encoding: 'utf8' }).stdout.split('\n') : []
/** Whether this PHP has the driver of a database, such as `pdo_sqlite`. */
export const hasDriver = (name: string): boolean => drivers.includes(name)
export const withPhpAndSqlite = {
  skip: hasDriver('pdo_sqlite') ? false : 'not tried: apt-get install php-cli php-sqlite3',
}
const program = join(import.meta.dirname, 'php/copy-to-file.php')

export interface Ended {
  readonly code: number
  /** All that it wrote. */
  readonly words: string
  /** The copy's properties; none where there is no copy. */
  readonly properties: Readonly<Record<string, { readonly payload: object; readonly stale?: true }>>
  /** The most memory that PHP used, in MiB. */
  readonly peakMiB: number
}

export function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-php-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Where a server of this test listens. */
export async function listening(context: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

export async function answerAs(
  feed: typeof fetch,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const given = await feed(`http://feed${request.url ?? ''}`)
  response.writeHead(given.status, { ...Object.fromEntries(given.headers), connection: 'close' })
  response.end(await given.text())
}

/** An HTTP server that answers as `feed` does. */
export async function serving(context: TestContext, feed: typeof fetch): Promise<string> {
  const listener: RequestListener = (request, response) => void answerAs(feed, request, response)
  return `http://127.0.0.1:${await listening(context, createServer(listener))}`
}

/** Runs copy-to-file.php once; its memory is what PHP counted at its end, however it ended. */
export async function copied(
  folder: string,
  url: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const path = join(folder, 'copy.json')
  const peak = `register_shutdown_function(fn () => fwrite(STDERR, 'PEAK ' . memory_get_peak_usage() . "\\n"));`
  const code = `${peak} $argv = ['copy-to-file.php', $argv[1]]; require '${program}';`
  const env = { ...process.env, PROPERTY_EVENTS_KEY: 'k', PROPERTY_EVENTS_URL: url, ...environment }
  const ended = await new Promise<{ readonly code: number; readonly text: string }>((resolve) =>
    execFile('php', ['-d', 'memory_limit=1G', '-r', code, path], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    ),
  )
  assert.doesNotMatch(ended.text, /Stack trace|Warning:|Fatal error|#0 /, 'a user is shown a sentence')
  const peakMiB = Number(/PEAK (\d+)/.exec(ended.text)?.[1]) / 2 ** 20
  const words = ended.text.replace(/PEAK \d+\n/, '')
  return { code: ended.code, words, properties: propertiesIn(path), peakMiB }
}

function propertiesIn(path: string): Ended['properties'] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as Pick<Ended, 'properties'>).properties
  } catch {
    return {}
  }
}
