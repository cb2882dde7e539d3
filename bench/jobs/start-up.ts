/** J6: from starting the program to the first page, with a full store; the page cache warm, and dropped. */
import { writeFileSync } from 'node:fs'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { pageTarget } from '../support/reading-set.ts'
import { getOk } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import { filledStore, keysOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

export async function benchStartUp(options: BenchOptions): Promise<void> {
  const { folder, events, tenantIds } = await filledStore(options.events, options.averageBytes)
  const [key = ''] = await keysOf({ kind: 'sqlite', folder }, folder, tenantIds)
  const of = (what: string, prepare: () => void): Case => ({
    subject: 'property-events',
    what,
    warmRuns: 0,
    async run() {
      prepare()
      const beganMs = performance.now()
      await using service = await startService(folder)
      const target = pageTarget(Math.max(1, Math.floor(events / 200)), 100)
      const bytes = await getOk(`${service.url}${target}`, { 'x-api-key': key })
      const tookMs = performance.now() - beganMs
      const { memoryMiB, cpuS } = {
        memoryMiB: service.memoryMiB(),
        cpuS: service.cpuS(),
      }
      return {
        requestsPerSecond: 1e3 / tookMs,
        megabytesPerSecond: bytes.length / tookMs / 1e3,
        p50Ms: tookMs,
        p99Ms: tookMs,
        errors: 0,
        memoryMiB,
        cpuMicrosecondsPerRequest: cpuS * 1e6,
      }
    },
  })
  await measure(options, 'J6', [
    of(`first page of ${events} events, page cache warm`, () => undefined),
    ...(process.getuid?.() === 0
      ? [of(`first page of ${events} events, page cache dropped`, dropPageCache)]
      : []),
  ])
  if (process.getuid?.() !== 0) options.skip('start with the page cache dropped', 'only root may drop it')
}

function dropPageCache(): void {
  writeFileSync('/proc/sys/vm/drop_caches', '3')
}
