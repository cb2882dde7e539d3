/**
 * A service on several threads. Each serves all of HTTP and reads by itself, and one writes for all of them. This thread holds everything
 * that exists once: the port, the file of sealed pages, the metrics, and the end of the service (docs/decisions/0008).
 */
import { carryOutDeletions } from '../feed/deleting.ts'
import type { TenantExporter } from '../feed/deleting.ts'
import { ageNotes } from '../feed/ageing.ts'
import { carryOutErasures } from '../feed/erasing.ts'
import type { ErasureList } from '../feed/erasure-list.ts'
import type { Erasing } from '../feed/erasing.ts'
import { forgetSkippedIds } from '../feed/forgetting.ts'
import { reportExpiredHolds } from '../feed/reporting-holds.ts'
import { fillBranchViews } from '../feed/filling-views.ts'
import { carryOutRetention } from '../feed/retaining.ts'
import { carryOutUnpublishing } from '../feed/unpublishing.ts'
import { noRetention } from '../feed/retention-rules.ts'
import type { RetentionDefaults } from '../feed/retention-rules.ts'
import { watchSilence } from '../feed/watching-silence.ts'
import { watchMaintenance } from '../feed/maintenance.ts'
import { createPublisher } from '../feed/publish.ts'
import type { Publisher } from '../feed/publish.ts'
import type { ConsoleOptions } from '../http/console/console-door.ts'
import type { Deprecations } from '../http/operations/index.ts'
import { normalBasePath } from '../http/requests/target.ts'
import { addressUrl } from '../http/service-address.ts'
import type { ListenOptions } from '../http/prepare-service.ts'
import type { Finding, ShownSetting } from '../http/recent-findings.ts'
import type { Service } from '../http/service.ts'
import { boundMemory } from '../http/bound-memory.ts'
import { nodeCounts } from '../http/bytes-in-flight.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import type { ServiceLimits } from '../http/limits.ts'
import { announceNode } from '../keys/announce-node.ts'
import type { Pepper } from '../keys/index.ts'
import { nodeMemory, nodeWords } from '../keys/node-words.ts'
import type { Logger } from 'pino'
import type { LogLevel } from '../observability/log-levels.ts'
import type { LogForm } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Metrics } from '../observability/metrics.ts'
import { createLogger } from '../observability/log.ts'
import { createOutages, outageMemories } from '../observability/outages.ts'
import type { Outages } from '../observability/outages.ts'
import { silenceReporter } from '../observability/report-silence.ts'
import { startOperationsServer } from '../observability/operations-server.ts'
import type { OperationsServer } from '../observability/operations-server.ts'
import { sharedPagesFile } from '../pages/index.ts'
import type { SealedPagesOptions, SharedSegmentFile } from '../pages/index.ts'
import type { FeedKey } from '../storage/storage.ts'
import type { SharedStorage } from '../storage/open-storage.ts'
import { operationsOf } from './operations.ts'
import type { ServingThread } from './serving-thread.ts'
import { soon } from './soon.ts'
import { closeThread, listenTogether, threadStarter } from './threads.ts'

export interface ThreadedServiceOptions extends ListenOptions {
  readonly workers: number
  /** It stays open when the service closes: the caller that opened it closes it. */
  readonly store: SharedStorage
  readonly peppers: readonly Pepper[]
  readonly logLevel: LogLevel
  /** Default: JSON. */
  readonly logForm?: LogForm
  readonly metrics: ListenOptions | undefined
  /** For all threads together. */
  readonly pages: Omit<SealedPagesOptions, 'shared'>
  readonly basePath?: string
  readonly limits?: Partial<ServiceLimits>
  readonly trustedProxies?: number
  readonly plainConnections?: boolean
  readonly deprecations?: Deprecations
  /** See `ServiceParts`. */
  readonly pictures?: boolean
  /** See `ServiceParts`. */
  readonly testKeys?: boolean
  /** See `ServiceParts`. */
  readonly console?: ConsoleOptions | undefined
  /** See `ServiceParts`. */
  readonly corsOrigins?: readonly string[]
  /** See `ServiceParts`. */
  readonly erasureList?: ErasureList | undefined
  readonly retention?: RetentionDefaults
  /** See `ServiceParts`. */
  readonly deletionSettleMs?: number
  /** See `ServiceParts`. */
  readonly shownSettings?: readonly ShownSetting[]
  readonly findings?: (() => Promise<readonly Finding[]>) | undefined
  /** See `ServiceParts`. */
  readonly exportTenant?: TenantExporter | undefined
}

