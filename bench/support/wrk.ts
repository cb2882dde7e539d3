/** One run of the load generator `wrk` (Debian package wrk) with a script of `bench/load`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCore, runPinned } from './pinned.ts'
import type { Usage } from './server.ts'

export interface LoadOptions {
  readonly url: string
  readonly script: 'get.lua' | 'post.lua' | 'spread.lua'
  readonly connections: number
  readonly seconds: number
  readonly env: Readonly<Record<string, string>>
  /** The server, to report what it used. */
  readonly usage?: Usage | undefined
}

/** The results of one run. */
export interface LoadFigures {
  readonly requestsPerSecond: number
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
  readonly cpuMicrosecondsPerRequest?: number
  readonly memoryMiB?: number
}

/** The last line of a load generator's output. */
export interface LoadReport {
  readonly requests: number
  readonly seconds: number
  readonly bytes: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
}

const loadFolder = join(import.meta.dirname, '../load')

export function runLoad(options: LoadOptions): Promise<LoadFigures> {
  const { connections, seconds, script, url, env, usage } = options
  const limits = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  return loadFigures(usage, () =>
    runPinned(loadCore, 'wrk', [...limits, '-s', join(loadFolder, script), url], {
      ...env,
      LOAD_DIR: loadFolder,
    }),
  )
}

/** Runs a program that prints a load report, and reports what a server used meanwhile. */
export async function loadFigures(
  usage: Usage | undefined,
  run: () => Promise<string>,
): Promise<LoadFigures> {
  const beforeS = usage?.cpuS() ?? 0
  const output = await run()
  const seen: LoadReport = JSON.parse(output.trim().split('\n').at(-1) ?? '')
  const usedS = (usage?.cpuS() ?? 0) - beforeS
  return {
    requestsPerSecond: seen.requests / seen.seconds,
    megabytesPerSecond: seen.bytes / seen.seconds / 1e6,
    p50Ms: seen.p50Ms,
    p99Ms: seen.p99Ms,
    errors: seen.errors,
    ...(usage === undefined || seen.requests === 0
      ? {}
      : { cpuMicrosecondsPerRequest: (usedS / seen.requests) * 1e6, memoryMiB: usage.memoryMiB() }),
  }
}

/** Writes a list for a load script to a file and returns its path. */
export function listFile(folder: string, name: string, lines: readonly string[]): string {
  const file = join(folder, name)
  writeFileSync(file, lines.join('\n') + '\n')
  return file
}
