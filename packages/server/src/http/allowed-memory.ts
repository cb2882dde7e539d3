/** What a service may have in memory, for `relieveMemory`. */
import type { Allowed } from '../relieve-memory.ts'
import { defaultLimits } from './limits.ts'
import type { ServiceParts } from './prepare-service.ts'
import { defaultPages } from './reading-parts.ts'

/** `threads`: how many serve. */
export function allowedMemory(
  { pages = defaultPages, limits }: Pick<ServiceParts, 'limits' | 'pages'>,
  threads: number,
): Allowed {
  return {
    pageMemoryBytes: pages === 'off' ? 0 : pages.memoryBytes,
    inFlightBytes: limits?.inFlightBytes ?? defaultLimits.inFlightBytes,
    threads,
  }
}
