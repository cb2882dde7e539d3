/** Everything a caller could exhaust has a limit here, with its reason. */
import type { BucketLimits } from './rate-limit/token-bucket.ts'

/** What one publication may have in it. */
export interface PublicationLimits {
  readonly maxPayloadBytes: number
  readonly maxPayloadDepth: number
  readonly maxEvents: number
}

/** Limits of PROTOCOL §4: 1,000 events, 256 KiB a payload, 32 levels. */
export const defaultPublicationLimits: PublicationLimits = {
  maxEvents: 1_000,
  maxPayloadBytes: 256 * 1_024,
  maxPayloadDepth: 32,
}

export interface ServiceLimits {
  /** D2: 1,000, configurable. */
  readonly maxPageSize: number
  readonly defaultPageSize: number
  readonly maxBodyBytes: number
  readonly publication: PublicationLimits
  /** Requests of one key, over all nodes (D10). A key with its own rate uses that instead. */
  readonly requests: BucketLimits
  /** Requests of a tenant's keys together, over all nodes. `undefined`: five times `requests`. */
  readonly tenantRequests: BucketLimits | undefined
  /** Requests of one key that wait for something at the same time, on one node: each may hold a body, and a place in a queue. */
  readonly requestsAtOncePerKey: number
  /** Failed authentications of one address (D10). */
  readonly failures: BucketLimits
  /** Bytes of bodies and of answers that have not been taken yet (bytes-in-flight.ts). */
  readonly inFlightBytes: number
  readonly inFlightBytesPerKey: number
  readonly inFlightBytesOfStrangers: number
  /** Connections of a node; fewer if the system allows fewer open files. */
  readonly maxConnections: number
  /** Snapshots that one key may read at the same time, on one node. */
  readonly snapshotsPerKey: number
  /** Requests of one key that wait for events at the same time, long-polls and streams together, on one node. */
  readonly waitingPerKey: number
  /** The same of all keys: at 64 KiB each, half of `inFlightBytes`. */
  readonly waitingPerNode: number
  /** The longest that a long-poll waits, however long it asks for. */
  readonly longestWaitMs: number
  /** A stream ends after this time, 10 % more or less, and its reader begins the next one, so that balancers can spread readers again. */
  readonly streamMs: number
  /** A stream sends a mark at least this often: proxies close a connection that is silent for a minute. */
  readonly markEveryMs: number
  /** Path and query. This is far longer than any request of ours, and shorter than the 16 kB at which Node cuts off. */
  readonly maxTargetLength: number
  /**
   * The path alone, after the base path: three times the longest of ours in percent-encoding. Looking up 8,000 characters takes 40 µs and
   * more.
   */
  readonly maxPathLength: number
  readonly maxHeaderBytes: number
  readonly maxHeaders: number
  readonly maxParameters: number
  /** The time for the whole request, body included: 16 MiB needs 9 Mbit/s. */
  readonly requestTimeoutMs: number
  readonly headersTimeoutMs: number
  /** Longer than the 60 s for which load balancers keep a connection, so that none sends a request over one that is being closed. */
  readonly keepAliveTimeoutMs: number
  /**
   * A reader for whom bytes of an answer wait, and who takes none of them for this long, has stopped reading: the service does not wait for it.
   * Looked at 15 times in this period (stalled-readers.ts), for streams as for pages.
   */
  readonly idleSocketTimeoutMs: number
  /** A connection is renewed now and then, so that load balancers can spread clients again. */
  readonly maxRequestsPerSocket: number
  /** How often slow requests are looked for: Node's 30 s would turn a limit of 10 s into one of 40 s. */
  readonly timeoutCheckMs: number
  /** How long a graceful stop waits for requests in flight. */
  readonly closeTimeoutMs: number
  /**
   * How long a read waits for the number in `x-feed-min-sequence`. Another node's commit is visible within milliseconds; after five
   * seconds something is wrong, and the client may ask elsewhere. The documents say 5 s: only tests use another value.
   */
  readonly minSequenceWaitMs: number
  /** For how many days it is kept when consumers were first sent something, and what they reported of properties (PROTOCOL §14). */
  readonly resultDays: number
}

/** What operations need that check what they are asked for. */
export interface LimitsContext {
  readonly limits: ServiceLimits
}

export const defaultLimits: ServiceLimits = {
  maxPageSize: 1_000,
  defaultPageSize: 100,
  maxBodyBytes: 16 * 2 ** 20,
  publication: defaultPublicationLimits,
  requests: { perSecond: 50, burst: 500 },
  tenantRequests: undefined,
  requestsAtOncePerKey: 200,
  failures: { perSecond: 1, burst: 50 },
  inFlightBytes: 256 * 2 ** 20,
  inFlightBytesPerKey: 64 * 2 ** 20,
  inFlightBytesOfStrangers: 8 * 2 ** 20,
  maxConnections: 20_000,
  snapshotsPerKey: 3,
  waitingPerKey: 20,
  waitingPerNode: 2_000,
  longestWaitMs: 30_000,
  streamMs: 15 * 60_000,
  markEveryMs: 15_000,
  maxTargetLength: 8_000,
  maxPathLength: 1_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxParameters: 100,
  requestTimeoutMs: 15_000,
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  idleSocketTimeoutMs: 30_000,
  maxRequestsPerSocket: 1_000,
  timeoutCheckMs: 1_000,
  closeTimeoutMs: 10_000,
  minSequenceWaitMs: 5_000,
  resultDays: 730,
}
