/** Token buckets by name, in memory, per node (D10). */

export interface BucketLimits {
  readonly perSecond: number
  readonly burst: number
}

export interface BucketState {
  /** A token was there, and was taken if that was asked for. */
  readonly allowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** Until the next token; 0 when there is one. */
  readonly nextTokenMs: number
  /** Until the bucket is full again. */
  readonly fullMs: number
}

export interface TokenBuckets {
  /** Takes a token if there is one. */
  take(name: string): BucketState
  /** Looks without taking. */
  peek(name: string): BucketState
  /** Takes a token even when there is none: the debt is paid back before anything is allowed again. */
  charge(name: string): void
  /** Gives a taken token back. */
  refund(name: string): void
  /** Buckets that are held. */
  readonly size: number
}

interface Bucket {
  tokens: number
  filledMs: number
}

/** 120 bytes each: a few megabytes at most, whatever strangers send. */
const maxBuckets = 20_000
const evictionCandidates = 16

/**
 * A full bucket says nothing and is forgotten. When there is no room, the fullest of the 16 that were untouched for
 * longest goes: who sprays new names loses those, not the limits of somebody who has used his up.
 */
export function createTokenBuckets(
  limits: BucketLimits,
  clock: () => number,
  capacity: number = maxBuckets,
): TokenBuckets {
  const buckets = new Map<string, Bucket>()
  const { perSecond, burst } = limits

  function refill(bucket: Bucket, nowMs: number): void {
    // A clock that steps back gives nothing and takes nothing.
    const elapsedMs = Math.max(0, nowMs - bucket.filledMs)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1_000)
    bucket.filledMs = nowMs
  }

  function find(name: string): Bucket {
    const nowMs = clock()
    const known = buckets.get(name)
    if (known !== undefined) {
      refill(known, nowMs)
      // Put back at the end: the map's order is the order of use.
      buckets.delete(name)
      buckets.set(name, known)
      return known
    }
    if (buckets.size >= capacity) evict(nowMs)
    const bucket = { tokens: burst, filledMs: nowMs }
    buckets.set(name, bucket)
    return bucket
  }

  function evict(nowMs: number): void {
    let fullest: { readonly name: string; readonly tokens: number } | undefined
    let seen = 0
    for (const [name, bucket] of buckets) {
      refill(bucket, nowMs)
      if (fullest === undefined || bucket.tokens > fullest.tokens) fullest = { name, tokens: bucket.tokens }
      seen += 1
      if (seen >= evictionCandidates) break
    }
    if (fullest !== undefined) buckets.delete(fullest.name)
  }

  function stateOf(bucket: Bucket, allowed: boolean): BucketState {
    return {
      allowed,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      nextTokenMs: Math.max(0, ((1 - bucket.tokens) * 1_000) / perSecond),
      fullMs: ((burst - bucket.tokens) * 1_000) / perSecond,
    }
  }

  return {
    take(name) {
      const bucket = find(name)
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      return stateOf(bucket, allowed)
    },
    peek(name) {
      const bucket = buckets.get(name)
      if (bucket === undefined) return { allowed: true, remaining: burst, nextTokenMs: 0, fullMs: 0 }
      refill(bucket, clock())
      return stateOf(bucket, bucket.tokens >= 1)
    },
    charge(name) {
      const bucket = find(name)
      bucket.tokens = Math.max(-burst, bucket.tokens - 1)
    },
    refund(name) {
      const bucket = buckets.get(name)
      if (bucket !== undefined) bucket.tokens = Math.min(burst, bucket.tokens + 1)
    },
    get size() {
      return buckets.size
    },
  }
}
