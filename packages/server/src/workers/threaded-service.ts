/**
 * A service on several threads: each serves the whole of HTTP and reads by itself, one writes for all of them, and this
 * one holds what there is once: the port, the file of sealed pages, the metrics, and the end (docs/decisions/0008).
 */
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { forgetSkippedIds } from '../feed/forgetting.ts'
import { createPublisher } from '../feed/publish.ts'
import { normalBasePath } from '../http/target.ts'
import { addressUrl } from '../http/prepare-service.ts'
import type { ListenOptions } from '../http/prepare-service.ts'
import type { Service } from '../http/service.ts'
import type { ServiceLimits } from '../http/limits.ts'
import { bucketMemory } from '../http/token-bucket.ts'
import { announceNode } from '../keys/announce-node.ts'
import type { Pepper } from '../keys/index.ts'
import type { LogLevel } from '../observability/log.ts'
import { createMetrics, renderTogether } from '../observability/metrics.ts'
import type { MetricValues } from '../observability/metrics.ts'
import { startOperationsServer } from '../observability/operations-server.ts'
import { stoppingReadiness, storeReadiness, unansweredReadiness } from '../observability/readiness.ts'
import { sharedPagesFile } from '../pages/index.ts'
import type { SealedPagesOptions } from '../pages/index.ts'
import type { SharedStorage } from '../storage/open-storage.ts'
import type { ServingThreadData } from './messages.ts'
import { startServingThread } from './serving-thread.ts'
import type { ServingThread } from './serving-thread.ts'

export interface ThreadedServiceOptions extends ListenOptions {
  readonly workers: number
  /** Stays open when the service closes: whoever opened it closes it. */
  readonly store: SharedStorage
  readonly peppers: readonly Pepper[]
  readonly logLevel: LogLevel
  readonly metrics: ListenOptions | undefined
  /** Of all threads together. */
  readonly pages: Omit<SealedPagesOptions, 'shared'>
  readonly basePath?: string
  readonly limits?: Partial<ServiceLimits>
  readonly trustedProxies?: number
}

export interface ThreadedService extends Service {
  /** Resolves when a thread has ended although nobody closed the service, with the error that ended it. */
  readonly broken: Promise<Error>
}

/** How long a thread may take to say that it is awake, or what it has counted. */
const answerWithinMs = 2_000

