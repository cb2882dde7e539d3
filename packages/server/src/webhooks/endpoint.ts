/** Endpoints: addresses to which the events of a tenant are posted, and the port's part for them (PROTOCOL §16). */
import type { ContactLimits, FeedName, ViewName } from '@property-events/protocol'
import type { Actor } from '../audit/actor.ts'
import type { ProgressChange } from './plan.ts'
import type { DeliveryMode, ViewEvent, WaitingSubject } from './waiting-rows.ts'

export const endpointsPerTenant = 50
/** Those that sign at once, while they are replaced: with one more, the oldest ends. */
export const secretsPerEndpoint = 5
/** The log of an endpoint. */
export const deliveriesKept = 10_000
export const deliveriesKeptMs = 7 * 86_400_000
export const noticesKeptMs = 30 * 86_400_000

/** The name of an endpoint among the consumers of its key (PROTOCOL §14.4). */
export function consumerOfEndpoint(endpointId: string): string {
  return `webhook-${endpointId.slice(0, 8)}`
}

/** `thin`: without the payload, but with the subject. Contacts are always thin. */
export type PayloadForm = 'full' | 'thin'
export type MessageFormat = 'event' | 'cloudevents'

/** What its owner chooses; all of it can be changed but `events` and `feed`. */
export interface EndpointSettings {
  readonly url: string
  readonly label: string
  /** `operations`: what happens to the tenant's other endpoints of this feed, in place of its events. */
  readonly events: 'feed' | 'operations'
  readonly feed: FeedName
  readonly view: ViewName
  readonly payload: PayloadForm
  /** Adds what has changed since the version that was acknowledged last. */
  readonly changes: boolean
  readonly mode: DeliveryMode
  readonly format: MessageFormat
  /** Requests under way at once: 1 to 16. */
  readonly concurrency: number
  /** `undefined`: no limit. */
  readonly maxPerSecond: number | undefined
  /** 1 to 30. */
  readonly timeoutSeconds: number
}

/** What its key could read when the endpoint was made. It never reads more, and is disabled when the key may no longer read that much. */
export interface EndpointRights {
  /** Left out: all branches, all of contacts. */
  readonly branches?: readonly string[]
  readonly contact?: ContactLimits
}

/** `copied`: the store or the tenant is a copy, whose receivers are real. `operator`: only an operator lifts it. */
export type PauseReason = 'asked' | 'copied' | 'operator'
/** What a copy of a store does with the endpoints that it has (D13). */
export type CopiedWebhooks = 'paused' | 'continue'

/** `gone`: answered with 410. `failing`: for 5 days. */
export type DisableReason = 'key_revoked' | 'failing' | 'gone'

export type EndpointState =
  | { readonly kind: 'enabled' }
  | { readonly kind: 'paused'; readonly reason: PauseReason; readonly sinceMs: number }
  | { readonly kind: 'disabled'; readonly reason: DisableReason; readonly sinceMs: number }

/** A secret as stored (`sealSecret`). */
export interface SealedSecret {
  readonly secretId: string
  readonly sealed: Uint8Array
  readonly pepperId: string
  readonly createdMs: number
  /** It signs until then; `undefined`: until it is replaced. */
  readonly endsMs: number | undefined
}

export interface NewEndpoint {
  /** Lower-case UUID. */
  readonly endpointId: string
  readonly tenantId: string
  /** Whose rights it has. A rotation of the key moves it to the successor, in the same commit. */
  readonly keyId: string
  readonly rights: EndpointRights
  readonly settings: EndpointSettings
  readonly createdMs: number
  readonly secret: SealedSecret
  /** Where it starts: `settled`, and the epoch that it knows. */
  readonly after: number
  readonly epoch: string
}

export interface EndpointRecord extends Omit<NewEndpoint, 'secret' | 'after' | 'epoch'> {
  readonly state: EndpointState
  /** The newest first. Empty: it came with a copy, and a new one is made when it is enabled. */
  readonly secrets: readonly SealedSecret[]
  readonly progress: EndpointStanding
}

