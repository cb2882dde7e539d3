import type { EventTypeCatalogue } from '@property-events/protocol'
import type { Logger } from 'pino'
import type { CurrentPages } from '../feed/current-pages.ts'
import type { ErasureRecipients } from '../feed/erasure-recipients.ts'
import type { ExposurePage, ExposurePageQuery } from '../feed/exposure-page.ts'
import type { KnownPositions } from '../feed/known-positions.ts'
import type { KnownRanges } from '../feed/known-ranges.ts'
import type { LiveTail } from '../feed/live-tail.ts'
import type { MovedFeeds } from '../feed/moved-feeds.ts'
import type { LastPublished } from '../feed/last-published.ts'
import type { FormOf } from '../feed/reader-form.ts'
import type { ConsumersQuery } from '../feed/consumers-of.ts'
import type { ListedConsumer } from '../feed/list-consumers.ts'
import type { Readings } from '../feed/readings.ts'
import type { Seen, SeenQuery } from '../feed/who-has-seen.ts'
import type { SentLedger } from '../feed/sent-ledger.ts'
import type { PublicationNotes } from '../feed/publication-notes.ts'
import type { UsageCounts } from '../feed/usage-counts.ts'
import type { MaintenanceWatch } from '../feed/maintenance.ts'
import type { Publisher } from '../feed/publish.ts'
import type { PageReader } from '../pages/index.ts'
import type { KeyIssuer, KeyVerifier } from '../keys/index.ts'
import type { NodeWords } from '../keys/node-words.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Outages } from '../observability/outages.ts'
import type { RequestLines } from '../observability/request-lines.ts'
import type {
  AdminStore,
  AuditStore,
  DeletionStore,
  ConsumerStore,
  Erasure,
  ErasureStore,
  EventStore,
  ExpiryStore,
  FeedKey,
  HoldStore,
  KeyStore,
  RestrictionStore,
  LeavingStore,
  NameStore,
  PublicationStore,
  SilenceStore,
  UsageStore,
} from '../storage/storage.ts'
import type { BytesInFlight } from './bytes-in-flight.ts'
import type { ConsoleDoor } from './console/console-door.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { KeyLooks } from './key-looks.ts'
import type { KeyLimits } from './key-limits.ts'
import type { Finding, ShownSetting } from './recent-findings.ts'
import type { ReadsUnderWay } from './reads-under-way.ts'
import type { ServiceLimits } from './limits.ts'
import type { TokenBuckets } from './token-bucket.ts'
import type { WaitingReaders } from './waiting-readers.ts'

/** What every part of the HTTP side is given. Nothing here is global: two services in one process share nothing. */
export interface HttpContext {
  readonly events: EventStore
  readonly erasures: ErasureStore
  readonly holds: HoldStore
  readonly keys: KeyStore
  readonly admin: AdminStore
  readonly leaving: LeavingStore
  readonly deletions: DeletionStore
  readonly audit: AuditStore
  readonly names: NameStore
  readonly consumers: ConsumerStore
  readonly silence: SilenceStore
  readonly keyIssuer: KeyIssuer
  /** When backups of the store were begun, milliseconds since 1970, the newest first: the last of them, as far as they are on record. */
  readonly backups: () => Promise<readonly number[]>
  /** What the service was told, and where that stood. */
  readonly shownSettings: readonly ShownSetting[]
  /** What was found out about this node and its store, a few seconds ago at most. */
  readonly findings: () => Promise<readonly Finding[]>
  /** Whether this node writes what a tenant owns before it is deleted. */
  readonly exportsTenants: boolean
  /** To whom what it erased had been sent; `undefined`: that is not noted of its feed. */
  readonly recipientsOf: (erasure: Erasure) => Promise<ErasureRecipients | undefined>
  readonly restrictions: RestrictionStore
  readonly expiry: ExpiryStore
  /** After how many days without a change a tenant's contacts are erased; 0: they are not. */
  readonly expiryDays: (tenantId: string) => Promise<number>
  /** Which contacts a key was sent; `undefined`: the tenant has nothing to do with it. */
  readonly exposureOf: (query: ExposurePageQuery) => Promise<ExposurePage | undefined>
  /** Who has seen the latest event of a property; `undefined`: the feed has none. */
  readonly whoHasSeen: (query: SeenQuery) => Promise<Seen | undefined>
  /** The consumers of a feed; `undefined`: no such feed. */
  readonly listConsumers: (query: ConsumersQuery) => Promise<readonly ListedConsumer[] | undefined>
  /** `branches`: as of `EventStore.readLatest`. */
  readonly hasSubject: (
    key: FeedKey,
    subjectId: string,
    branches: readonly string[] | undefined,
  ) => Promise<boolean>
  readonly maintenance: MaintenanceWatch
  readonly ranges: KnownRanges
  readonly positions: KnownPositions
  readonly moved: MovedFeeds
  readonly pages: PageReader
  readonly currentPages: CurrentPages
  /** Types of events, and their numbers in the store. */
  readonly catalogue: EventTypeCatalogue
  /** `undefined`: the console is off. */
  readonly door: ConsoleDoor | undefined
  /** How a key sees events. */
  readonly formOf: FormOf
  readonly lastPublished: LastPublished
  readonly publisher: Publisher
  readonly ledger: SentLedger
  readonly usageCounts: UsageCounts
  readonly usage: UsageStore
  readonly publicationNotes: PublicationNotes
  readonly publications: PublicationStore
  /** What consumers have been sent. */
  readonly readings: Readings
  readonly tail: LiveTail
  readonly waiting: WaitingReaders
  readonly reads: ReadsUnderWay
  readonly verifier: KeyVerifier
  /** At the keys of requests that wait. */
  readonly looks: KeyLooks
  /** Whether test keys work (PROTOCOL §2.8). */
  readonly testKeys: boolean
  readonly limits: ServiceLimits
  readonly inFlight: BytesInFlight
  readonly log: Logger
  readonly metrics: Metrics
  /** Where failures go: not to the log, of which they would take megabytes. */
  readonly outages: Outages
  readonly requestLines: RequestLines
  /** Which web pages of other origins may read answers. */
  readonly crossOrigin: CrossOrigin
  /** Path prefix of every route, such as `/feed`; empty for none (D21). */
  readonly basePath: string
  /** Proxies of our own in front of the service, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: number
  /** What this node knows of itself and of others. */
  readonly node: NodeWords
  readonly keyLimits: KeyLimits
  /** By network of the caller (D10). */
  readonly failureBuckets: TokenBuckets
  /** True once the service is stopping: connections are then closed with their next answer. */
  readonly stopping: () => boolean
}
