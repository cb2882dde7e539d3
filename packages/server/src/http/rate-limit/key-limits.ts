/** How many requests a key may make, per second and at once, and the keys of a tenant together (D10). */
import type { KeyLimit, Spending } from './rate-limit-headers.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Answer, Refused } from '../exchange.ts'
import type { Exchange } from '../routed.ts'
import { refused } from '../exchange.ts'
import type { ServiceLimits } from '../limits.ts'
import { retryAfter } from './rate-limit-headers.ts'
import type { Bucket, BucketLimits, TokenBuckets } from './token-bucket.ts'

/** A key, and its own rate if it has one. */
interface LimitedKey {
  readonly keyId: string
  readonly rate: BucketLimits | undefined
}

export interface KeyLimits {
  /** Counts a request of a key and takes its token, or refuses it. Writes what is announced into the exchange. */
  admit(exchange: Exchange, key: LimitedKey): Refused | undefined
  /**
   * The same for the tenant whose feed the request is about. The tenant's token is taken as soon as the request waits, or when it is
   * settled.
   */
  admitTenant(exchange: Exchange, tenantId: string): Refused | undefined
  /** The request waits for something. It counts as under way until it is settled, or its stream has ended. */
  enter(exchange: Exchange): void
  /**
   * Counts a snapshot of a key, of any feed. Returns a function that ends the count and may be called twice;
   * `undefined` if the key already reads as many as it may.
   */
  enterSnapshot(keyId: string): (() => void) | undefined
  /** Counts a search on this node; returns as above. `undefined` if one is running already. */
  enterSearch(): (() => void) | undefined
  /** The answer is ready: returns the token if the answer is free, otherwise takes the tenant's. */
  settle(exchange: Exchange): void
}

/** Keys in use at the same time; some 300 bytes each. */
const cacheLimit = 20_000

/** By default, all keys of a tenant together may make as many requests as this many keys at their full rate. */
const keysPerTenant = 5

/** The default is in proportion to the limit of one key. */
function tenantLimits({
  requests,
  tenantRequests,
}: Pick<ServiceLimits, 'requests' | 'tenantRequests'>): BucketLimits {
  return (
    tenantRequests ?? {
      perSecond: keysPerTenant * requests.perSecond,
      burst: keysPerTenant * requests.burst,
    }
  )
}

/** The limits of keys that were used recently, so that their names are hashed once. */
function keyLimitCache(limits: Pick<ServiceLimits, 'requests' | 'tenantRequests'>, buckets: TokenBuckets) {
  const ofTenants = tenantLimits(limits)
  const cache = new BoundedMap<string, KeyLimit>(cacheLimit)

  function limitOf({ keyId, rate }: LimitedKey): KeyLimit {
    const wanted = rate ?? limits.requests
    const known = cache.get(keyId)
    const hasOwnRate = rate !== undefined
    if (known?.hasOwnRate === hasOwnRate && isSame(known.own.limits, wanted)) return known
    const limit = { own: buckets.of(keyId, wanted), hasOwnRate, tenant: undefined }
    cache.set(keyId, limit)
    return limit
  }

  function tenantBucket(limit: KeyLimit, tenantId: string): Bucket {
    if (limit.tenant?.tenantId === tenantId) return limit.tenant.bucket
    const wanted = limit.hasOwnRate ? larger(ofTenants, limit.own.limits) : ofTenants
    const bucket = buckets.of(tenantId, wanted)
    limit.tenant = { tenantId, bucket }
    return bucket
  }

  return { limitOf, tenantBucket }
}