/** How far it is, as last written. */
export interface EndpointStanding {
  /** Nothing up to this number is left, but for what waits. */
  readonly settled: number
  /** Of which it was told last. */
  readonly epoch: string
  readonly failingSinceMs: number | undefined
  /** Properties that wait, and events that were given up. */
  readonly waiting: number
  readonly givenUp: number
  readonly acknowledged: { readonly sequenceNumber: number; readonly atMs: number } | undefined
}

/** Members that are left out stay as they are. */
export interface EndpointChange {
  readonly settings?: Partial<Omit<EndpointSettings, 'events' | 'feed'>>
  readonly state?: EndpointState
  /** Replaces the present ones: they sign until `presentEndMs`. */
  readonly secret?: { readonly added: SealedSecret; readonly presentEndMs: number }
  /** `epoch`: of which it counts as told; `undefined`: as before. */
  readonly cursor?: { readonly after: number; readonly epoch: string | undefined }
  /** Whose rights it has from now on: only where its own key has ended. */
  readonly keyId?: string
}

/** An endpoint that is to be told of the present epoch again counts as told of this one, which no feed has. */
export const noEpoch = '0'

/** `changed` and `unknown`; every change takes the lease away, so that whoever sends begins anew with what is stored. */
export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly endpoint: EndpointRecord }
  | { readonly kind: 'unknown' }

export type DeliveryOutcome = 'acknowledged' | 'refused' | 'unreachable' | 'postponed' | 'givenUp'

/** One try, as the log has it for 7 days, at most 10,000 of an endpoint. */
export interface Delivery {
  readonly endpointId: string
  readonly atMs: number
  readonly messageId: string
  /** `undefined`: not an event of the feed, such as `feed.epochChanged`. */
  readonly event: ViewEvent | undefined
  readonly outcome: DeliveryOutcome
  /** From the answer; `undefined`: there was none. */
  readonly status: number | undefined
  readonly tookMs: number
  /** The beginning of the answer, 1 KiB at most, or why there was none; `undefined`: not kept. */
  readonly answer: string | undefined
}

export interface StoredDelivery extends Delivery {
  /** Ascending with time. */
  readonly deliveryNo: number
}

export interface DeliveriesQuery {
  readonly endpointId: string
  readonly outcome?: DeliveryOutcome | undefined
  readonly subjectId?: string | undefined
  /** Only smaller `deliveryNo`; `undefined`: from the newest. */
  readonly before: number | undefined
  readonly limit: number
}

export interface EndpointsQuery {
  readonly tenantId: string
  readonly feed?: FeedName
  /** After this id; `undefined`: from the first. */
  readonly after: string | undefined
  readonly limit: number
}

/** What happened to an endpoint, for the endpoints of its tenant and feed with `events: operations`. */
export type NoticeKind = 'webhook.failing' | 'webhook.disabled' | 'webhook.recovered'

export interface Notice {
  /** Ascending within a store. */
  readonly noticeNo: number
  readonly kind: NoticeKind
  readonly endpointId: string
  readonly atMs: number
  readonly reason: string | undefined
}

/** `waiting`: the property waits already. `notGivenUp`: no such event was given up. */
export type ResendOutcome =
  | { readonly kind: 'resent'; readonly properties: number }
  | { readonly kind: 'unknown' | 'waiting' }

/** A lease of one endpoint, with everything that sending needs. */
export interface Lease {
  readonly leaseNo: number
  /** How often progress of the endpoint has been written, by whomever. */
  readonly writes: number
  readonly endpoint: EndpointRecord
  readonly waiting: readonly WaitingSubject[]
}

/** What a renewal finds. */
export interface Renewal {
  /** The leases that the node still has, by endpoint. */
  readonly held: readonly { readonly endpointId: string; readonly leaseNo: number }[]
  /** Enabled endpoints of the store, and the nodes that send; both 0 while there is nothing to send. */
  readonly enabled: number
  readonly senders: number
}

/**
 * Progress of one endpoint, written only while its lease has this number and everything that was written before is still there (W5): a
 * database that crashes or is replaced by its standby may have lost some of it.
 */
