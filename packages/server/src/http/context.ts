import type { EventTypeCatalogue } from '@property-events/protocol'
import type { Logger } from 'pino'
import type { CurrentPages } from '../reading/current/current-pages.ts'
import type { ErasureRecipients } from '../privacy/erasure/erasure-recipients.ts'
import type { DisclosurePage, DisclosurePageQuery } from '../privacy/disclosure/disclosure-page.ts'
import type { EventPositionCache } from '../reading/event-position-cache.ts'
import type { PageRangeCache } from '../reading/page-range-cache.ts'
import type { LiveTail } from '../live/tail.ts'
import type { ChangedFeeds } from '../live/changed-feeds.ts'
import type { FaultCache } from '../consumers/fault-cache.ts'
import type { LastPublished } from '../publishing/last-published.ts'
import type { RepresentationOf } from '../reading/representation/representation.ts'
import type { ConsumersQuery } from '../consumers/consumers-of-feed.ts'
import type { ListedConsumer } from '../consumers/list-consumers.ts'
import type { ReadCounts } from '../consumers/read-counts.ts'
import type { Seen, SeenQuery } from '../consumers/who-has-seen.ts'
import type { DisclosureLog } from '../privacy/disclosure/disclosure-log.ts'
import type { PublishHistory } from '../publishing/history/publish-history.ts'
import type { UsageCounts } from '../usage/usage-counter.ts'
import type { MaintenanceWatch } from '../maintenance/watch.ts'
import type { Publisher } from '../publishing/publish.ts'
import type { PageReader } from '../reading/page-cache/index.ts'
import type { KeyIssuer, KeyVerifier } from '../keys/index.ts'
import type { NodeState } from '../nodes/announce-node.ts'
import type { FailureObserver, RequestObserver } from './observer.ts'
import type { RequestLines } from '../runtime/log/request-lines.ts'
import type { AuditStore } from '../audit/audit.ts'
import type { DeletionStore } from '../tenants/deletion/deletion.ts'
import type { ConsumerStore } from '../consumers/consumer.ts'
import type { Erasure, ErasureStore } from '../privacy/erasure/erasure.ts'
import type { EventStore } from '../events/event-log.ts'
import type { ExpiryStore } from '../privacy/contact-expiry/contact-expiry.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { HoldStore } from '../privacy/hold/hold.ts'
import type { KeyStore } from '../keys/key.ts'
import type { RestrictionStore } from '../privacy/restriction/restriction.ts'
import type { LeavingStore } from '../tenants/leaving/leaving.ts'
import type { NameStore } from '../audit/names/names.ts'
import type { PublicationStore } from '../publishing/history/publication.ts'
import type { SilenceStore } from '../consumers/silence/silence.ts'
import type { TenantStore } from '../tenants/tenant.ts'
import type { UsageStore } from '../usage/usage.ts'
import type { BytesInFlight } from './bytes-in-flight.ts'
import type { ConsoleDoor } from '../console/door.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { KeyRecheck } from '../keys/key-recheck.ts'
import type { KeyLimits } from '../keys/rate-limit/key-limits.ts'
import type { Finding, ShownSetting } from '../nodes/recent-findings.ts'
import type { ReadsInProgress } from '../reading/reads-in-progress.ts'
import type { ServiceLimits } from './limits.ts'
import type { TokenBuckets } from '../keys/rate-limit/token-bucket.ts'
import type { WaitingReaders } from '../live/waiting-readers.ts'

