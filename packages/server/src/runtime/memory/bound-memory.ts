/** Keeps the resident memory of a service near what its settings allow. */
import { relieveMemory } from './relieve-memory.ts'
import type { NodeCounts } from '../../http/bytes-in-flight.ts'
import { limitMemory } from './crowded-memory.ts'
import { defaultLimits } from '../../http/limits.ts'
import type { ServiceParts } from '../../serve/prepare-service.ts'
import { defaultPages } from '../../serve/reading-parts.ts'

/** One for the process, until it is closed. */
export function boundMemory(
  { pages = defaultPages, limits }: Pick<ServiceParts, 'limits' | 'pages'>,
  counts: NodeCounts,
): { close(): Promise<void> } {
  const allowed = {
    pageMemoryBytes: pages === 'off' ? 0 : pages.memoryBytes,
    inFlightBytes: limits?.inFlightBytes ?? defaultLimits.inFlightBytes,
  }
  const stops = [limitMemory(allowed, counts), relieveMemory(() => counts.memoryLimitBytes)]
  return {
    async close() {
      for (const stop of stops) stop()
    },
  }
}
