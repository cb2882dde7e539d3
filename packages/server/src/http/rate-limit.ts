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
    ratelimit: `"key";r=${state.remaining};t=${Math.ceil(state.fullMs / 1_000)}`,
  }
}

/** Whole seconds until a request is allowed again, at least 1. */
export function retryAfter(state: BucketState): Readonly<Record<string, string>> {
  return { 'retry-after': String(Math.max(1, Math.ceil(state.nextTokenMs / 1_000))) }
}
