/** The running service: listening, watched by its operator, and stopped without losing an answer. */
import { tendThreadMemory } from '../runtime/memory/thread-memory.ts'
import { carryOutDeletions } from '../tenants/deletion/worker.ts'
import { carryOutErasures } from '../privacy/erasure/worker.ts'
import { startAgeing } from '../usage/worker.ts'
import { forgetSkippedIds } from '../events/skipped-ids.ts'
import { reportExpiredHolds } from '../privacy/hold/worker.ts'
import { fillBranchViews } from '../events/branches/branch-view-worker.ts'
import { carryOutRetention } from '../privacy/retention/worker.ts'
import { carryOutUnpublishing } from '../tenants/leaving/worker.ts'
import { noRetention } from '../privacy/retention/rules.ts'
import { watchSilence } from '../consumers/silence/worker.ts'
import { announceNode } from '../nodes/announce-node.ts'
import type { Publisher } from '../publishing/publish.ts'
import { startOperationsServer, stoppingReadiness, storeReadiness } from './operations-server.ts'
import { silenceReporter } from './reports.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { defaultLimits } from '../http/limits.ts'
import { boundMemory } from '../runtime/memory/process-memory.ts'
import type { AllowedMemory } from '../runtime/memory/process-memory.ts'
import { prepareService, addressUrl } from './prepare-service.ts'
import type { PreparedService } from './prepare-service.ts'
import type { ListenOptions } from '../http/transport/listening.ts'
import type { ServiceParts } from './service-parts.ts'
import { defaultPages } from './compose.ts'
import type { WebhookWorker } from '../webhooks/worker.ts'

export interface ServiceOptions extends ServiceParts, ListenOptions {
  /** Where `/metrics`, `/livez` and `/readyz` are; `undefined`: nowhere. */
  readonly metrics: ListenOptions | undefined
}

export interface Service {
  /** With the base path, without a slash at its end. */
  readonly url: string
  /** Full address of `/metrics`. */
  readonly metricsUrl: string | undefined
  readonly publisher: Publisher
  /**
   * Before `close`, for as long as a balancer needs to notice: `/readyz` says that the service is stopping, and each answer closes its
   * connection. Requests are accepted as before.
   */
  drain(): Promise<void>
  /** Accepts no new connections, answers open requests (within 10 s), waits for the store. Safe to call twice. */
  close(): Promise<void>
}

/** Rejects with Node's own error if it cannot listen on an address (`EADDRINUSE`, `EACCES`, …). */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { storage, host, port } = options
  const prepared = await prepareService(options)
  const { metrics, outages, publisher, stopping } = prepared
  metrics.store.watchStore(storage, outages)
  try {
    const operations =
      options.metrics === undefined
        ? undefined
        : await startOperationsServer({
            ...options.metrics,
            render: () => metrics.render(),
            report: outages,
            slowest: () => metrics.slowest(),
            readiness: async () =>
              stopping() ? stoppingReadiness : storeReadiness(storage, options.peppers),
          })
    // Before the service answers, because an erasure waits for the announced nodes.
    const announcing = await announceNode(storage.nodes, {
      peppers: options.peppers,
      state: prepared.node,
      report: outages,
    })
    const address = await prepared.listen({ host, port }).catch(async (error: unknown) => {
      await announcing.close()
      await operations?.close()
      throw error
    })
    // The port is known only now.
    if (options.console !== undefined) await announcing.listens(options.console.url ?? address.url)
    const webhooks = await prepared.sendWebhooks(announcing.nodeId)
    const tasks = [
      ...backgroundTasks(options, prepared, announcing.nodeId, webhooks),
      announcing,
      boundMemory(allowedMemory(options), prepared.counts),
    ]
    const stopTending = tendThreadMemory()
    let closing: Promise<void> | undefined
    const shutDown = async (): Promise<void> => {
      stopTending()
      await webhooks?.close()
      await prepared.close()
      for (const task of tasks) await task.close()
      await operations?.close()
      metrics.close()
    }
    return {
      url: address.url,
      metricsUrl: operations === undefined ? undefined : `${addressUrl(operations.address)}/metrics`,
      publisher,
      drain: async () => prepared.drain(),
      close: () => (closing ??= shutDown()),
    }
  } catch (error) {
    await prepared.close()
    metrics.close()
    throw error
  }
}

function allowedMemory({
  pages = defaultPages,
  limits,
}: Pick<ServiceOptions, 'limits' | 'pages'>): AllowedMemory {
  return {
    pageMemoryBytes: pages === 'off' ? 0 : pages.memoryBytes,
    inFlightBytes: limits?.inFlightBytes ?? defaultLimits.inFlightBytes,
  }
}

/** Runs the tasks beside requests. */
function backgroundTasks(
  {
    storage,
    log,
    erasureList: list,
    exportTenant,
    deletionSettleMs: settleMs,
    retention = noRetention,
  }: ServiceOptions,
  prepared: PreparedService,
  nodeId: string,
  webhooks: WebhookWorker | undefined,
): readonly { close(): Promise<void> }[] {
  const { outages: report } = prepared
  const compare: PreparedService['compareFeeds'] = (headOf) => prepared.compareFeeds(headOf)
  const forget = async (key: FeedKey): Promise<void> => {
    await prepared.forgetFeed(key)
    if (webhooks === undefined) return
    await webhooks.forget(key)
    // What was sent meanwhile is noted before the erasure ends.
    await prepared.forgetFeed(key)
  }
  return [
    forgetSkippedIds(storage, undefined, report),
    startAgeing(storage, report),
    watchSilence(storage, { tell: silenceReporter(log), report }),
    reportExpiredHolds(storage, log, report),
    carryOutErasures({ storage, nodeId, forget, compare, list, report }),
    carryOutRetention({ storage, nodeId, defaults: retention, compare, report }),
    carryOutUnpublishing({ storage, report }),
    fillBranchViews({ storage, report }),
    carryOutDeletions({ storage, nodeId, forget, exportTenant, report, settleMs }),
  ]
}
