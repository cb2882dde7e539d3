/** Puts the parts of a service together, before it listens anywhere. */
import { flushEveryHalfMinute } from '../runtime/write-buffer.ts'
import { nodeCounts } from '../http/bytes-in-flight.ts'
import type { Publisher } from '../publishing/publish.ts'
import type { NodeState } from '../nodes/announce-node.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Outages } from './outages.ts'
import { reportLoss } from './reports.ts'
import type { PageReader } from '../reading/page-cache/index.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import { operationTable } from './operation-table.ts'
import { normalBasePath } from '../http/requests/target.ts'
import { composeService } from './compose.ts'
import type { ServiceParts } from './service-parts.ts'
import { createRouter } from '../http/router.ts'
import type { AddressInfo } from 'node:net'
import { createTransport } from '../http/transport/index.ts'
import type { ListenOptions } from '../http/transport/listening.ts'
import { startWebhooks } from './webhooks.ts'
import type { WebhookWorker } from '../webhooks/worker.ts'

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
  /** Begins to send webhooks, under the node's id; `undefined`: this node sends none. */
  sendWebhooks(nodeId: string): Promise<WebhookWorker | undefined>
  /** As in `PageReader.compare`. */
  compareFeeds: PageReader['compare']
  /** True from the call of `drain` or `close` on. */
  readonly stopping: () => boolean
  /** Accepts no new connections, answers open requests (within 10 s), waits for the store. Safe to call twice. */
  close(): Promise<void>
}

interface ServiceAddress {
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
  const counts = nodeCounts()
  const context = await composeService({ ...options, basePath }, stopping, counts)
  const { door, ledger, limits, metrics, outages, pages, publisher, ranges, reads, verifier } = context
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
      return { url: `${addressUrl(address)}${basePath}`, port: address.port }
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
    sendWebhooks: (nodeId) => startWebhooks(context, options.storage, nodeId),
    compareFeeds: (headOf) => pages.compare(headOf),
    stopping,
    close() {
      // Set before the first step, since that step checks it.
      closing ??= Promise.resolve().then(shutDown)
      return closing
    },
  }
}

/** An address that can be opened: a wildcard is shown as this machine's own. */
export function addressUrl({ address, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
