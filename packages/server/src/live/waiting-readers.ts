/** Counts the requests that wait for events at the same time: for each key, and for a node. */
import type { WaitingKind } from '../http/observer.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'
import { nodeCounts } from '../http/bytes-in-flight.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { Bucket, TokenBuckets } from '../http/rate-limit/token-bucket.ts'

/** As many as can wait: the name of each is hashed once. */
const cacheLimit = 2_000

export interface WaitingReaders {
  /**
   * Counts a waiting request, and returns a function that ends the count and may be called twice; `undefined` if the limit is reached.
   */
  enter(keyId: string, kind: WaitingKind): (() => void) | undefined
  state(): Readonly<Record<WaitingKind, number>>
}

export function createWaitingReaders(
  limits: Pick<ServiceLimits, 'waitingPerKey' | 'waitingPerNode'>,
  buckets: TokenBuckets,
  counts: NodeCounts = nodeCounts(),
): WaitingReaders {
  const ofKeys = new BoundedMap<string, Bucket>(cacheLimit)
  const bucketOf = (keyId: string): Bucket => {
    const known = ofKeys.get(keyId)
    if (known !== undefined) return known
    const bucket = buckets.of(`waiting of ${keyId}`)
    ofKeys.set(keyId, bucket)
    return bucket
  }
  const own = { long_poll: 0, heads: 0, stream: 0 }
  return {
    enter(keyId, kind) {
      const ofKey = bucketOf(keyId)
      if (ofKey.underWay >= limits.waitingPerKey) return undefined
      if (counts.waiting >= limits.waitingPerNode) return undefined
      ofKey.enter()
      counts.waiting += 1
      own[kind] += 1
      let isIn = true
      return () => {
        if (!isIn) return
        isIn = false
        ofKey.leave()
        counts.waiting -= 1
        own[kind] -= 1
      }
    },
    state: () => ({ ...own }),
  }
}
