/** Puts together what answers requests: the only file that knows what every feature is made of. */
import type { DisclosurePageQuery } from '../privacy/disclosure/disclosure-page.ts'
import { recentFaults } from '../consumers/list-faults.ts'
import { refusalOfConsumer } from '../consumers/consumer-name.ts'
import type { ConsumersQuery } from '../consumers/consumers-of-feed.ts'
import { listConsumers } from '../consumers/list-consumers.ts'
import { createReadCounts, recordReading } from '../consumers/read-counts.ts'
import type { ReadCounts } from '../consumers/read-counts.ts'
import { createTimesToLive } from '../consumers/time-to-live.ts'
import { propertyTerms } from '../consumers/terms.ts'
import type { TermsQuery } from '../consumers/terms.ts'
import { whoHasSeen } from '../consumers/who-has-seen.ts'
import type { SeenQuery } from '../consumers/who-has-seen.ts'
import { consoleDoor } from '../console/door.ts'
import { createBytesInFlight } from '../http/bytes-in-flight.ts'
import type { BytesInFlight, NodeCounts } from '../http/bytes-in-flight.ts'
import type { AccessControl, ExchangeRecorder, HttpContext } from '../http/context.ts'
import { crossOrigin } from '../http/cross-origin.ts'
import { defaultLimits } from '../http/limits.ts'
import type { ServiceLimits } from '../http/limits.ts'
import { requestBuckets as capacity } from '../http/rate-limit/bucket-memory.ts'
import { keyLimits } from '../http/rate-limit/key-limits.ts'
import { createTokenBuckets, steadyClock } from '../http/rate-limit/token-bucket.ts'
import { readsInProgress } from '../http/reads-in-progress.ts'
import { requireAccess } from '../keys/access/access.ts'
import type { AccessContext } from '../keys/access/access.ts'
import { createKeyRecheck } from '../keys/access/key-recheck.ts'
import { refusalIfLate, watchedAnswer } from '../keys/access/still-granted.ts'
import type { RightsContext } from '../keys/access/still-granted.ts'
import { createKeyIssuer, createKeyVerifier } from '../keys/index.ts'
import { changedFeeds } from '../live/changed-feeds.ts'
import { createLiveTail } from '../live/tail.ts'
import { createWaitingReaders } from '../live/waiting-readers.ts'
import type { WaitingReaders } from '../live/waiting-readers.ts'
import { watchMaintenance } from '../maintenance/watch.ts'
import { loneNode } from '../nodes/announce-node.ts'
import type { NodeState } from '../nodes/announce-node.ts'
import { recentBackups } from '../nodes/recent-findings.ts'
import { findingsKeptMs, storeFindings } from '../nodes/recent-findings.ts'
import { keptFor } from '../runtime/kept-for.ts'
import { disclosurePage } from '../privacy/disclosure/disclosure-page.ts'
import { createDisclosureLog, recordSending } from '../privacy/disclosure/disclosure-log.ts'
import type { DisclosureLog } from '../privacy/disclosure/disclosure-log.ts'
import { erasureRecipients } from '../privacy/erasure/erasure-recipients.ts'
import type { Erasure } from '../privacy/erasure/erasure.ts'
import { expiryDays } from '../privacy/retention/rules.ts'
import { createPublishHistory } from '../publishing/history/publish-history.ts'
import { lastPublished } from '../publishing/last-published.ts'
import { createPublisher } from '../publishing/publish.ts'
import type { Publisher } from '../publishing/publish.ts'
import { createCurrentPages } from '../reading/current/current-pages.ts'
import { createEventPositionCache } from '../reading/event-position-cache.ts'
import { waitForMinSequence } from '../reading/min-sequence.ts'
import type { MinSequenceContext } from '../reading/min-sequence.ts'
import { plainPages, sealedPages } from '../reading/page-cache/index.ts'
import type { CountBytes, SealedPagesOptions } from '../reading/page-cache/index.ts'
import { createPageRangeCache } from '../reading/page-range-cache.ts'
import { representationsOver } from '../reading/representation/representation.ts'
import { createOutages } from './outages.ts'
import type { Outages } from './outages.ts'
import { maintenanceReporter } from './reports.ts'
import { requestLines } from '../runtime/log/request-lines.ts'
import { createMetrics } from './metrics/metrics.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { StorageEngine } from '../store/storage.ts'
import { countUsage } from '../usage/usage-counter.ts'
import type { UsageCounts } from '../usage/usage-counter.ts'
import { webhooksOf } from './webhooks.ts'
import type { ServiceParts } from './service-parts.ts'

