/** This service as a user runs it, on the server's core, with rate limits off. */
import { join } from 'node:path'
import { serverCore, spawnPinned, stop } from './pinned.ts'
import { firstLine, usageOfTrees } from './server.ts'
import type { RunningServer } from './server.ts'

export interface RunningService extends RunningServer {
  readonly pid: number
}

const ours = join(import.meta.dirname, '../..')

/** `folder` holds the store, or with `--database` among the arguments the pepper and the sealed pages. */
export async function startService(
  folder: string,
  options: {
    core?: number | string
    args?: readonly string[]
    /** A checkout of another build to compare with; it may not know every flag. */
    checkout?: string
  } = {},
): Promise<RunningService> {
  const { checkout = ours } = options
  const child = spawnPinned(options.core ?? serverCore, process.execPath, [
    join(checkout, 'packages/cli/bin/property-events.mjs'),
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
    ...(checkout === ours ? ['--drain', '0'] : []),
    ...(options.args ?? []),
  ])
  child.stderr?.pipe(process.stderr)
  const ready: { url: string } = JSON.parse(await firstLine(child))
  const pid = child.pid ?? 0
  return {
    url: ready.url,
    pid,
    ...usageOfTrees(() => [pid]),
    [Symbol.asyncDispose]: () => stop(child),
  }
}
