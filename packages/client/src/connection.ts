/** The address of a service and the patience of a client: options, checked once. */
import { InvalidOptionError } from './errors.ts'
import { createTransportState } from './live/transports.ts'
import type { TransportState } from './live/transports.ts'
import { retryLimitsOf, sleep } from './http/retry.ts'
import type { RetryLimits, RetryOptions, Sleep } from './http/retry.ts'
import { noAcknowledgements } from './sync/acknowledgement-state.ts'
import type { AcknowledgementState } from './sync/acknowledgement-state.ts'
import type { FeedName } from './wire.ts'

export interface ClientOptions {
  /** Address of the service, with its path prefix if it has one: `https://feed.example.com`. */
  readonly baseUrl: string | URL
  /** Sent as `x-api-key` with every request, and nowhere else: redirects are not followed. */
  readonly key: string
  /** The tenant's id, for a key that covers several: sent as `x-tenant` with every request. */
  readonly tenant?: string
  /**
   * The name of this consumer, for a key that is used for several, such as `website`: sent as `x-feed-consumer`. 1 to 64 letters, digits,
   * `.`, `_` and `-`.
   */
  readonly consumer?: string
  /** Which feed the client reads and publishes to; `property` by default. */
  readonly feed?: FeedName
  readonly retry?: RetryOptions
  /** An attempt ends if nothing arrives for this long, neither headers nor a piece of the body. 30 s by default. */
  readonly attemptTimeoutMs?: number
  /**
   * A call ends after this time, retries and waits included, even in the middle of an answer. 5 minutes by default. A sync has no
   * deadline as a whole, but each of its pages has: on a slow line, ask for smaller pages with `pageSize`.
   */
  readonly deadlineMs?: number
  /** For tests and special transports. */
  readonly fetch?: typeof globalThis.fetch
  readonly sleep?: Sleep
  /** From 0 to less than 1, like `Math.random`. */
  readonly random?: () => number
  /** Like `Date.now`. */
  readonly now?: () => number
}

/** Options of a single call. */
export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface Connection {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly key: string
  readonly tenant: string | undefined
  readonly consumer: string | undefined
  readonly feed: FeedName
  readonly retry: RetryLimits
  readonly attemptTimeoutMs: number
  readonly deadlineMs: number
  readonly fetch: typeof globalThis.fetch
  readonly sleep: Sleep
  readonly random: () => number
  readonly now: () => number
  /** What the client has learnt about the transports of events. */
  readonly transports: TransportState
  /** What syncs have acknowledged. */
  readonly acknowledgements: AcknowledgementState
}

/** Throws `InvalidOptionError` with a sentence that says what is allowed. */
export function connectionOf<F extends FeedName = 'property'>(
  options: ClientOptions & { readonly feed?: F },
): Connection & { readonly feed: F }
export function connectionOf(options: ClientOptions): Connection {
  const connection = uncheckedConnection(options)
  checkDuration('attemptTimeoutMs', connection.attemptTimeoutMs)
  checkDuration('deadlineMs', connection.deadlineMs)
  return {
    ...connection,
    baseUrl: readBaseUrl(options.baseUrl),
    key: readKey(options.key),
    tenant: readTenant(options.tenant),
    consumer: readConsumer(options.consumer),
  }
}

/** For our own pages, whose options need no check: `baseUrl` has no slash at its end. */
export function uncheckedConnection(options: ClientOptions): Connection {
  const { attemptTimeoutMs = 30_000, deadlineMs = 300_000, now = Date.now } = options
  return {
    baseUrl: String(options.baseUrl),
    key: options.key,
    tenant: options.tenant,
    consumer: options.consumer,
    feed: options.feed ?? 'property',
    retry: retryLimitsOf(options.retry),
    attemptTimeoutMs,
    deadlineMs,
    // Called as a plain function: browsers refuse a fetch that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
    now,
    transports: createTransportState(now),
    acknowledgements: noAcknowledgements(),
  }
}

function readBaseUrl(value: string | URL): string {
  let url: URL
  try {
    url = new URL(value)
  } catch (cause) {
    throw new InvalidOptionError(
      `baseUrl must be an absolute address such as https://feed.example.com, not "${withoutPassword(String(value))}".`,
      { cause },
    )
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InvalidOptionError(
      `baseUrl must begin with https:// or http://, not "${withoutPassword(String(value))}".`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InvalidOptionError('baseUrl must not contain a user name, a password, a query or a fragment.')
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** A password in an address is not repeated: messages are logged. */
function withoutPassword(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1…@')
}

function readKey(key: string): string {
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,1000}$/.test(key)) {
    throw new InvalidOptionError('key must be the API key as it was given to you: no spaces, no line breaks.')
  }
  return key
}

function readTenant(tenant: string | undefined): string | undefined {
  if (tenant === undefined || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(tenant)) return tenant
  throw new InvalidOptionError('tenant must be the id of a tenant: a UUID, as in the tenantId of an event.')
}

function readConsumer(consumer: string | undefined): string | undefined {
  if (consumer === undefined || /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(consumer)) return consumer
  throw new InvalidOptionError(
    'consumer must have 1 to 64 letters, digits, ".", "_" and "-", and begin with a letter or digit.',
  )
}

function checkDuration(name: string, ms: number): void {
  // A timer can wait 2^31 - 1 ms at most; with more it fires at once.
  if (!(ms > 0 && ms < 2 ** 31)) throw new InvalidOptionError(`${name} must be from 1 to 2147483647.`)
}