/** Everything that operations and the answering of requests take, each of them only what it names. */
export type Composed = Awaited<ReturnType<typeof composeService>>

export const defaultPages: SealedPagesOptions = { memoryBytes: 64 * 2 ** 20, folder: undefined, fileBytes: 0 }

export async function composeService(
  options: ServiceParts & { readonly basePath: string },
  stopping: () => boolean,
  counts: NodeCounts,
) {
  const { storage, peppers, log, basePath, clock = Date.now } = options
  const { trustedProxies = 0, testKeys = false } = options
  const { events, keys, nodes, settings, tenants } = storage
  const { catalogue } = settings
  const limits: ServiceLimits = { ...defaultLimits, ...options.limits }
  const node = loneNode()
  const outages = createOutages({ log, ping: () => storage.ping() })
  const ledger = await createDisclosureLog(storage.ledger, options.clock)
  const inFlight = createBytesInFlight(limits, counts)
  const verifier = createKeyVerifier({ keys, peppers, clock, testKeys, report: outages })
  const publishing = publishingOf(options, limits, outages)
  const reading = readingOf(options, clock, { inFlight, outages })
  const seen = readsOf(options, limits)
  const usageCounts = countUsage(storage.usage, options.clock)
  const rates = ratesOf(options, limits, { node, counts })
  const door = consoleDoor({ ...options, clock, trustedProxies, verifier, report: outages })
  const recheck = createKeyRecheck(verifier, stopping)
  const tail = createLiveTail({ events, report: outages })
  const rights = { recheck, verifier, trustedProxies }
  const access = { ...rights, ...rates, door, limits, log, node, stopping, testKeys }
  watchWith({ inFlight, ...publishing, ...rates }, storage)
  return {
    ...storeOf(storage),
    ...forOperators(options, clock),
    ...publishing,
    ...reading,
    ...seen,
    ...rates,
    ...rights,
    access: accessControl(access, rights),
    basePath,
    catalogue,
    clock,
    crossOrigin: crossOrigin(options.corsOrigins ?? [], basePath),
    door,
    disclosuresOf: (query: DisclosurePageQuery) => disclosurePage(storage, query),
    expiryDays: (tenantId: string) => expiryDays(storage.retention, options.retention, tenantId),
    inFlight,
    keyIssuer: createKeyIssuer({ keys, tenants, nodes, peppers }),
    ledger,
    limits,
    log,
    node,
    outages,
    reads: readsInProgress(),
    recipientsOf: (erasure: Erasure) => erasureRecipients(storage, erasure, clock()),
    recorder: recorderOf(ledger, usageCounts, seen.readCounts),
    refusalBefore: refusalBefore({ events, tail, limits }),
    requestLines: requestLines(log),
    stopping,
    tail,
    usageCounts,
    ...webhooksOf(options),
  }
}

/** The parts of the store that operations use as they are. */
function storeOf(storage: StorageEngine) {
  const { tenants, audit, consumers, deletions, erasures, events, expiry, holds } = storage
  const { keys, leaving, names, publications, restrictions, silence, usage } = storage
  const ofFeeds = { events, erasures, expiry, holds, restrictions, publications, consumers, silence }
  return { ...ofFeeds, tenants, audit, deletions, keys, leaving, names, usage }
}

function forOperators(options: ServiceParts, clock: () => number) {
  const { storage, exportTenant, shownSettings = [], findings } = options
  return {
    backups: () => recentBackups(storage),
    exportsTenants: exportTenant !== undefined,
    findings: keptFor(findingsKeptMs, clock, findings ?? (() => storeFindings(storage))),
    shownSettings,
  }
}

function publishingOf(
  { storage, log, clock, maintenanceFreshMs: freshMs }: ServiceParts,
  { publication }: ServiceLimits,
  outages: Outages,
) {
  const { events, publications, settings } = storage
  const metrics = createMetrics(() => outages.states())
  const maintenance = watchMaintenance(storage, { onChange: maintenanceReporter(log), freshMs })
  const publisher = createPublisher({
    events,
    catalogue: settings.catalogue,
    limits: publication,
    maintenance,
    observer: metrics.commits,
    now: clock,
    onStored(key, stored) {
      metrics.stored(key, stored)
      outages.stored()
    },
  })
  return { maintenance, metrics, publisher, publishHistory: createPublishHistory(publications, clock) }
}

