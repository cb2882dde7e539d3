/** Puts the parts of a service together, before it listens anywhere. */
import type { Logger } from 'pino'
import type { ErasureList } from '../privacy/erasure/journal.ts'
import { erasureRecipients } from '../privacy/erasure/erasure-recipients.ts'
import { disclosurePage } from '../privacy/disclosure/disclosure-page.ts'
import { expiryDays } from '../privacy/retention/rules.ts'
import type { RetentionDefaults } from '../privacy/retention/rules.ts'
import { watchMaintenance } from '../maintenance/watch.ts'
import type { MaintenanceWatch } from '../maintenance/watch.ts'
import { flushEveryHalfMinute } from '../runtime/write-buffer.ts'
import { createLiveTail } from '../live/tail.ts'
import { createDisclosureLog } from '../privacy/disclosure/disclosure-log.ts'
import type { DisclosureLog } from '../privacy/disclosure/disclosure-log.ts'
import { createPublishHistory } from '../publishing/history/publish-history.ts'
import { countUsage } from '../usage/usage-counter.ts'
import { createPublisher } from '../publishing/publish.ts'
import type { Publisher } from '../publishing/publish.ts'
import { createKeyIssuer, createKeyVerifier } from '../keys/index.ts'
import type { Pepper } from '../keys/index.ts'
import { loneNode } from '../nodes/announce-node.ts'
import type { NodeState } from '../nodes/announce-node.ts'
import { createMetrics } from './metrics/metrics.ts'
import type { Metrics } from './metrics/metrics.ts'
import { createOutages } from './outages.ts'
import type { Outages } from './outages.ts'
import { maintenanceReporter, reportLoss } from './reports.ts'
import { requestLines } from '../runtime/log/request-lines.ts'
import type { PageReader, SealedPagesOptions } from '../reading/page-cache/index.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { StorageEngine } from '../store/storage.ts'
import { createBytesInFlight, nodeCounts } from '../http/bytes-in-flight.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import { consoleDoor } from '../console/door.ts'
import type { HttpContext } from '../http/context.ts'
import { crossOrigin } from '../http/cross-origin.ts'
import { defaultLimits } from '../http/limits.ts'
import type { ServiceLimits } from '../http/limits.ts'
import { operationTable } from './operation-table.ts'
import type { TableOptions } from './operation-table.ts'
import { normalBasePath } from '../http/requests/target.ts'
import { readsInProgress } from '../reading/reads-in-progress.ts'
import { readingParts } from './reading-parts.ts'
import { operatorContext } from './operator-parts.ts'
import type { OperatorParts } from './operator-parts.ts'
import { recentBackups } from '../nodes/recent-findings.ts'
import { createRouter } from '../http/router.ts'
import { rateParts } from './rate-parts.ts'
import { addressUrl, portOf } from './service-address.ts'
import { seenParts } from './seen-parts.ts'
import { storeParts } from './store-parts.ts'
import { createTransport } from '../http/transport/index.ts'
import { keyParts } from '../keys/key-recheck.ts'

export interface ServiceParts extends TableOptions, OperatorParts {
  /** Stays open when the service closes. */
  readonly storage: StorageEngine
  /** The first one is for new keys; all are accepted for existing keys. */
  readonly peppers: readonly Pepper[]
  readonly log: Logger
  /** Ready-made pages; with `off`, every page comes from the store. Default: 64 MiB in memory, no file. */
  readonly pages?: SealedPagesOptions | 'off'
  /** Path prefix of every route, such as `/feed`. */
  readonly basePath?: string
  readonly limits?: Partial<ServiceLimits>
  /** For tenants without rules of their own. Default: everything is kept. */
  readonly retention?: RetentionDefaults
  /** Where this node records what is erased (D17). Stays open when the service closes. */
  readonly erasureList?: ErasureList | undefined
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** The number of our own proxies in front of the service. Default 0: `X-Forwarded-For` is not trusted. */
  readonly trustedProxies?: number
  /** `false`: every request goes through Node's HTTP, with the same answers. Default true. */
  readonly plainConnections?: boolean
  /** How long the store's answer about its maintenance is reused. Default 1 s; shorter in tests. */
  readonly maintenanceFreshMs?: number | undefined
  /** Test keys work, and open the sandbox (PROTOCOL §2.8). Default false. */
  readonly testKeys?: boolean
  /** Origins whose pages may read answers in a browser, as browsers write them. Default: none. */
  readonly corsOrigins?: readonly string[]
}

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface PreparedService {
  readonly publisher: Publisher
  readonly metrics: Metrics
  readonly outages: Outages
  readonly node: NodeState
  readonly counts: NodeCounts
  /** Resolves with the address. Rejects with Node's own error if it cannot listen (`EADDRINUSE`, `EACCES`, …). */
  listen(options: ListenOptions): Promise<ServiceAddress>
  /**
   * Begins the last requests before `close`: they are accepted and answered as before, and each answer closes its connection, so that a
   * proxy in front opens the next one elsewhere.
   */
  drain(): void
  /**
   * From now on, no answer uses anything that was read from the feed before (D17). Resolves when the page file holds
   * nothing of it, and the ledger has what was sent of it.
   */
  forgetFeed(key: FeedKey): Promise<void>
  /** As in `PageReader.compare`. */
  compareFeeds: PageReader['compare']
  /** True from the call of `drain` or `close` on. */
  readonly stopping: () => boolean
  /** Accepts no new connections, answers open requests (within 10 s), waits for the store. Safe to call twice. */
  close(): Promise<void>
}

