/** What the in-memory engine keeps: arrays and maps, nothing clever. It is the reference for other engines (P12). */
import type { Category, FeedName, Ticks } from '@property-events/protocol'
import { feedNames, viewsOf } from '@property-events/protocol'
import type { SharedClock } from '../clock.ts'
import { newEpochId } from '../epoch-id.ts'
import type { SubjectState } from '../subject-state.ts'
import { StorageFailure, epochWeight, feedName } from '../storage.ts'
import { newConsumersState } from './consumers-state.ts'
import type { ConsumersState } from './consumers-state.ts'
import type {
  AuditRow,
  BranchSetId,
  BranchSetState,
  ConsoleSession,
  Deletion,
  DayUsage,
  Erasure,
  FeedKey,
  FeedMark,
  FeedView,
  Head,
  Hold,
  KeptMinute,
  KeyRecord,
  Leaving,
  LoginLink,
  Maintenance,
  MarksTotal,
  Moment,
  MoveState,
  NodeAnnouncement,
  SentBefore,
  Restriction,
  RestrictionProgress,
  SentPiece,
  SentRun,
  StoreSettings,
  Tenant,
  TenantRule,
  UsageCount,
  ThinProgress,
} from '../storage.ts'

export interface MemoryEvent {
  readonly sequenceNumber: number
  readonly created: Ticks
  readonly id: string
  readonly subjectId: string
  /** For a property, the branch that its payload named. It stays when the payload is reduced. */
  readonly branch: string | null
  /** `full`, or the way the payload was reduced (D17). */
  readonly payloadState: string
  readonly category: Category | null
  readonly json: Uint8Array
}

export interface MemoryId {
  readonly position: number
  readonly contentHash: Uint8Array | null
  /** When it was skipped; `null` for an event's own id. */
  readonly skipped: Ticks | null
}

export interface MemoryFeed {
  epoch: string
  offset: number
  revision: number
  thinned: number
  needsEpoch: boolean
  move: MoveState
  /** No later stamp is before this (P3). */
  stampFloor: Ticks
  /** The event at position n is at index n - 1. */
  readonly events: MemoryEvent[]
  readonly ids: Map<string, MemoryId>
  readonly subjects: Map<string, SubjectState & { readonly position: number }>
  /** For each view the positions of its events; the one with ordinal n is at index n - 1. */
  readonly views: Map<FeedView, number[]>
  /** The sets of branches that have views, or will have some. */
  readonly branchSets: Map<BranchSetId, MemoryBranchSet>
  /** What is kept of restricted contacts and not shown, by position: the bytes as they were published. */
  readonly kept: Map<number, Uint8Array>
  /** What was reduced, in the order of revisions. */
  readonly reductions: MemoryReduction[]
  /** What was thinned, in the order of steps, and the progress of the walks. */
  readonly thinnings: MemoryThinning[]
  thinProgress: ThinProgress | undefined
  /** For contacts: latest events up to this position have been looked at for the list of expiring contacts. */
  listedTo: number
}

export interface MemoryBranchSet {
  readonly branches: ReadonlySet<string>
  state: BranchSetState
  filled: number
}

export interface MemoryListed {
  readonly position: number
  readonly unchangedSinceMs: number
  /** `null`: the contact was kept. */
  readonly listedMs: number | null
}

export interface MemoryThinning {
  readonly thinned: number
  readonly positions: readonly number[]
}

export interface MemoryReduction {
  readonly revision: number
  readonly positions: readonly number[]
}

/** An erasure and its progress. */
export interface MemoryErasure {
  readonly erasure: Erasure
  /** The position of the next event that may have to be reduced, and of the last one. */
  readonly nextPosition: number
  readonly lastPosition: number
  readonly acknowledgedBy: readonly string[]
  readonly sentBefore: SentBefore | undefined
}

/** A deletion of a tenant, and the nodes involved. */
export interface MemoryDeletion {
  readonly deletion: Deletion
  readonly acknowledgedBy: readonly string[]
  /** The node that writes the export. */
  readonly exporter: string | undefined
}

export interface MemoryRestriction extends RestrictionProgress {
  readonly restriction: Restriction
  readonly acknowledgedBy: readonly string[]
}