/** What feeds are read with: what is known about them, and what is ready-made. */
function readingOf(
  { storage, pages = defaultPages }: ServiceParts,
  clock: () => number,
  { inFlight, outages }: { readonly inFlight: BytesInFlight; readonly outages: Outages },
) {
  const { events, moments, settings } = storage
  const ranges = createPageRangeCache(events)
  const count: CountBytes = (bytes, own) => inFlight.count(bytes, own)
  return {
    currentPages: createCurrentPages({ events, moments, ranges, clock }),
    faults: recentFaults(storage, clock),
    formOf: representationsOver(settings.catalogue),
    lastPublished: lastPublished(events, clock),
    moved: changedFeeds(events, outages),
    pages: pages === 'off' ? plainPages(events, count) : sealedPages(events, pages, outages, count),
    positions: createEventPositionCache(),
    ranges,
  }
}

const dayMs = 86_400_000

/** Answers who has seen what. This node's notes are added first, so that they are in the answer. */
function readsOf({ storage, clock = Date.now }: ServiceParts, { resultDays }: ServiceLimits) {
  const readCounts = createReadCounts(storage.consumers, { clock, resultDays })
  const afterAdding = async <T>(ask: () => Promise<T>): Promise<T> => {
    // If that fails, the answer has what was stored before.
    await readCounts.flush(() => Promise.resolve()).catch(() => undefined)
    return ask()
  }
  const timesToLive = createTimesToLive(storage, { clock, resultDays })
  return {
    readCounts,
    timesToLive,
    whoHasSeen: (query: SeenQuery) => afterAdding(() => whoHasSeen(storage, timesToLive, query)),
    propertyTerms(asked: Omit<TermsQuery, 'nowMs' | 'recordedFromMs'>) {
      const nowMs = clock()
      return afterAdding(() =>
        propertyTerms(storage, { ...asked, nowMs, recordedFromMs: nowMs - resultDays * dayMs }),
      )
    },
    listConsumers: (query: ConsumersQuery) => afterAdding(() => listConsumers(storage, query)),
    // With a limit to some branches, a property of another branch does not exist.
    hasSubject: async (key: FeedKey, subjectId: string, branches: readonly string[] | undefined) =>
      branches === undefined
        ? (await storage.events.subjectPositions({ key, subjectId, after: 0, limit: 1 })).length > 0
        : (await storage.events.readLatest(key, subjectId, branches)) !== undefined,
  }
}

/** How often keys may make requests, how many may wait, and how often a network may guess keys (D10). */
function ratesOf(
  { clock = steadyClock }: ServiceParts,
  limits: ServiceLimits,
  { node, counts }: { readonly node: NodeState; readonly counts: NodeCounts },
) {
  const requests = createTokenBuckets({ limits: limits.requests, clock, capacity, nodes: () => node.nodes })
  return {
    keyLimits: keyLimits(limits, requests),
    waiting: createWaitingReaders(limits, requests, counts),
    failureBuckets: createTokenBuckets({ limits: limits.failures, clock }),
  }
}

function accessControl(access: AccessContext, rights: RightsContext): AccessControl {
  return {
    require: (exchange, need) => requireAccess(access, exchange, need),
    refusalIfLate: (request, granted) => refusalIfLate(rights, request, granted),
    watched: (request, granted, answer) => watchedAnswer(rights, request, granted, answer),
  }
}

/** The consumer's name is checked first, because a read may wait for its number. */
function refusalBefore(context: MinSequenceContext): HttpContext['refusalBefore'] {
  return (request, need, access) =>
    refusalOfConsumer(request, need) ?? waitForMinSequence(context, request, need, access)
}

function recorderOf(
  ledger: DisclosureLog,
  usageCounts: UsageCounts,
  readCounts: ReadCounts,
): ExchangeRecorder {
  return {
    sending: (exchange) => recordSending(ledger, exchange),
    ended(exchange, aborted, status, bodyBytes) {
      const { keyId, routed, streamedBytes } = exchange
      if (keyId !== undefined) {
        usageCounts.count(keyId, routed.operationId, status, bodyBytes + streamedBytes)
      }
      recordReading(readCounts, exchange, aborted, status)
    },
  }
}

function watchWith({ inFlight, metrics, publisher, waiting }: Watched, storage: StorageEngine): void {
  metrics.watchQueue(() => publisher.queueState())
  metrics.watchInFlight(() => inFlight.state())
  metrics.store.watchWork(() => storage.work())
  metrics.live.watchWaiting(() => waiting.state())
}

interface Watched {
  readonly inFlight: BytesInFlight
  readonly metrics: Metrics
  readonly publisher: Publisher
  readonly waiting: WaitingReaders
}