export interface ServiceAddress {
  /** With the base path, without a trailing slash. */
  readonly url: string
  readonly port: number
}

export async function prepareService(options: ServiceParts): Promise<PreparedService> {
  let draining = false
  let closing: Promise<void> | undefined
  const stopping = () => draining || closing !== undefined
  const basePath = normalBasePath(options.basePath ?? '')
  if (basePath === undefined) {
    throw new TypeError(`The base path ${JSON.stringify(options.basePath)} is not a path such as /feed.`)
  }
  const ledger = await createDisclosureLog(options.storage.ledger, options.clock)
  const counts = nodeCounts()
  const context = contextOf({ ...options, basePath }, stopping, ledger, counts)
  const { door, limits, metrics, outages, pages, publisher, ranges, reads, verifier } = context
  const notes = [context.usageCounts, context.publishHistory, context.readCounts]
  const flushing = flushEveryHalfMinute(notes, outages)
  const stopReporting = reportLoss(options.storage, options.log, metrics)
  const stopObserving = options.storage.observe({ ...metrics.store, ...outages })
  const operations = operationTable(context, options)
  const transport = createTransport(context, createRouter({ operations, basePath, limits, door }), {
    plainConnections: options.plainConnections ?? true,
    counts,
  })

  async function shutDown(): Promise<void> {
    // Requests that wait for events are answered now, and no new one begins to wait.
    context.tail.close()
    context.moved.endWaits()
    await transport.close()
    await publisher.drained()
    await verifier.close()
    await ledger.close()
    await flushing.close()
    context.moved.close()
    stopReporting()
    stopObserving()
    await pages.close()
    context.requestLines.close()
    outages.close()
  }

  return {
    publisher,
    metrics,
    outages,
    node: context.node,
    counts,
    async listen({ host, port }) {
      const address = await transport.listen({ host, port })
      return { url: `${addressUrl(address)}${basePath}`, port: portOf(address) }
    },
    drain() {
      draining = true
    },
    async forgetFeed(key) {
      ranges.forget(key)
      context.tail.forget(key)
      await pages.forget(key)
      // When the erasure is `unreachable`, the ledger must know who was sent what is now gone. A read that began earlier is noted when
      // its answer is made.
      await reads.settled(limits.requestTimeoutMs)
      await ledger.flush()
    },
    compareFeeds: (headOf) => pages.compare(headOf),
    stopping,
    close() {
      // Set before the first step, since that step checks it.
      closing ??= Promise.resolve().then(shutDown)
      return closing
    },
  }
}

interface Observers {
  readonly metrics: Metrics
  readonly outages: Outages
}

/** The parts that answer requests. */
function contextOf(
  options: ServiceParts & { readonly basePath: string },
  stopping: () => boolean,
  ledger: DisclosureLog,
  counts: NodeCounts,
): HttpContext & Observers {
  const { storage, peppers, log, clock = Date.now, trustedProxies = 0, testKeys = false } = options
  const { events, keys, nodes, settings, tenants } = storage
  const limits: ServiceLimits = { ...defaultLimits, ...options.limits }
  const node = loneNode()
  const metrics = createMetrics()
  const outages = createOutages({ log, ping: () => storage.ping() })
  const maintenance = maintenanceOf(options)
  const publisher = createPublisher({
    events,
    catalogue: settings.catalogue,
    limits: limits.publication,
    maintenance,
    observer: metrics.commits,
    onStored(key, stored) {
      metrics.stored(key, stored)
      outages.stored()
    },
  })
  const verifier = createKeyVerifier({ keys, peppers, clock, testKeys, report: outages })
  metrics.watchQueue(() => publisher.queueState())
  metrics.watchOutages(outages)
  metrics.store.watchWork(() => storage.work())
  const inFlight = createBytesInFlight(limits, counts)
  metrics.watchInFlight(() => inFlight.state())
  const rates = rateParts(options, limits, node, counts)
  metrics.live.watchWaiting(() => rates.waiting.state())
  return {
    ...storeParts(storage),
    keyIssuer: createKeyIssuer({ keys, tenants, nodes, peppers }),
    backups: () => recentBackups(storage),
    ...operatorContext(options, clock),
    recipientsOf: (erasure) => erasureRecipients(storage, erasure, clock()),
    expiryDays: (tenantId) => expiryDays(storage.retention, options.retention, tenantId),
    disclosuresOf: (query) => disclosurePage(storage, query),
    ...seenParts(options, limits),
    maintenance,
    tail: createLiveTail({ events, report: outages }),
    ...readingParts(options, clock, outages, inFlight),
    publisher,
    ledger,
    usageCounts: countUsage(storage.usage, options.clock),
    publishHistory: createPublishHistory(storage.publications, options.clock),
    reads: readsInProgress(),
    ...keyParts(verifier, stopping),
    door: consoleDoor({ ...options, clock, trustedProxies, verifier, report: outages }),
    testKeys,
    limits,
    inFlight,
    log,
    metrics,
    outages,
    requestLines: requestLines(log),
    basePath: options.basePath,
    crossOrigin: crossOrigin(options.corsOrigins ?? [], options.basePath),
    trustedProxies,
    node,
    ...rates,
    stopping,
  }
}

function maintenanceOf({ storage, log, maintenanceFreshMs: freshMs }: ServiceParts): MaintenanceWatch {
  return watchMaintenance(storage, { onChange: maintenanceReporter(log), freshMs })
}