export function keyLimits(
  limits: Pick<ServiceLimits, 'requests' | 'tenantRequests' | 'requestsAtOncePerKey' | 'snapshotsPerKey'>,
  buckets: TokenBuckets,
): KeyLimits {
  const mostAtOnce = limits.requestsAtOncePerKey
  const { limitOf, tenantBucket } = keyLimitCache(limits, buckets)

  return {
    admit(exchange, key) {
      const limit = limitOf(key)
      const { own } = limit
      if (own.underWay >= mostAtOnce) return tooManyAtOnce(mostAtOnce)
      const tokens = own.take()
      exchange.spending = {
        limit,
        tenant: undefined,
        tenantLeft: 0,
        tokens,
        tokensOf: 'key',
        hasTenantPaid: false,
        isUnderWay: false,
      }
      return tokens.allowed ? undefined : refused({ code: 'rate_limited', headers: retryAfter(tokens) })
    },
    admitTenant({ spending }, tenantId) {
      if (spending === undefined) return undefined
      const { limit, tokens } = spending
      const tenant = tenantBucket(limit, tenantId)
      spending.tenant = tenant
      spending.tenantLeft = tenant.remaining(tokens.nowUs)
      if (spending.tenantLeft > 0) return undefined
      // If its tenant is refused, the key does not pay for the request.
      limit.own.refund(tokens)
      announceTenant(spending, tenant)
      return refused({
        code: 'rate_limited',
        detail: usedUpByTenant,
        headers: retryAfter(spending.tokens),
      })
    },
    enter({ spending }) {
      if (spending === undefined) return
      spending.limit.own.enter()
      spending.isUnderWay = true
      spending.tenant?.charge()
      spending.hasTenantPaid = true
    },
    enterSnapshot: (keyId) => enterOnce(buckets.of(`snapshots of ${keyId}`), limits.snapshotsPerKey),
    enterSearch: () => enterOnce(buckets.of('searches'), 1),
    settle(exchange) {
      const { spending } = exchange
      if (spending === undefined) return
      leaveWithAnswer(exchange, spending)
      if (spending.tokens.allowed) payFor(spending, isFree(exchange.answer))
    },
  }
}

function enterOnce(bucket: Bucket, most: number): (() => void) | undefined {
  if (bucket.underWay >= most) return undefined
  bucket.enter()
  let isIn = true
  return () => {
    if (isIn) bucket.leave()
    isIn = false
  }
}

const usedUpByTenant =
  'Together, the keys of this tenant have used up their requests for now. Wait for the time in Retry-After.'

/** No clock can tell when a request will have been answered. */
const soon = { nextTokenMs: 1_000 }

function tooManyAtOnce(most: number): Refused {
  const detail = `This key has ${most} requests in progress, as many as it may have at the same time. Send the next one when one of them has been answered.`
  return refused({ code: 'too_many_at_once', detail, headers: retryAfter(soon) })
}

/** A stream is under way until it has ended, any other request until its answer is ready. */
function leaveWithAnswer(exchange: Exchange, { limit: { own }, isUnderWay }: Spending): void {
  const { answer } = exchange
  if (answer.kind !== 'stream' && answer.kind !== 'live') {
    if (isUnderWay) own.leave()
    return
  }
  if (!isUnderWay) own.enter()
  const release = (): void => {
    own.leave()
    answer.release()
  }
  exchange.answer = { ...answer, release }
}

/** A 304 is free, and so is a wait without a result: asking whether there is something new should be cheap. */
function isFree(answer: Answer): boolean {
  return answer.kind === 'notModified' || ('isFree' in answer && answer.isFree)
}

function payFor(spending: Spending, isGivenBack: boolean): void {
  const { limit, tenant, tokens, hasTenantPaid } = spending
  if (isGivenBack) spending.tokens = limit.own.refund(tokens)
  if (tenant === undefined) return
  if (isGivenBack && hasTenantPaid) tenant.refund(tokens)
  if (!isGivenBack && !hasTenantPaid) tenant.charge(tokens.nowUs)
  // A poll that was answered at once left the bucket unchanged.
  const left = isGivenBack && !hasTenantPaid ? spending.tenantLeft : tenant.remaining(tokens.nowUs)
  if (left < spending.tokens.remaining) announceTenant(spending, tenant)
}

/** The limit that runs out first is announced. */
function announceTenant(spending: Spending, tenant: Bucket): void {
  spending.tokens = tenant.peek(spending.tokens.nowUs)
  spending.tokensOf = 'tenant'
}

function isSame(one: BucketLimits, other: BucketLimits): boolean {
  return one === other || (one.perSecond === other.perSecond && one.burst === other.burst)
}

/** If a key's own rate is higher than its tenant's, only the key's own limits it. */
function larger(one: BucketLimits, other: BucketLimits): BucketLimits {
  if (one.perSecond >= other.perSecond && one.burst >= other.burst) return one
  return { perSecond: Math.max(one.perSecond, other.perSecond), burst: Math.max(one.burst, other.burst) }
}
