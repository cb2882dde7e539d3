/** This service as a user runs it, on the server's core, with rate limits off. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { serverCore, spawnPinned, stop } from './pinned.ts'

export interface RunningService extends AsyncDisposable {
  readonly url: string
  readonly pid: number
}

const program = join(import.meta.dirname, '../../packages/cli/bin/property-events.mjs')

export async function startService(
  folder: string,
  options: { core?: number | string; args?: readonly string[] } = {},
): Promise<RunningService> {
  const child = spawnPinned(options.core ?? serverCore, process.execPath, [
    program,
    'serve',
    '--json',
    '--data',
    folder,
    '--port',
    '0',
    '--rate-limit',
    'off',
    '--log-level',
    'error',
    ...(options.args ?? []),
  ])
  child.stderr?.pipe(process.stderr)
  const ready: { url: string } = JSON.parse(await firstLine(child))
  return { url: ready.url, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => stop(child) }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('the service ended before it was ready')
}
