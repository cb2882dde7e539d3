/** The threads that serve, together: what each is given, where they listen, and what they answer in time. */
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ListenOptions } from '../http/prepare-service.ts'
import { bucketMemory } from '../http/token-bucket.ts'
import type { SharedSegmentFile } from '../pages/index.ts'
import type { ServingThreadData, ThreadAnswers } from './messages.ts'
import { startServingThread } from './serving-thread.ts'
import type { ServingThread } from './serving-thread.ts'
import type { ThreadedServiceOptions } from './threaded-service.ts'

/** How long a thread may take to say that it is awake, or what it has counted. */
const answerWithinMs = 2_000

/** How one more is started. Its pages come from `file`, if there is one. */
export function threadStarter(
  { workers, store, peppers, logLevel, pages, limits, trustedProxies }: ThreadedServiceOptions,
  basePath: string,
  file: SharedSegmentFile | undefined,
): () => Promise<ServingThread> {
  const buckets = { requests: bucketMemory(), failures: bucketMemory(), recentKeys: bucketMemory() }
  const memoryBytes = Math.floor(pages.memoryBytes / workers)
  return () => {
    const pass = store.pass()
    const shared = file?.pass()
    const data: ServingThreadData = {
      store: pass,
      peppers,
      logLevel,
      pages: { memoryBytes, folder: undefined, fileBytes: 0, shared },
      basePath,
      limits: limits ?? {},
      trustedProxies: trustedProxies ?? 0,
      buckets,
    }
    const writer = pass.kind === 'sqlite' ? [pass.writer] : []
    return startServingThread(data, shared === undefined ? writer : [...writer, shared.port])
  }
}

/** The first thread chooses the port, if none is given. */
export async function listenTogether(
  threads: readonly ServingThread[],
  { host, port }: ListenOptions,
): Promise<ThreadAnswers['listen']> {
  // A port that threads share could be shared with a stranger's program as well: one of its own is asked for first.
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

/** One that hangs would never be done, and one that has ended has nothing left to be closed. */
export async function closeThread(thread: ServingThread): Promise<void> {
  if (await isAwake(thread)) await thread.ask({ verb: 'close' }).catch(() => undefined)
  else await thread.terminate()
}

/** What is answered in time; `undefined` from a thread that hangs or has ended. */
export function soon<T>(answer: Promise<T>): Promise<T | undefined> {
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
