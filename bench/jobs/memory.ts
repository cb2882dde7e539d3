/** Memory: at rest, and under random pages, single events and polls, with the default settings. */
import { setTimeout as delay } from 'node:timers/promises'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { byIdPath, checkAnswers, pageTarget, readingSet } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { filledStore } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

const us = 'property-events'
/** The service's own default, set here so that the measurement keeps it. */
const pageMemoryMiB = 64
export const memorySettings = ['--page-memory-bytes', String(pageMemoryMiB * 2 ** 20)]
export const limitMiB = 150 + pageMemoryMiB

export async function benchMemory(options: BenchOptions): Promise<void> {
  const small = await filledStore(Math.min(10_000, options.events), options.averageBytes)
  {
    await using idle = await startService(small.folder, { args: memorySettings })
    await measure({ ...options, runs: 1 }, 'memory', [restOf(idle, 'at rest, 10,000 events')])
  }
  const set = await readingSet(options.events, options.averageBytes)
  await using service = await startService(set.folder, { args: memorySettings })
  const atRest = restOf(service, 'at rest')
  await measure({ ...options, runs: 1 }, 'memory', [atRest])
  await checkAnswers(service, set)
  const targets = Array.from({ length: set.pages }, (_, index) => pageTarget(index + 1, 100))
  const of = (what: string, targets: readonly string[], gzip = false): Case =>
    getCase(options, { subject: us, what, server: service, key: set.key, targets, gzip })
  const busy = [
    of('under pages of 100', targets),
    of('under pages of 100, gzip', targets, true),
    of(
      'under single events',
      set.ids.map((id) => `${byIdPath}/${id}`),
    ),
  ]
  await measure(options, 'memory', busy)
  for (const { what } of [atRest, ...busy]) {
    options.aim({
      job: 'memory',
      text: `${what}: of 150 MiB and ${pageMemoryMiB} MiB of pages`,
      figure: 'memoryMiB',
      ours: {
        subject: us,
        what,
      },
      theirs: limitMiB,
      wanted: { atMost: 1 },
    })
  }
}

/** A service that nobody asks anything. */
function restOf(service: RunningServer, what: string): Case {
  return {
    subject: us,
    what,
    warmRuns: 0,
    async run(seconds) {
      await delay(seconds * 1e3)
      const memoryMiB = service.memoryMiB()
      return { requestsPerSecond: 0, megabytesPerSecond: 0, p50Ms: 0, p99Ms: 0, errors: 0, memoryMiB }
    },
  }
}
