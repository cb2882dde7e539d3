/** How often keys may make requests, how many may wait, and how often a network may guess keys (D10). */
import type { NodeState } from '../keys/announce-node.ts'
import { requestBuckets as capacity } from './bucket-memory.ts'
import type { NodeCounts } from './bytes-in-flight.ts'
import type { HttpContext } from './context.ts'
import { keyLimits } from './key-limits.ts'
import type { ServiceLimits } from './limits.ts'
import type { ServiceParts } from './prepare-service.ts'
import { createTokenBuckets, steadyClock } from './token-bucket.ts'
import { createWaitingReaders } from './waiting-readers.ts'

export function rateParts(
  { clock = steadyClock }: Pick<ServiceParts, 'clock'>,
  limits: ServiceLimits,
  node: NodeState,
  counts: NodeCounts,
): Pick<HttpContext, 'keyLimits' | 'failureBuckets' | 'waiting'> {
  const requestBuckets = createTokenBuckets({
    limits: limits.requests,
    clock,
    capacity,
    nodes: () => node.nodes,
  })
  return {
    keyLimits: keyLimits(limits, requestBuckets),
    waiting: createWaitingReaders(limits, requestBuckets, counts),
    failureBuckets: createTokenBuckets({ limits: limits.failures, clock }),
  }
}