export interface ThreadedService extends Service {
  /** Resolves when a thread has ended although the service was not closed. The value is the error that ended it. */
  readonly broken: Promise<Error>
}

/** Everything that exists once, as far as it has been started. */
interface Whole {
  readonly options: ThreadedServiceOptions
  readonly log: Logger
  readonly file: SharedSegmentFile | undefined
  readonly metrics: Metrics
  readonly outages: Outages
  readonly stopObserving: () => void
  readonly publisher: Publisher
  readonly threads: ServingThread[]
  /** The memory of `NodeWords`, which the threads share. */
  readonly node: SharedArrayBuffer
  /** What all threads count together. */
  readonly counts: NodeCounts
  operations: OperationsServer | undefined
  draining: boolean
  closing: Promise<void> | undefined
}

/** Rejects with the system's error if it cannot listen on an address. `ENOTSUP`: threads cannot share a port here. */
export async function createThreadedService(options: ThreadedServiceOptions): Promise<ThreadedService> {
  const basePath = normalBasePath(options.basePath ?? '')
  if (basePath === undefined)
    throw new TypeError(`${JSON.stringify(options.basePath)} is no path such as /feed.`)
  const { folder, fileBytes } = options.pages
  const file = folder === undefined ? undefined : sharedPagesFile(folder, fileBytes, options.workers)
  const metrics = createMetrics()
  const { storage } = options.store
  const memories = outageMemories()
  const log = createLogger({ level: options.logLevel, form: options.logForm ?? 'json' })
  const outages = createOutages({ log, memories, ping: () => storage.ping() })
  metrics.watchOutages(outages)
  metrics.store.watchStore(storage, outages)
  metrics.store.watchWork(() => storage.work())
  const stopObserving = storage.observe({ ...metrics.store, ...outages })
  const publisher = ownPublisher(options, metrics, outages)
  const started = {
    node: nodeMemory(),
    counts: nodeCounts(options.workers),
    threads: [],
    operations: undefined,
    draining: false,
    closing: undefined,
  }
  const whole: Whole = { options, log, file, metrics, outages, stopObserving, publisher, ...started }
  try {
    const shared = { node: whole.node, counts: whole.counts, outages: memories, threads: whole.threads }
    await startThreads(whole, threadStarter(options, basePath, file, shared))
    return await serve(whole)
  } catch (error) {
    await abandon(whole)
    throw error
  }
}

async function startThreads({ options, threads }: Whole, start: () => Promise<ServingThread>): Promise<void> {
  const started = await Promise.allSettled(Array.from({ length: options.workers }, start))
  for (const one of started) if (one.status === 'fulfilled') threads.push(one.value)
  for (const one of started) if (one.status === 'rejected') throw one.reason
}

