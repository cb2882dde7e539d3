/** The serving threads together: the data that each receives, the address that they listen on, and their answers within a time limit. */
import { noRetention } from '../feed/retention-rules.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import type { ListenOptions } from '../http/prepare-service.ts'
import { storeFindings } from '../http/recent-findings.ts'
import { mustBeFree } from '../http/transport/listening.ts'
import { bucketMemory, requestMemory } from '../http/bucket-words.ts'
import type { OutageMemories } from '../observability/outages.ts'
import type { SharedSegmentFile } from '../pages/index.ts'
import type { ServingThreadData, ThreadAnswers } from './messages.ts'
import { startServingThread } from './serving-thread.ts'
import type { ServingThread } from './serving-thread.ts'
import { addingOfAll } from './adding-readings.ts'
import { soon } from './soon.ts'
import type { ThreadedServiceOptions } from './threaded-service.ts'

interface SharedParts {
  readonly node: SharedArrayBuffer
  readonly outages: OutageMemories
  readonly counts: NodeCounts
  /** The threads that have been started. */
  readonly threads: readonly ServingThread[]
}

/** Starts one more of `threads`. Its pages come from `file`, if there is one. */
export function threadStarter(
  options: ThreadedServiceOptions,
  basePath: string,
  file: SharedSegmentFile | undefined,
  { node, outages, counts, threads }: SharedParts,
): () => Promise<ServingThread> {
  const { workers, store, peppers, logLevel, logForm = 'json', pages } = options
  const shared = { requests: requestMemory(), failures: bucketMemory(), node }
  const findings = options.findings ?? (() => storeFindings(store.storage))
  const answers = { findings, addAllReadings: addingOfAll(threads) }
  const memoryBytes = Math.floor(pages.memoryBytes / workers)
  return () => {
    const pass = store.pass()
    const segments = file?.pass()
    const data: ServingThreadData = {
      store: pass,
      peppers,
      logLevel,
      logForm,
      pages: { memoryBytes, folder: undefined, fileBytes: 0, shared: segments },
      basePath,
      limits: options.limits ?? {},
      trustedProxies: options.trustedProxies ?? 0,
      plainConnections: options.plainConnections ?? true,
      deprecations: options.deprecations ?? {},
      pictures: options.pictures ?? false,
      retention: options.retention ?? noRetention,
      testKeys: options.testKeys ?? false,
      console: options.console,
      corsOrigins: options.corsOrigins ?? [],
      exportsTenants: options.exportTenant !== undefined,
      shownSettings: options.shownSettings ?? [],
      shared,
      outages,
      counts,
    }
    const writer = pass.kind === 'sqlite' ? [pass.writer] : []
    return startServingThread(data, segments === undefined ? writer : [...writer, segments.port], answers)
  }
}

/** The first thread chooses the port, if none is given. */
export async function listenTogether(
  threads: readonly ServingThread[],
  { host, port }: ListenOptions,
): Promise<ThreadAnswers['listen']> {
  // Another program could share a shared port too, so the first thread asks for a port of its own.
  if (port !== 0) await mustBeFree({ host, port })
  const [first, ...rest] = threads
  if (first === undefined) throw new RangeError('a service needs a thread that serves')
  const address = await first.ask({ verb: 'listen', host, port })
  await Promise.all(rest.map((thread) => thread.ask({ verb: 'listen', host, port: address.port })))
  return address
}

export async function isAwake(thread: ServingThread): Promise<boolean> {
  return (await soon(thread.ask({ verb: 'awake' }))) === true
}

/** A thread that hangs would never finish, and one that has ended needs no closing. */
export async function closeThread(thread: ServingThread): Promise<void> {
  if (await isAwake(thread)) await thread.ask({ verb: 'close' }).catch(() => undefined)
  else await thread.terminate()
}
