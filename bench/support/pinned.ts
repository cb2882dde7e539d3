/** Processes with their own core: the server on core 0, the load on core 1 (Linux, `taskset`). */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'

export const serverCore = 0
export const loadCore = 1

export function spawnPinned(
  core: number | string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  return spawn('taskset', ['-c', String(core), command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`, ...env },
  })
}

/** Runs to the end and returns the output. */
export async function runPinned(
  core: number,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawnPinned(core, command, args, env)
  let output = ''
  let errors = ''
  child.stdout?.on('data', (chunk) => (output += String(chunk)))
  child.stderr?.on('data', (chunk) => (errors += String(chunk)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}: ${errors.slice(0, 500)}`)
  return output
}

/** Stops a process and waits for its end. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Processor time used so far, in seconds, and resident memory, in MiB, of a process and its threads. */
export function usageOf(pid: number): { readonly cpuS: number; readonly memoryMiB: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // After the name: field 12 is utime, 13 stime, in hundredths of a second.
  const cpuS = (Number(fields[11]) + Number(fields[12])) / 100
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { cpuS, memoryMiB: Number(resident) / 1024 }
}