async function serve(whole: Whole): Promise<ThreadedService> {
  const { options, threads, file, publisher, outages } = whole
  const { storage } = options.store
  whole.operations = await startOperations(whole)
  // The node is announced before it answers requests, because an erasure waits for the nodes that are announced.
  const announcing = await announceNode(storage.nodes, {
    peppers: options.peppers,
    words: nodeWords(whole.node),
    report: outages,
  })
  const address = await listenTogether(threads, options).catch(async (error: unknown) => {
    await announcing.close()
    throw error
  })
  if (options.console !== undefined) await announcing.listens(options.console.url ?? address.url)
  const broken = Promise.withResolvers<Error>()
  const watchOver = async (thread: ServingThread): Promise<void> => {
    const cause = await thread.ended
    if (whole.closing === undefined) broken.resolve(cause ?? new Error('it ended by itself'))
  }
  for (const thread of threads) void watchOver(thread)
  const looking = [...lookAfterNotes(whole), boundMemory(options, options.workers, whole.counts)]
  const erasing = carryOut(whole, announcing.nodeId)
  const retaining = carryOutRetention({
    storage,
    nodeId: announcing.nodeId,
    defaults: options.retention ?? noRetention,
    compare: async (headOf) => file?.compare(headOf),
    report: outages,
  })
  const unpublishing = carryOutUnpublishing({ storage, report: outages })
  const filling = fillBranchViews({ storage, report: outages })
  const deleting = carryOutDeletions({
    storage,
    nodeId: announcing.nodeId,
    forget: (key) => forgetEverywhere(whole, key),
    exportTenant: options.exportTenant,
    settleMs: options.deletionSettleMs,
    report: outages,
  })
  const { operations } = whole
  return {
    url: address.url,
    metricsUrl: operations === undefined ? undefined : `${addressUrl(operations.address)}/metrics`,
    publisher,
    broken: broken.promise,
    async drain() {
      whole.draining = true
      await Promise.all(threads.map((thread) => soon(thread.ask({ verb: 'drain' }))))
    },
    close() {
      whole.closing ??= Promise.resolve().then(() =>
        shutDown(whole, [...looking, erasing, retaining, unpublishing, filling, deleting, announcing]),
      )
      return whole.closing
    },
  }
}

/** Removes notes that were kept long enough, and reports what they show. */
function lookAfterNotes({ options: { store }, log, outages }: Whole): readonly { close(): Promise<void> }[] {
  const { storage } = store
  return [
    forgetSkippedIds(storage, undefined, outages),
    ageNotes(storage, outages),
    watchSilence(storage, { tell: silenceReporter(log), report: outages }),
    reportExpiredHolds(storage, log, outages),
  ]
}

/** If a thread does not answer, the erasure stays as it is: the thread may still hold older pages. */
function carryOut(whole: Whole, nodeId: string): Erasing {
  const { options, file, outages } = whole
  return carryOutErasures({
    storage: options.store.storage,
    nodeId,
    forget: (key) => forgetEverywhere(whole, key),
    compare: async (headOf) => file?.compare(headOf),
    list: options.erasureList,
    report: outages,
  })
}

async function forgetEverywhere({ threads, file }: Whole, key: FeedKey): Promise<void> {
  await Promise.all(threads.map((thread) => thread.ask({ verb: 'forgetFeed', key })))
  await file?.forget(key)
}

async function startOperations(whole: Whole): Promise<OperationsServer | undefined> {
  const { options, threads, metrics, outages } = whole
  if (options.metrics === undefined) return undefined
  const isStopping = (): boolean => whole.draining || whole.closing !== undefined
  const answers = operationsOf({ options, threads, metrics, isStopping })
  return startOperationsServer({ ...options.metrics, ...answers, report: outages })
}

/** `tasks` run beside the threads. They are closed once no thread answers any longer. */
async function shutDown(
  { threads, publisher, file, operations, metrics, outages, stopObserving }: Whole,
  tasks: readonly { close(): Promise<void> }[],
): Promise<void> {
  await Promise.all(threads.map(closeThread))
  await Promise.all(threads.map((thread) => thread.ended))
  await publisher.drained()
  for (const task of tasks) await task.close()
  file?.close()
  await operations?.close()
  stopObserving()
  outages.close()
  metrics.close()
}

/** Closes everything after a failed start. */
async function abandon({ threads, operations, file, metrics, outages, stopObserving }: Whole): Promise<void> {
  await Promise.allSettled(threads.map((thread) => thread.terminate()))
  await Promise.allSettled([operations?.close()])
  file?.close()
  stopObserving()
  outages.close()
  metrics.close()
}

/** For events that this thread publishes itself, as embedders do. */
function ownPublisher(
  { store: { storage }, limits }: ThreadedServiceOptions,
  metrics: Metrics,
  outages: Outages,
): Publisher {
  const publisher = createPublisher({
    events: storage.events,
    catalogue: storage.settings.catalogue,
    ...(limits?.publication === undefined ? {} : { limits: limits.publication }),
    // The serving threads write the log lines about it.
    maintenance: watchMaintenance(storage),
    observer: metrics.commits,
    onStored(key, events) {
      metrics.stored(key, events)
      outages.stored()
    },
  })
  metrics.watchQueue(() => publisher.queueState())
  return publisher
}
