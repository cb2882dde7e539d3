/** One request of a client that follows the documents: what it takes for an answer, and what it tries again. */
import type { Interval } from './record.ts'
import type { ServiceNode } from './service-nodes.ts'

export interface Request {
  readonly path: string
  readonly key: string
  readonly body?: string
  /** Sent as `x-feed-min-sequence`. */
  readonly minimum?: number | undefined
}

export interface Reply extends Interval {
  readonly status: number
  readonly text: string
  /** `x-feed-head`, 0 where it was not sent. */
  readonly head: number
}

/** Long enough for a busy machine, short enough that a client asks another node while one is stopped. */
const patienceMs = 8_000

/** Statuses after which the same request is to be sent again; so is one without an answer (README, PROTOCOL §7). */
export const passing: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/** Undefined when there was no answer, or none that was whole. */
export async function ask(node: ServiceNode, request: Request): Promise<Reply | undefined> {
  const { path, key, body, minimum } = request
  const startedMs = performance.now()
  try {
    const response = await fetch(`${node.url()}${path}`, {
      headers: {
        'x-api-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(minimum === undefined ? {} : { 'x-feed-min-sequence': String(minimum) }),
      },
      ...(body === undefined ? {} : { method: 'POST', body }),
      signal: AbortSignal.timeout(patienceMs),
    })
    const text = await response.text()
    const head = Number(response.headers.get('x-feed-head') ?? 0)
    return { status: response.status, text, head, startedMs, endedMs: performance.now() }
  } catch {
    return undefined
  }
}

/** A status that is neither what was hoped for nor one that passes. */
export function refusal(node: ServiceNode, request: Request, { status, text }: Reply): string {
  return `${node.name} answered ${request.path} with ${status} ${text.slice(0, 300)}`
}
