/** A measured HTTP server: its address, and what its processes use. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { stop, usageOf } from './pinned.ts'

/** What the processes use: seconds of processor time since their start, and MiB of memory now. */
export interface Usage {
  cpuS(): number
  memoryMiB(): number
}

export interface RunningServer extends AsyncDisposable, Usage {
  readonly url: string
}

/** For a process with its children and theirs. Memory that several of them map counts once. */
export function usageOfTrees(roots: () => readonly number[]): Usage {
  const pids = (): readonly number[] => roots().flatMap(withChildren)
  return {
    cpuS: () => sum(pids(), (pid) => usageOf(pid).cpuS),
    memoryMiB() {
      const all = pids()
      const [only] = all
      return all.length === 1 && only !== undefined ? usageOf(only).memoryMiB : sum(all, shareOfMemoryMiB)
    },
  }
}

/** Waits until `url` answers anything at all. */
export async function untilAnswers(url: string, child: ChildProcess): Promise<void> {
  let errors = ''
  child.stderr?.on('data', (chunk) => (errors += String(chunk)))
  child.stdout?.resume()
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return
    if (child.exitCode !== null) break
    await delay(50)
  }
  await stop(child)
  throw new Error(
    `${child.spawnargs.slice(2).join(' ').slice(0, 200)} did not start: ${errors.slice(0, 500)}`,
  )
}

/** Waits until the processes have nothing to do: at most one tick of their clock in a tenth of a second. */
export async function untilQuiet(usage: Usage): Promise<void> {
  for (let waits = 0; waits < 100; waits += 1) {
    const beforeS = usage.cpuS()
    await delay(100)
    if (usage.cpuS() - beforeS < 0.015) return
  }
}

/** The first line a process prints. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let errors = ''
  child.stderr?.on('data', (chunk) => (errors = (errors + String(chunk)).slice(-2_000)))
  if (child.stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error(`a process ended before it was ready: ${errors}`)
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function withChildren(pid: number): readonly number[] {
  const text = readOr(`/proc/${pid}/task/${pid}/children`, '').trim()
  return [pid, ...(text === '' ? [] : text.split(' ').map(Number)).flatMap(withChildren)]
}

function shareOfMemoryMiB(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readOr(`/proc/${pid}/smaps_rollup`, 'Pss: 0'))?.[1] ?? 0) / 1024
}

/** A process may have ended since it was listed. */
function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => {
    try {
      return total + of(pid)
    } catch {
      return total
    }
  }, 0)
}