/** Rejects with the system's error when an address cannot be listened on; `ENOTSUP`: threads cannot share a port here. */
export async function createThreadedService(options: ThreadedServiceOptions): Promise<ThreadedService> {
  const { workers, store, host, port } = options
  const { storage } = store
  const basePath = normalBasePath(options.basePath ?? '')
  if (basePath === undefined)
    throw new TypeError(`${JSON.stringify(options.basePath)} is no path such as /feed.`)
  const { folder, memoryBytes, fileBytes } = options.pages
  const file = folder === undefined ? undefined : sharedPagesFile(folder, fileBytes, workers)
  const buckets = { requests: bucketMemory(), failures: bucketMemory(), recentKeys: bucketMemory() }
  const metrics = createMetrics()
  metrics.watchSnapshots(() => storage.heldSnapshots())
  const publisher = createPublisher({
    events: storage.events,
    catalogue: storage.settings.catalogue,
    ...(options.limits?.publication === undefined ? {} : { limits: options.limits.publication }),
    onStored: (key, events) => metrics.stored(key.feed, events),
  })
  metrics.watchQueue(() => publisher.queueState())

  function startThread(): Promise<ServingThread> {
    const pass = store.pass()
    const shared = file?.pass()
    const data: ServingThreadData = {
      store: pass,
      peppers: options.peppers,
      logLevel: options.logLevel,
      pages: { memoryBytes: Math.floor(memoryBytes / workers), folder: undefined, fileBytes: 0, shared },
      basePath: basePath ?? '',
      limits: options.limits ?? {},
      trustedProxies: options.trustedProxies ?? 0,
      buckets,
    }
    const ports = [
      ...(pass.kind === 'sqlite' ? [pass.writer] : []),
      ...(shared === undefined ? [] : [shared.port]),
    ]
    return startServingThread(data, ports)
  }

  // What each thread said last: counters that fell because one is late would look like a new start.
  const counted = new Map<ServingThread, MetricValues>()
  async function count(thread: ServingThread): Promise<void> {
    counted.set(thread, await thread.ask({ verb: 'values' }))
  }

  const threads: ServingThread[] = []
  const open: { close(): Promise<void> }[] = []
  const abandon = async (): Promise<void> => {
    await Promise.allSettled(threads.map((thread) => thread.terminate()))
    await Promise.allSettled(open.map((part) => part.close()))
    file?.close()
    metrics.close()
  }

  try {
    const started = await Promise.allSettled(Array.from({ length: workers }, startThread))
    for (const one of started) if (one.status === 'fulfilled') threads.push(one.value)
    for (const one of started) if (one.status === 'rejected') throw one.reason
    let draining = false
    let closing: Promise<void> | undefined

    const operations =
      options.metrics === undefined
        ? undefined
        : await startOperationsServer({
            ...options.metrics,
            async render() {
              await Promise.all(threads.map((thread) => soon(count(thread))))
              return renderTogether(await metrics.values(), [...counted.values()])
            },
            async alive() {
              return (await Promise.all(threads.map(isAwake))).every((awake) => awake)
            },
            async readiness() {
              if (draining || closing !== undefined) return stoppingReadiness
              const own = soon(storeReadiness(storage, options.peppers))
              const said = threads.map((thread) => soon(thread.ask({ verb: 'answers' })))
              const all = (await Promise.all(said)).every((answer) => answer === true)
              return (all ? await own : undefined) ?? unansweredReadiness
            },
          })
    if (operations !== undefined) open.push(operations)

    // A port that threads share could be shared with a stranger's program as well: one of its own is asked for first.
    if (port !== 0) await mustBeFree({ host, port })
    const [first, ...rest] = threads
    if (first === undefined) throw new RangeError('a service needs a thread that serves')
    const address = await first.ask({ verb: 'listen', host, port })
    await Promise.all(rest.map((thread) => thread.ask({ verb: 'listen', host, port: address.port })))

    const broken = Promise.withResolvers<Error>()
    const watchOver = async (thread: ServingThread): Promise<void> => {
      const cause = await thread.ended
      if (closing === undefined) broken.resolve(cause ?? new Error('it ended by itself'))
    }
    for (const thread of threads) void watchOver(thread)

    const forgetting = forgetSkippedIds(storage)
    const announcing = await announceNode(storage.nodes, options.peppers)
    const shutDown = async (): Promise<void> => {
      await Promise.all(threads.map(closeThread))
      await Promise.all(threads.map((thread) => thread.ended))
      await publisher.drained()
      await forgetting.close()
      await announcing.close()
      file?.close()
      await operations?.close()
      metrics.close()
    }
    return {
      url: address.url,
      metricsUrl: operations === undefined ? undefined : `${addressUrl(operations.address)}/metrics`,
      publisher,
      broken: broken.promise,
      async drain() {
        draining = true
        await Promise.all(threads.map((thread) => soon(thread.ask({ verb: 'drain' }))))
      },
      close() {
        closing ??= Promise.resolve().then(shutDown)
        return closing
      },
    }
  } catch (error) {
    await abandon()
    throw error
  }
}

async function isAwake(thread: ServingThread): Promise<boolean> {
  return (await soon(thread.ask({ verb: 'awake' }))) === true
}

/** One that hangs would never be done, and one that has ended has nothing left to be closed. */
async function closeThread(thread: ServingThread): Promise<void> {
  if (await isAwake(thread)) await thread.ask({ verb: 'close' }).catch(() => undefined)
  else await thread.terminate()
}

/** What is answered in time; `undefined` from a thread that hangs or has ended. */
function soon<T>(answer: Promise<T>): Promise<T | undefined> {
  const patience = new AbortController()
  const late = delay(answerWithinMs, undefined, { signal: patience.signal }).catch(() => undefined)
  return Promise.race([answer.catch(() => undefined), late]).finally(() => patience.abort())
}

function mustBeFree({ host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port }, () => server.close(() => resolve()))
  })
}
