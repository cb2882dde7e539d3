/** The running service: its parts put together, listening, and stopped without losing an answer. */
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { createKnownRanges } from '../feed/known-ranges.ts'
import { createPublisher } from '../feed/publish.ts'
import type { Publisher } from '../feed/publish.ts'
import { createKeyVerifier } from '../keys/index.ts'
import type { Pepper } from '../keys/index.ts'
import { createMetrics } from '../observability/metrics.ts'
import { startOperationsServer } from '../observability/operations-server.ts'
import { plainPages, sealedPages } from '../pages/index.ts'
import type { SealedPagesOptions } from '../pages/index.ts'
import type { StorageEngine } from '../storage/storage.ts'
import { buildApp } from './app.ts'
import type { HttpContext } from './context.ts'
import { defaultLimits } from './limits.ts'
import type { ServiceLimits } from './limits.ts'
import { normalBasePath } from './target.ts'
import { createTokenBuckets } from './token-bucket.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface ServiceOptions extends ListenOptions {
  /** Stays open when the service closes: whoever opened it closes it. */
  readonly storage: StorageEngine
  /** The first one is for new keys, all are for known ones. */
  readonly peppers: readonly Pepper[]
  readonly log: Logger
  /** Where `/metrics`, `/livez` and `/readyz` are; `undefined`: nowhere. */
  readonly metrics: ListenOptions | undefined
  /** Ready-made pages; `off` makes every page from the store. Default: 64 MiB in memory, no file. */
  readonly pages?: SealedPagesOptions | 'off'
  /** Path prefix of every route, such as `/feed`. */
  readonly basePath?: string
  readonly limits?: Partial<ServiceLimits>
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** Proxies of our own in front of the service. Default 0: `X-Forwarded-For` is not believed. */
  readonly trustedProxies?: number
}

export interface Service {
  /** With the base path, without a slash at its end. */
  readonly url: string
  /** Full address of `/metrics`. */
  readonly metricsUrl: string | undefined
  readonly publisher: Publisher
  /** Takes no new connections, answers what was asked (at most 10 s), waits for the store. Safe to call twice. */
  close(): Promise<void>
}

/** Rejects with Node's own error when an address cannot be listened on (`EADDRINUSE`, `EACCES`, …). */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { storage, peppers, log, clock = Date.now, trustedProxies = 0 } = options
  const bucketClock = options.clock ?? steadyClock
  const limits: ServiceLimits = { ...defaultLimits, ...options.limits }
  const basePath = normalBasePath(options.basePath ?? '')
  if (basePath === undefined) {
    throw new TypeError(`The base path ${JSON.stringify(options.basePath)} is not a path such as /feed.`)
  }
  const metrics = createMetrics()
  const verifier = createKeyVerifier({ keys: storage.keys, peppers, clock })
  const publisher = createPublisher({
    events: storage.events,
    catalogue: storage.settings.catalogue,
    limits: limits.publication,
    onStored: (key, events) => metrics.stored(key.feed, events),
  })
  const pages =
    options.pages === 'off'
      ? plainPages(storage.events)
      : sealedPages(
          storage.events,
          options.pages ?? { memoryBytes: 64 * 2 ** 20, folder: undefined, fileBytes: 0 },
        )
  const ranges = createKnownRanges(storage.events)
  let stopping = false
  const context: HttpContext = {
    events: storage.events,
    ranges,
    pages,
    publisher,
    verifier,
    limits,
    log,
    metrics,
    clock,
    basePath,
    trustedProxies,
    requestBuckets: createTokenBuckets(limits.requests, bucketClock),
    failureBuckets: createTokenBuckets(limits.failures, bucketClock),
    stopping: () => stopping,
  }
  const app = await buildApp(context)

  async function stopListening(): Promise<void> {
    const timer = setTimeout(() => app.server.closeAllConnections(), limits.closeTimeoutMs)
    // A request that began before the stop is answered with keep-alive: its connection would wait for another 5 s.
    const idleTimer = setInterval(() => app.server.closeIdleConnections(), 100)
    await app.close()
    clearInterval(idleTimer)
    clearTimeout(timer)
  }

  async function shutDown(): Promise<void> {
    stopping = true
    await stopListening()
    await publisher.drained()
    await verifier.close()
    await pages.close()
    await operations?.close()
    metrics.close()
  }

  const operations =
    options.metrics === undefined
      ? undefined
      : await startOperationsServer({
          ...options.metrics,
          metrics,
          ready: () => readiness(storage, stopping),
        })
  try {
    await app.listen({ host: options.host, port: options.port, listenTextResolver: () => '' })
  } catch (error) {
    await operations?.close()
    await verifier.close()
    metrics.close()
    throw error
  }
  const address = app.server.address()
  let closing: Promise<void> | undefined
  return {
    url: `${addressUrl(address)}${basePath}`,
    metricsUrl: operations === undefined ? undefined : `${addressUrl(operations.address)}/metrics`,
    publisher,
    close: () => (closing ??= shutDown()),
  }
}

/** Never set back, and the same in every thread. */
function steadyClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

async function readiness(storage: StorageEngine, stopping: boolean): Promise<boolean> {
  if (stopping) return false
  try {
    await storage.ping()
    return true
  } catch {
    return false
  }
}

/** An address somebody can open: a wildcard is shown as this machine's own. */
function addressUrl(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  const host =
    address.address === '0.0.0.0' ? '127.0.0.1' : address.address === '::' ? '::1' : address.address
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}
