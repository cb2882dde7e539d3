/** How long `demo` takes to start and what it holds, beside a build before the console. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rounded } from '../support/figures.ts'
import { serverCore, spawnPinned, stop, usageOf } from '../support/pinned.ts'
import { firstLine, untilQuiet } from '../support/server.ts'
import type { Start } from './results.ts'

const ours = join(import.meta.dirname, '../..')

type Build = Start['build']

/** In turn, so that a machine that drifts drifts for both. `before`: a checkout with its packages; `undefined`: only this build. */
export async function measureStarts(before: string | undefined, runs: number): Promise<readonly Start[]> {
  const builds: readonly (readonly [Build, string])[] = [
    ...(before === undefined ? [] : [['before', before] as const]),
    ['now', ours],
  ]
  const starts = builds.flatMap(([build]) => [emptyStart(build, 'first'), emptyStart(build, 'next')])
  // The first run loads the files of both builds from the disk.
  for (let run = 0; run <= runs; run += 1) {
    for (const [build, checkout] of run % 2 === 0 ? builds : builds.toReversed()) {
      const folder = mkdtempSync(join(tmpdir(), 'property-events-demo-'))
      for (const start of ['first', 'next'] as const) {
        const { readyMs, memoryMiB } = await startDemo(checkout, folder)
        const kept = starts.find((one) => one.build === build && one.start === start)
        if (run === 0 || kept === undefined) continue
        kept.readyMs.push(rounded(readyMs))
        kept.memoryMiB.push(rounded(memoryMiB))
      }
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return starts
}

interface MeasuredStart extends Start {
  readonly readyMs: number[]
  readonly memoryMiB: number[]
}

function emptyStart(build: Build, start: Start['start']): MeasuredStart {
  return { build, start, readyMs: [], memoryMiB: [] }
}

async function startDemo(
  checkout: string,
  folder: string,
): Promise<{ readonly readyMs: number; readonly memoryMiB: number }> {
  const program = join(checkout, 'packages/cli/bin/property-events.mjs')
  const startedMs = performance.now()
  const args = ['demo', '--json', '--data', folder, '--port', '0', '--metrics-port', '0']
  const child = spawnPinned(serverCore, process.execPath, [program, ...args])
  try {
    await firstLine(child)
    const readyMs = performance.now() - startedMs
    const { pid = 0 } = child
    const usage = { cpuS: () => usageOf(pid).cpuS, memoryMiB: () => usageOf(pid).memoryMiB }
    await untilQuiet(usage)
    return { readyMs, memoryMiB: usage.memoryMiB() }
  } finally {
    await stop(child)
  }
}
