/** How the limits of D10 are announced: `RateLimit` and `RateLimit-Policy`, structured fields of the IETF draft. */
import type { Bucket, BucketLimits, BucketState } from './token-bucket.ts'

/** The buckets that requests of one key take tokens from. */
export interface KeyLimit {
  readonly own: Bucket
  /** The key has a rate of its own. */
  readonly hasOwnRate: boolean
  /** The bucket of the tenant that the key was last used for. */
  tenant: { readonly tenantId: string; readonly bucket: Bucket } | undefined
}

/** What a request takes from the limits. */
export interface Spending {
  readonly limit: KeyLimit
  /** The bucket of all keys of the request's tenant. */
  tenant: Bucket | undefined
  /** What that bucket had left when the request came. */
  tenantLeft: number
  /** The state of the limit that has less left, which is announced. */
  tokens: BucketState
  tokensOf: 'key' | 'tenant'
  /** A token was taken from the tenant's bucket. */
  hasTenantPaid: boolean
  /** The request counts among those that its key has under way. */
  isUnderWay: boolean
}

/** What an answer announces about limits. */
interface Announced {
  /** The limits of the key, over all nodes. */
  readonly key: BucketLimits
  /** The limits of the tenant's keys together, over all nodes; `undefined`: the request is not about one tenant. */
  readonly tenant: BucketLimits | undefined
  /** Which of the two has less left. */
  readonly tokensOf: 'key' | 'tenant'
  readonly tokens: BucketState
}

/**
 * `RateLimit-Policy: "key";q=500;w=10`: 500 requests, refilled over 10 seconds. `RateLimit: "key";r=499;t=1`: 499 are left on this node,
 * and its share is full again in a second.
 */
export function rateLimitHeaders({
  key,
  tenant,
  tokensOf,
  tokens,
}: Announced): Readonly<Record<string, string>> {
  return {
    'ratelimit-policy':
      policyOf('key', key) + (tenant === undefined ? '' : `, ${policyOf('tenant', tenant)}`),
    ratelimit: `"${tokensOf}";r=${tokens.remaining};t=${secondsUntil(tokens)}`,
  }
}

function policyOf(name: string, { burst, perSecond }: BucketLimits): string {
  return `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`
}

/** The seconds until the bucket is full again; if it is empty, until the next request is available. */
function secondsUntil({ remaining, nextTokenMs, fullMs }: BucketState): number {
  return Math.ceil((remaining === 0 ? nextTokenMs : fullMs) / 1_000)
}

/** Clients that are refused together must not come back together. */
const mostSpread = 0.2

/** Whole seconds until a request is allowed again, at least 1: never too few, and up to a fifth more than needed. */
export function retryAfter({
  nextTokenMs,
}: Pick<BucketState, 'nextTokenMs'>): Readonly<Record<string, string>> {
  const spreadMs = nextTokenMs * (1 + mostSpread * Math.random())
  return { 'retry-after': String(Math.max(1, Math.ceil(spreadMs / 1_000))) }
}
