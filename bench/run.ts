/**
 * Measures this service and its peers on this machine: `npm run bench -- --events 100000 --jobs read,publish`.
 * Linux with two cores or more, `wrk` and, for the limit, nginx (`apt-get install wrk nginx-light`). Raw results are
 * written to `bench/results`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchPublishing } from './jobs/publish.ts'
import { benchReading } from './jobs/read.ts'
import type { BenchOptions } from './jobs/context.ts'
import type { CaseResult } from './support/figures.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    'average-bytes': { type: 'string', default: '3600' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
    jobs: { type: 'string', default: 'read,publish' },
  },
})

const results: CaseResult[] = []
const folder = mkdtempSync(join(tmpdir(), 'property-events-bench-'))
const options: BenchOptions = {
  events: Number(values.events),
  averageBytes: Number(values['average-bytes']),
  runs: Number(values.runs),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
  folder,
  report(result) {
    results.push(result)
    const { job, subject, what, requestsPerSecond, megabytesPerSecond, p50Ms, p99Ms, spread } = result
    const cpu = result.cpuMicrosecondsPerRequest
    const line = [
      job.padEnd(9),
      subject.padEnd(16),
      what.padEnd(32),
      `${requestsPerSecond}/s`.padStart(10),
      `${megabytesPerSecond} MB/s`.padStart(12),
      `p50 ${p50Ms} ms`.padStart(14),
      `p99 ${p99Ms} ms`.padStart(14),
      cpu === undefined ? '' : `${cpu} us cpu`,
      result.memoryMiB === undefined ? '' : `${result.memoryMiB} MiB`,
      `±${Math.round(spread * 100)} %`,
    ]
    process.stdout.write(`${line.join('  ')}\n`)
  },
}

const jobs: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  read: benchReading,
  publish: benchPublishing,
}
try {
  for (const name of values.jobs.split(',')) {
    const job = jobs[name]
    if (job === undefined) throw new Error(`unknown job ${name}; there are ${Object.keys(jobs).join(', ')}`)
    await job(options)
    save(name)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function save(job: string): void {
  const target = join(import.meta.dirname, 'results')
  mkdirSync(target, { recursive: true })
  const machine = { cpu: cpus()[0]?.model ?? '', cores: cpus().length, node: process.version }
  const { events, averageBytes, runs, seconds, connections } = options
  const settings = { events, averageBytes, runs, seconds, connections }
  const text = JSON.stringify(
    { takenAt: new Date().toISOString(), machine, settings, results: results.splice(0) },
    undefined,
    1,
  )
  writeFileSync(join(target, `${job}-${events}.json`), `${text}\n`)
}
