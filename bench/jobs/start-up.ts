/** J6: from starting the program to the first page, with a full store; the page cache warm, and dropped. */
import { writeFileSync } from 'node:fs'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { pageTarget } from '../support/reading-set.ts'
import { getOk } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { RunningService } from '../support/service.ts'
import { filledStore, keysOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

export async function benchStartUp(options: BenchOptions): Promise<void> {
  const { folder, events, tenantIds } = await filledStore(options.events, options.averageBytes)
  const [key = ''] = await keysOf({ kind: 'sqlite', folder }, folder, tenantIds)
  const of = (what: string, prepare: () => void): Case =>
    startCase({ subject: 'property-events', what, events, key, prepare, start: () => startService(folder) })
  await measure(options, 'J6', [
    of(`first page of ${events} events, page cache warm`, () => undefined),
    ...(process.getuid?.() === 0
      ? [of(`first page of ${events} events, page cache dropped`, dropPageCache)]
      : []),
  ])
  if (process.getuid?.() !== 0) options.skip('start with the page cache dropped', 'only root may drop it')
}

export interface StartCase {
  readonly subject: string
  readonly what: string
  readonly events: number
  readonly key: string
  readonly prepare?: () => void
  readonly start: () => Promise<RunningService>
}

/** Each run starts the program, asks for a page from the middle of the store, and stops it. */
export function startCase({ subject, what, events, key, prepare, start }: StartCase): Case {
  return {
    subject,
    what,
    warmRuns: 0,
    async run() {
      prepare?.()
      const beganMs = performance.now()
      await using service = await start()
      const target = pageTarget(Math.max(1, Math.floor(events / 200)), 100)
      const bytes = await getOk(`${service.url}${target}`, { 'x-api-key': key })
      const tookMs = performance.now() - beganMs
      return {
        requestsPerSecond: 1e3 / tookMs,
        megabytesPerSecond: bytes.length / tookMs / 1e3,
        p50Ms: tookMs,
        p99Ms: tookMs,
        errors: 0,
        memoryMiB: service.memoryMiB(),
        cpuMicrosecondsPerRequest: service.cpuS() * 1e6,
      }
    },
  }
}

function dropPageCache(): void {
  writeFileSync('/proc/sys/vm/drop_caches', '3')
}
