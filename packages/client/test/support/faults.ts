/** A network that fails: a `fetch` in front of another that cuts, stalls, truncates, repeats and refuses. */
import { pick } from './random.ts'
import type { Random } from './random.ts'

export const faultKinds = ['reset', 'cut', 'truncate', 'stall', 'repeat', 'rate', 'unavailable'] as const
export type FaultKind = (typeof faultKinds)[number]

export interface Faults {
  readonly random: Random
  /** Share of the requests that fail, from 0 to 1. */
  readonly share: number
  /** Kinds that do not occur. */
  readonly without?: readonly FaultKind[]
}

export function withFaults(inner: typeof globalThis.fetch, faults: Faults): typeof globalThis.fetch {
  const { random, share, without = [] } = faults
  const kinds = faultKinds.filter((kind) => !without.includes(kind))
  return async (input, init) => {
    if (random() >= share) return inner(input, init)
    const kind = kinds[pick(random, kinds.length)] ?? 'reset'
    if (kind === 'reset') throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
    if (kind === 'rate') return new Response('{}', { status: 429, headers: { 'retry-after': '0' } })
    if (kind === 'unavailable') return new Response('<html>Bad gateway</html>', { status: 503 })
    const first = await inner(input, init)
    if (kind !== 'repeat') return broken(first, kind, random, init?.signal ?? undefined)
    await first.arrayBuffer()
    return inner(input, init)
  }
}

/** The first part of the body, and then an error, an early end, or nothing until the caller gives up. */
async function broken(
  response: Response,
  kind: 'cut' | 'truncate' | 'stall',
  random: Random,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const part = bytes.slice(0, pick(random, bytes.length))
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(part)
      if (kind === 'truncate') controller.close()
      if (kind === 'stall' && signal?.aborted === true) controller.error(signal.reason)
      else if (kind === 'stall') {
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
      }
    },
    pull(controller) {
      // What was sent before the cut arrives first, as on a real connection.
      if (kind === 'cut') controller.error(new TypeError('terminated'))
      return kind === 'stall' ? new Promise(() => undefined) : undefined
    },
  })
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  return new Response(body, { status: response.status, headers })
}
