/** How the limits of D10 are announced: `RateLimit` and `RateLimit-Policy`, structured fields of the IETF draft. */
import type { BucketLimits, BucketState } from './token-bucket.ts'

/**
 * `RateLimit-Policy: "key";q=500;w=10`: 500 requests, refilled over 10 seconds. `RateLimit: "key";r=499;t=1`: 499 are
 * left, and all are there again in a second.
 */
export function rateLimitHeaders(limits: BucketLimits, state: BucketState): Readonly<Record<string, string>> {
  const windowSeconds = Math.max(1, Math.ceil(limits.burst / limits.perSecond))
  return {
    'ratelimit-policy': `"key";q=${limits.burst};w=${windowSeconds}`,
    ratelimit: `"key";r=${state.remaining};t=${secondsUntil(state)}`,
  }
}

/** Until all requests are there again; where none is left, until the next one is. */
function secondsUntil({ remaining, nextTokenMs, fullMs }: BucketState): number {
  return Math.ceil((remaining === 0 ? nextTokenMs : fullMs) / 1_000)
}

/** Clients that are refused together must not come back together. */
const mostSpread = 0.2

/** Whole seconds until a request is allowed again, at least 1: never too few, and up to a fifth more than needed. */
export function retryAfter({ nextTokenMs }: BucketState): Readonly<Record<string, string>> {
  const spreadMs = nextTokenMs * (1 + mostSpread * Math.random())
  return { 'retry-after': String(Math.max(1, Math.ceil(spreadMs / 1_000))) }
}
