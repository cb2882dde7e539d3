/** How often keys may make requests, how many may wait, and how often a network may guess keys (D10). */
import type { NodeState } from '../nodes/announce-node.ts'
import { requestBuckets as capacity } from '../keys/rate-limit/bucket-memory.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import type { HttpContext } from '../http/context.ts'
import { keyLimits } from '../keys/rate-limit/key-limits.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { ServiceParts } from './prepare-service.ts'
import { createTokenBuckets, steadyClock } from '../keys/rate-limit/token-bucket.ts'
import { createWaitingReaders } from '../live/waiting-readers.ts'

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
