/**
 * Measures this service, the limit and its peers on this machine: `npm run bench -- --events 1000000 --jobs pages,idle`.
 * Linux with two cores or more; `bench/README.md` names the packages. Raw results are written to `bench/results`, or
 * where `--results` says.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchCatchUp } from './jobs/catch-up.ts'
import type { BenchOptions } from './jobs/context.ts'
import { benchDepth } from './jobs/depth.ts'
import { benchDepthOnPostgres } from './jobs/depth-postgres.ts'
import { benchEvents } from './jobs/events.ts'
import { benchFairness } from './jobs/fairness.ts'
import { benchFresh } from './jobs/fresh.ts'
import { benchIdle } from './jobs/idle.ts'
import { benchMemory } from './jobs/memory.ts'
import { benchPages } from './jobs/pages.ts'
import { benchPagesBesidePeers } from './jobs/pages-beside-peers.ts'
import { benchPagesOnPostgres } from './jobs/pages-postgres.ts'
import { benchPublishAndRead, benchPublishAndReadOnPostgres } from './jobs/publish-and-read.ts'
import { benchPublishingOnPostgres } from './jobs/publish-postgres.ts'
import { benchPublishing } from './jobs/publish.ts'
import { benchReadingOnPostgres } from './jobs/reading-postgres.ts'
import { soak } from './jobs/soak.ts'
import { benchStartUp } from './jobs/start-up.ts'
import { benchTenants } from './jobs/tenants.ts'
import { benchTransports } from './jobs/transports.ts'
import { createRecorder } from './support/recorder.ts'
import { benchWebhooks } from './webhooks.ts'

const jobs: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  pages: benchPages,
  'pages-beside-peers': benchPagesBesidePeers,
  'pages-postgres': benchPagesOnPostgres,
  depth: benchDepth,
  'depth-postgres': benchDepthOnPostgres,
  events: benchEvents,
  'catch-up': benchCatchUp,
  'reading-postgres': benchReadingOnPostgres,
  publish: benchPublishing,
  'publish-postgres': benchPublishingOnPostgres,
  'publish-and-read': benchPublishAndRead,
  'publish-and-read-postgres': benchPublishAndReadOnPostgres,
  fresh: benchFresh,
  fairness: benchFairness,
  idle: benchIdle,
  memory: benchMemory,
  transports: benchTransports,
  // After the others, because it empties the page cache.
  'start-up': benchStartUp,
  tenants: benchTenants,
  soak,
  webhooks: (options) => benchWebhooks(options),
}
/** Minutes of the same work: only when named. */
const namedOnly: ReadonlySet<string> = new Set(['soak', 'tenants', 'webhooks'])

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    'average-bytes': { type: 'string', default: '3600' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    minutes: { type: 'string', default: '10' },
    jobs: {
      type: 'string',
      default: Object.keys(jobs)
        .filter((name) => !namedOnly.has(name))
        .join(','),
    },
    results: { type: 'string', default: join(import.meta.dirname, 'results') },
  },
})

if (spawnSync('wrk', ['--version']).error !== undefined || spawnSync('taskset', ['--version']).status !== 0) {
  throw new Error('the bench needs wrk and taskset (Debian: apt-get install wrk util-linux)')
}
const settings = {
  events: Number(values.events),
  averageBytes: Number(values['average-bytes']),
  runs: Number(values.runs),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
}
const recorder = createRecorder(settings)
const folder = mkdtempSync(join(tmpdir(), 'property-events-bench-'))
try {
  for (const name of values.jobs.split(',')) {
    const job = jobs[name]
    if (job === undefined) throw new Error(`unknown job ${name}; there are ${Object.keys(jobs).join(', ')}`)
    process.stdout.write(`\n${name}\n`)
    await job({ ...settings, minutes: Number(values.minutes), folder, ...recorder })
    recorder.save(name, values.results)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
