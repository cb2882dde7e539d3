/** `/metrics`, `/slowest`, `/livez` and `/readyz`, on a separate port so that the public one never shows them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { problems, success } from '../http/problem/problem.ts'
import { listenOn } from '../http/transport/listening.ts'
import type { ListenOptions } from '../http/transport/listening.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { createServer } from '../runtime/node-http.ts'
import type { Metrics } from './metrics/metrics.ts'
import { versionHeaders } from '../runtime/version.ts'
import type { SlowRequest } from './metrics/slowest-requests.ts'
import { pepperFit, readPepperUse } from '../keys/pepper-fit.ts'
import type { Pepper } from '../keys/pepper.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { EpochNeed } from '../events/epochs.ts'

interface OperationsServerOptions extends ListenOptions {
  readonly render: Metrics['render']
  /** The slowest requests of the last minutes. */
  readonly slowest: () => readonly SlowRequest[]
  /** Whether traffic should be sent to this node. */
  readonly readiness: () => Promise<Readiness>
  /** Reports when one of them could not be answered. */
  readonly report: TaskReport
}

interface OperationsServer {
  readonly address: AddressInfo
  close(): Promise<void>
}

/** Each connection takes a descriptor, of which few are kept for this port. Further connections are closed without an answer. */
const mostConnections = 32

export async function startOperationsServer(options: OperationsServerOptions): Promise<OperationsServer> {
  const server = createServer(
    { requestTimeout: 5_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 },
    (request, response) => {
      void answer(options, request, response).catch((error: unknown) => {
        options.report.failed('answer_operator', error)
        response.destroy()
      })
    },
  )
  server.maxConnections = mostConnections
  // As for the service: a client may close its side once its request is sent.
  Object.assign(server, { httpAllowHalfOpen: true })
  const { host, port } = options
  const address = await listenOn(server, { host, port })
  return {
    address,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const plainText = 'text/plain; charset=utf-8'

async function answer(
  { render, slowest, readiness }: OperationsServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (
    status: number,
    text: string,
    contentType = plainText,
    headers: Record<string, string> = {},
  ) => {
    const common = { 'content-type': contentType, 'cache-control': 'no-store', ...versionHeaders }
    response.writeHead(status, { ...common, ...headers })
    response.end(request.method === 'HEAD' ? undefined : text)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(problems.method_not_allowed.status, 'Use GET.\n', plainText, { allow: 'GET, HEAD' })
    return
  }
  const [path = ''] = (request.url ?? '').split('?', 1)
  switch (path) {
    case '/metrics': {
      const { contentType, text } = await render()
      send(success.ok, text, contentType)
      return
    }
    case '/slowest':
      send(success.ok, `${JSON.stringify({ requests: slowest() }, null, 2)}\n`, 'application/json')
      return
    case '/livez':
      // The answer itself shows that the process serves.
      send(success.ok, 'ok\n')
      return
    case '/readyz': {
      const { ready, words } = await readiness()
      send(ready ? success.ok : problems.storage_unavailable.status, `${words}\n`)
      return
    }
    default:
      send(problems.path_not_found.status, 'There are /metrics, /slowest, /livez and /readyz.\n')
  }
}

/** The answer of `/readyz`: whether this node should receive traffic, in a few words for people. */
interface Readiness {
  readonly ready: boolean
  /** The body of the answer, without a line feed. */
  readonly words: string
}

export const stoppingReadiness: Readiness = { ready: false, words: 'stopping' }
const unansweredReadiness: Readiness = { ready: false, words: 'not ready' }

/** No key works here, so every request would be refused as if its key were wrong (D11). */
const unfitReadiness: Readiness = { ready: false, words: 'wrong pepper' }

/** Reading continues, and every other node refuses publications as well. */
const maintenanceReadiness: Readiness = { ready: true, words: 'maintenance' }

/** A node that can be read but not published to is ready: reading continues, and no other node could accept publications either (D13). */
const wordsByNeed: Readonly<Record<EpochNeed, string>> = {
  none: 'ok',
  some: 'partly read only',
  all: 'read only',
}

/** Never rejects. */
export async function storeReadiness(
  storage: Pick<StorageEngine, 'ping' | 'epochNeed' | 'maintenance' | 'keys' | 'nodes'>,
  peppers: readonly Pepper[],
): Promise<Readiness> {
  try {
    await storage.ping()
    if (pepperFit(peppers, await readPepperUse(storage)) === 'none') return unfitReadiness
    if ((await storage.maintenance()) !== undefined) return maintenanceReadiness
    return { ready: true, words: wordsByNeed[await storage.epochNeed()] }
  } catch {
    return unansweredReadiness
  }
}