export interface MemoryState extends ConsumersState {
  readonly settings: StoreSettings
  needsEpoch: boolean
  /** The offset of feeds that are created from now on. */
  firstOffset: number
  /** No later stamp is before this (P3). */
  stampFloor: Ticks
  readonly feeds: Map<string, MemoryFeed>
  readonly tenants: Map<string, Tenant>
  /** By tenant. */
  readonly leaving: Map<string, Leaving>
  readonly keys: Map<string, KeyRecord>
  /** The places in lists of tenants and keys, by id. A deleted one keeps its place. */
  readonly places: Map<string, number>
  /** By id, in the order in which they were begun. */
  readonly erasures: Map<string, MemoryErasure>
  readonly restrictions: Map<string, MemoryRestriction>
  /** By id. */
  readonly deletions: Map<string, MemoryDeletion>
  /** By id. */
  readonly holds: Map<string, Hold>
  /** By tenant and rule. */
  readonly retentionRules: Map<string, TenantRule>
  /** Contacts that will expire, or were kept, by tenant and reference. */
  readonly expiring: Map<string, Map<string, MemoryListed>>
  /** The pepper for new keys, once a node has set it. */
  pepperId: string | undefined
  maintenance: Maintenance | undefined
  /** In the order of their changes. */
  audit: readonly AuditRow[]
  /** By the names of the pieces. */
  readonly sent: Map<string, SentPiece>
  readonly runs: Map<string, SentRun>
  /** Rises when views of sets of branches become ready, or are removed: part of the version of the keys. */
  branchViewChanges: number
  /** Moments of lists of current events, by their names. */
  readonly moments: Map<string, Moment>
  /** By actor. */
  readonly names: Map<string, string>
  /** Requests of keys, by hour or day, key, operation and status. */
  readonly usageHours: Map<string, UsageCount>
  readonly usageDays: Map<string, DayUsage>
  /** By tenant, minute, feed and key. */
  readonly publications: Map<string, KeptMinute>
}

/** The state, and what exists only while the engine is open. */
export interface MemoryStore {
  readonly state: MemoryState
  readonly clock: SharedClock | undefined
  readonly nodes: Map<string, NodeAnnouncement & { readonly seenMs: number }>
  readonly links: Map<string, LoginLink>
  readonly sessions: Map<string, ConsoleSession>
  /** The node that thins, and until when. */
  thinning: { readonly nodeId: string; readonly untilMs: number } | undefined
  closed: boolean
}

export function newState(settings: StoreSettings): MemoryState {
  return {
    settings,
    needsEpoch: false,
    firstOffset: settings.startSequence,
    stampFloor: 0n,
    feeds: new Map(),
    tenants: new Map(),
    leaving: new Map(),
    keys: new Map(),
    places: new Map(),
    erasures: new Map(),
    restrictions: new Map(),
    deletions: new Map(),
    holds: new Map(),
    retentionRules: new Map(),
    expiring: new Map(),
    pepperId: undefined,
    maintenance: undefined,
    audit: [],
    sent: new Map(),
    runs: new Map(),
    branchViewChanges: 0,
    ...newConsumersState(),
    moments: new Map(),
    names: new Map(),
    usageHours: new Map(),
    usageDays: new Map(),
    publications: new Map(),
  }
}

export function newFeed(feed: FeedName, offset: number): MemoryFeed {
  return {
    epoch: newEpochId(),
    offset,
    revision: 0,
    thinned: 0,
    needsEpoch: false,
    move: 'open',
    stampFloor: 0n,
    events: [],
    ids: new Map(),
    subjects: new Map(),
    views: new Map(viewsOf(feed).map((view) => [view, []])),
    branchSets: new Map(),
    kept: new Map(),
    reductions: [],
    thinnings: [],
    thinProgress: undefined,
    listedTo: 0,
  }
}

/** The feed, or `undefined` when there is no such tenant. */
export function feedOf(store: MemoryStore, key: FeedKey): MemoryFeed | undefined {
  return openState(store).feeds.get(feedName(key))
}

export function openState(store: MemoryStore): MemoryState {
  if (store.closed) throw new StorageFailure('storage_closed')
  return store.state
}

export function headOf(feed: MemoryFeed): Head {
  const last = feed.events.at(-1)
  return {
    position: feed.events.length,
    sequenceNumber: last?.sequenceNumber ?? feed.offset,
    created: last?.created,
    epoch: feed.epoch,
    revision: feed.revision,
    thinned: feed.thinned,
  }
}

/** The marks of these feeds, or of every feed. */
export function marksOf(store: MemoryStore, keys: readonly FeedKey[] = allFeeds(store)): readonly FeedMark[] {
  return keys.flatMap((key) => {
    const feed = feedOf(store, key)
    if (feed === undefined) return []
    return { key, epoch: feed.epoch, count: feed.offset + feed.events.length + feed.revision }
  })
}

export function marksTotalOf(store: MemoryStore): MarksTotal {
  const marks = marksOf(store)
  return {
    feeds: marks.length,
    total: marks.reduce((sum, { count }) => sum + BigInt(count), 0n),
    epochs: marks.reduce((sum, { epoch }) => sum + epochWeight(epoch), 0),
  }
}

function allFeeds(store: MemoryStore): readonly FeedKey[] {
  return [...openState(store).tenants.keys()].flatMap((tenantId) =>
    feedNames.map((feed) => ({ tenantId, feed })),
  )
}

/** The events of a view in the order of its ordinals. */
export function eventsOfView(feed: MemoryFeed, view: FeedView): readonly MemoryEvent[] {
  if (view === 'all') return feed.events
  return (feed.views.get(view) ?? []).flatMap((position) => feed.events[position - 1] ?? [])
}
