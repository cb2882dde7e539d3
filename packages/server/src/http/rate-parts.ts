/** How often keys may make requests, how many may wait, and how often a network may guess keys (D10). */
import type { NodeWords } from '../keys/node-words.ts'
import { requestMemory } from './bucket-words.ts'
import type { HttpContext } from './context.ts'
import { keyLimits } from './key-limits.ts'
import type { ServiceLimits } from './limits.ts'
import type { ServiceParts } from './prepare-service.ts'
import { createTokenBuckets, steadyClock } from './token-bucket.ts'
import { createWaitingReaders } from './waiting-readers.ts'

/** With `shared` memory, all threads of the node count together. */
export function rateParts(
  { shared, counts, clock = steadyClock }: ServiceParts,
  limits: ServiceLimits,
  node: NodeWords,
): Pick<HttpContext, 'keyLimits' | 'failureBuckets' | 'waiting'> {
  const requestBuckets = createTokenBuckets({
    limits: limits.requests,
    clock,
    memory: shared?.requests ?? requestMemory(),
    nodes: () => node.nodes,
  })
  return {
    keyLimits: keyLimits(limits, requestBuckets),
    waiting: createWaitingReaders(limits, requestBuckets, counts),
    failureBuckets: createTokenBuckets({ limits: limits.failures, clock, memory: shared?.failures }),
  }
}