export interface ProgressWrite {
  readonly endpointId: string
  readonly leaseNo: number
  /** With how many writes before it. */
  readonly writes: number
  readonly epoch: string
  readonly change: ProgressChange | undefined
  readonly acknowledged: { readonly sequenceNumber: number; readonly atMs: number } | undefined
  readonly deliveries: readonly Delivery[]
  /** The version that each property was acknowledged with; only for endpoints with `changes`. */
  readonly versions: readonly ViewEvent[]
  /** Disables the endpoint, with a notice. */
  readonly disable: DisableReason | undefined
  /** Tells the endpoints for operations. */
  readonly notice: NoticeKind | undefined
}

/** An endpoint of another store, with what waits there and what was given up. */
export interface CopiedEndpoint {
  readonly endpoint: EndpointRecord
  readonly waiting: readonly WaitingSubject[]
  readonly givenUp: readonly GivenUpEvent[]
}

export interface GivenUpEvent extends ViewEvent {
  readonly atMs: number
}

/** With the endpoint it is sealed for. */
export interface OwnedSecret extends SealedSecret {
  readonly endpointId: string
}

export interface WebhookStore {
  /** `limit`: the tenant has `endpointsPerTenant`. */
  create(endpoint: NewEndpoint, actor: Actor): Promise<'created' | 'limit' | 'unknownTenant'>
  find(endpointId: string): Promise<EndpointRecord | undefined>
  /** Ascending by id. */
  list(query: EndpointsQuery): Promise<readonly EndpointRecord[]>
  change(endpointId: string, change: EndpointChange, actor: Actor): Promise<ChangeOutcome>
  /** With its secrets, what waits, and its log. */
  remove(endpointId: string, actor: Actor): Promise<'removed' | 'unknown'>
  /** What waits, ascending by number; with `subjectId`, of one property. */
  waiting(endpointId: string, limit: number, subjectId?: string): Promise<readonly WaitingSubject[]>
  /** What was given up after a number, ascending; with `subjectId`, of one property. */
  givenUp(
    endpointId: string,
    after: number,
    limit: number,
    subjectId?: string,
  ): Promise<readonly GivenUpEvent[]>
  /** Lets events wait again from the first try: one, or the first of each property that was given up. */
  resend(endpointId: string, events: ViewEvent | 'givenUp', actor: Actor): Promise<ResendOutcome>
  /** The newest first. */
  deliveries(query: DeliveriesQuery): Promise<readonly StoredDelivery[]>
  /** The version with which a property was acknowledged last. */
  version(endpointId: string, subjectId: string): Promise<number | undefined>
  notices(query: {
    readonly tenantId: string
    readonly feed: FeedName
    readonly after: number
    readonly limit: number
  }): Promise<readonly Notice[]>
  /**
   * Takes an endpoint of another store: paused (`copied`, or `operator` as it was there), and without secrets, versions and log. One that
   * is here already is replaced while it is paused as a copy, and otherwise stays.
   */
  take(copied: CopiedEndpoint, actor: Actor): Promise<void>
  /**
   * Renews all leases of the node for `leaseMs`, in one statement, and announces that it sends. Writes nothing while no endpoint is
   * enabled.
   */
  renew(nodeId: string, leaseMs: number): Promise<Renewal>
  /** Takes leases of enabled endpoints that nobody has. */
  claim(nodeId: string, atMost: number, leaseMs: number): Promise<readonly Lease[]>
  /** Gives leases back: the named ones, or all, with the announcement. */
  release(nodeId: string, endpointIds?: readonly string[]): Promise<void>
  /**
   * One commit. An erasure takes the answers of its subject that are stored when it ends, so a node saves those that it keeps before it
   * says that it has forgotten what it read (D17). Returns the endpoints whose lease is another's by now, or of which a write is
   * missing: nothing of them was written, and their senders begin anew with what is stored.
   */
  save(progress: readonly ProgressWrite[]): Promise<readonly string[]>
  /** Removes a few hundred log rows that are too old or too many, and old notices. Returns how many. */
  prune(): Promise<number>
  /** Those of all endpoints after this `secretId`, in the order of these. */
  secrets(after: string, limit: number): Promise<readonly OwnedSecret[]>
  reseal(
    secretId: string,
    from: string,
    to: { readonly sealed: Uint8Array; readonly pepperId: string },
  ): Promise<void>
}
