/** One run of the load generator `wrk` (Debian package wrk) with a script of `bench/load`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCore, runPinned, usageOf } from './pinned.ts'

export interface LoadOptions {
  readonly url: string
  readonly script: 'get.lua' | 'post.lua'
  readonly connections: number
  readonly seconds: number
  readonly env: Readonly<Record<string, string>>
  /** The server, to say what it used. */
  readonly pid?: number
}

/** What one run saw. */
export interface LoadFigures {
  readonly requestsPerSecond: number
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
  readonly cpuMicrosecondsPerRequest?: number
  readonly memoryMiB?: number
}

const loadFolder = join(import.meta.dirname, '../load')

export async function runLoad(options: LoadOptions): Promise<LoadFigures> {
  const before = options.pid === undefined ? undefined : usageOf(options.pid)
  const output = await runPinned(
    loadCore,
    'wrk',
    [
      '-t1',
      `-c${options.connections}`,
      `-d${options.seconds}s`,
      '--timeout',
      '10s',
      '-s',
      join(loadFolder, options.script),
      options.url,
    ],
    { ...options.env, LOAD_DIR: loadFolder },
  )
  const line = output.trim().split('\n').at(-1) ?? ''
  const seen: {
    requests: number
    seconds: number
    bytes: number
    p50Ms: number
    p99Ms: number
    errors: number
  } = JSON.parse(line)
  const after = options.pid === undefined ? undefined : usageOf(options.pid)
  return {
    requestsPerSecond: seen.requests / seen.seconds,
    megabytesPerSecond: seen.bytes / seen.seconds / 1e6,
    p50Ms: seen.p50Ms,
    p99Ms: seen.p99Ms,
    errors: seen.errors,
    ...(before === undefined || after === undefined
      ? {}
      : {
          cpuMicrosecondsPerRequest: ((after.cpuS - before.cpuS) / seen.requests) * 1e6,
          memoryMiB: after.memoryMiB,
        }),
  }
}

/** Writes a list for a load script to a file and gives its path. */
export function listFile(folder: string, name: string, lines: readonly string[]): string {
  const file = join(folder, name)
  writeFileSync(file, lines.join('\n') + '\n')
  return file
}