/** What every part of the HTTP side is given. Nothing here is global: two services in one process share nothing. */
export interface HttpContext {
  readonly events: EventStore
  readonly erasures: ErasureStore
  readonly holds: HoldStore
  readonly keys: KeyStore
  readonly tenants: TenantStore
  readonly leaving: LeavingStore
  readonly deletions: DeletionStore
  readonly audit: AuditStore
  readonly names: NameStore
  readonly consumers: ConsumerStore
  readonly silence: SilenceStore
  readonly keyIssuer: KeyIssuer
  /** When backups of the store were begun, milliseconds since 1970, the newest first. Only recent backups on record are included. */
  readonly backups: () => Promise<readonly number[]>
  /** The service's settings, and where each was set. */
  readonly shownSettings: readonly ShownSetting[]
  /** What was found out about this node and its store, at most a few seconds ago. */
  readonly findings: () => Promise<readonly Finding[]>
  /** Whether this node exports what a tenant owns before the tenant is deleted. */
  readonly exportsTenants: boolean
  /** Who had been sent what the erasure erased; `undefined` if its feed keeps no record of that. */
  readonly recipientsOf: (erasure: Erasure) => Promise<ErasureRecipients | undefined>
  readonly restrictions: RestrictionStore
  readonly expiry: ExpiryStore
  /** The number of days without a change after which a tenant's contacts are erased; 0: never. */
  readonly expiryDays: (tenantId: string) => Promise<number>
  /** Which contacts a key was sent; `undefined` if the key has nothing to do with the tenant. */
  readonly disclosuresOf: (query: DisclosurePageQuery) => Promise<DisclosurePage | undefined>
  /** Who has seen the latest event of a property; `undefined` if the feed has no event of it. */
  readonly whoHasSeen: (query: SeenQuery) => Promise<Seen | undefined>
  /** The consumers of a feed; `undefined` if there is no such feed. */
  readonly listConsumers: (query: ConsumersQuery) => Promise<readonly ListedConsumer[] | undefined>
  /** `branches`: as in `EventStore.readLatest`. */
  readonly hasSubject: (
    key: FeedKey,
    subjectId: string,
    branches: readonly string[] | undefined,
  ) => Promise<boolean>
  readonly maintenance: MaintenanceWatch
  readonly ranges: PageRangeCache
  readonly positions: EventPositionCache
  readonly moved: ChangedFeeds
  readonly pages: PageReader
  readonly currentPages: CurrentPages
  /** The types of events, and their numbers in the store. */
  readonly catalogue: EventTypeCatalogue
  /** `undefined`: the console is off. */
  readonly door: ConsoleDoor | undefined
  /** How a key sees events. */
  readonly formOf: RepresentationOf
  readonly lastPublished: LastPublished
  /** What needs somebody, over all tenants. */
  readonly faults: FaultCache
  readonly publisher: Publisher
  readonly ledger: DisclosureLog
  readonly usageCounts: UsageCounts
  readonly usage: UsageStore
  readonly publishHistory: PublishHistory
  readonly publications: PublicationStore
  /** What consumers have been sent. */
  readonly readCounts: ReadCounts
  readonly tail: LiveTail
  readonly waiting: WaitingReaders
  readonly reads: ReadsInProgress
  readonly verifier: KeyVerifier
  /** Checks the keys of waiting requests. */
  readonly looks: KeyRecheck
  /** Whether test keys work (PROTOCOL §2.8). */
  readonly testKeys: boolean
  readonly limits: ServiceLimits
  readonly inFlight: BytesInFlight
  readonly log: Logger
  readonly metrics: RequestObserver
  /** Where failures are reported: not directly to the log, which would grow by megabytes. */
  readonly outages: FailureObserver
  readonly requestLines: RequestLines
  /** Which web pages of other origins may read answers. */
  readonly crossOrigin: CrossOrigin
  /** Path prefix of every route, such as `/feed`; empty for none (D21). */
  readonly basePath: string
  /** The number of our own proxies in front of the service, whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: number
  /** What this node knows about itself and other nodes. */
  readonly node: NodeState
  readonly keyLimits: KeyLimits
  /** Buckets by the caller's network (D10). */
  readonly failureBuckets: TokenBuckets
  /** True once the service is stopping: connections then close with their next answer. */
  readonly stopping: () => boolean
}
