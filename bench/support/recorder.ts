/** Takes the reports of jobs, prints them, and writes each job's raw results when the job ends. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import type { BenchOptions } from '../jobs/context.ts'
import type { CaseResult } from './figures.ts'
import { targetResult } from './targets.ts'
import type { TargetResult } from './targets.ts'

export interface RunSettings {
  readonly events: number
  readonly averageBytes: number
  readonly runs: number
  readonly seconds: number
  readonly connections: number
}

/** One job of one run, in the form of `bench/results`. */
export interface JobResults {
  readonly name: string
  readonly takenAt: string
  /** The commit of the sources. */
  readonly commit: string
  readonly machine: {
    readonly cpu: string
    readonly cores: number
    readonly memoryGiB: number
    readonly node: string
    readonly kernel: string
  }
  readonly settings: RunSettings
  readonly results: readonly CaseResult[]
  readonly targets: readonly TargetResult[]
  readonly skipped: readonly { readonly peer: string; readonly reason: string }[]
}

export interface Recorder extends Pick<BenchOptions, 'report' | 'aim' | 'skip'> {
  /** Ends a job: its results go to a file, and the next job starts with none. */
  save(name: string, folder: string): void
}

export function createRecorder(settings: RunSettings): Recorder {
  let results: CaseResult[] = []
  let targets: TargetResult[] = []
  let skipped: { peer: string; reason: string }[] = []
  return {
    report(result) {
      results.push(result)
      process.stdout.write(`${lineOf(result)}\n`)
    },
    aim(target) {
      const result = targetResult(target, results)
      if (result === undefined) return
      targets.push(result)
      process.stdout.write(`${targetLine(result)}\n`)
    },
    skip(peer, reason) {
      skipped.push({ peer, reason })
      process.stdout.write(`  left out: ${peer}: ${reason}\n`)
    },
    save(name, folder) {
      mkdirSync(folder, { recursive: true })
      const job: JobResults = {
        name,
        takenAt: new Date().toISOString(),
        commit: commitOf(folder),
        machine: machine(),
        settings,
        results,
        targets,
        skipped,
      }
      writeFileSync(join(folder, `${name}-${settings.events}.json`), `${JSON.stringify(job, undefined, 1)}\n`)
      results = []
      targets = []
      skipped = []
    },
  }
}

function lineOf(result: CaseResult): string {
  const { job, subject, what, requestsPerSecond, megabytesPerSecond, eventsPerSecond, p50Ms, p99Ms } = result
  return [
    job.padEnd(4),
    subject.padEnd(22),
    what.padEnd(44),
    `${requestsPerSecond}/s`.padStart(10),
    eventsPerSecond === undefined
      ? `${megabytesPerSecond} MB/s`.padStart(14)
      : `${eventsPerSecond} ev/s`.padStart(14),
    `p50 ${p50Ms}`.padStart(11),
    `p99 ${p99Ms} ms`.padStart(14),
    result.cpuMicrosecondsPerRequest === undefined ? '' : `${result.cpuMicrosecondsPerRequest} us cpu`,
    result.memoryMiB === undefined ? '' : `${result.memoryMiB} MiB`,
    `±${Math.round(result.spread * 100)} %`,
  ].join('  ')
}

function targetLine({ text, ratio, wanted, reached }: TargetResult): string {
  const limit = 'atLeast' in wanted ? `at least ${wanted.atLeast}` : `at most ${wanted.atMost}`
  return `     ${reached ? 'reached' : 'MISSED '}  ${text}: ${ratio} (wanted: ${limit})`
}

/** Describes this machine: another one has other figures. */
export function machine(): JobResults['machine'] {
  return {
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim().split('-')[0] ?? '',
  }
}

/** Empty outside a checkout. */
function commitOf(folder: string): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}
