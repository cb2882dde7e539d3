/** What tests of following share: a client with short pauses, and a reader that takes so many events. */
import { setTimeout as delay } from 'node:timers/promises'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { AbortedError, createClient } from '../../src/index.ts'
import type { Client, ClientOptions, FollowedEvent } from '../../src/index.ts'

/** No pause is longer than this. */
const longestPauseMs = 10

/** Sleeps as it is told to, but never for long. */
export async function sleepBriefly(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(Math.min(ms, longestPauseMs), undefined, signal === undefined ? {} : { signal })
  } catch (cause) {
    throw new AbortedError({ cause })
  }
}

export function clientOf(
  service: Pick<TestService, 'url' | 'tenant'>,
  options: Partial<ClientOptions> = {},
): Client {
  return createClient({ baseUrl: service.url, key: service.tenant.readKey, sleep: sleepBriefly, ...options })
}

/** The first so many events; leaves the loop then. */
export async function take(
  events: AsyncIterable<FollowedEvent>,
  count: number,
): Promise<readonly FollowedEvent[]> {
  const taken: FollowedEvent[] = []
  if (count === 0) return taken
  for await (const event of events) {
    taken.push(event)
    if (taken.length === count) break
  }
  return taken
}

export function numbersOf(events: readonly { readonly sequenceNumber: number }[]): readonly number[] {
  return events.map(({ sequenceNumber }) => sequenceNumber)
}

/** The path and query of each request, and how many pieces of its answer were taken. */
export interface Seen {
  readonly path: string
  bytes: number
  isClosed: boolean
}

/** `fetch`, with what goes through it written down. */
export function watched(inner: typeof fetch = fetch): {
  readonly fetch: typeof fetch
  readonly seen: readonly Seen[]
} {
  const seen: Seen[] = []
  return {
    seen,
    async fetch(input, init) {
      const url = new URL(input instanceof Request ? input.url : input)
      const one: Seen = { path: `${url.pathname}${url.search}`, bytes: 0, isClosed: false }
      seen.push(one)
      init?.signal?.addEventListener('abort', () => (one.isClosed = true), { once: true })
      const answer = await inner(input, init)
      const reader = answer.body?.getReader()
      if (reader === undefined) return answer
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            try {
              const { done, value } = await reader.read()
              if (done) {
                one.isClosed = true
                controller.close()
                return
              }
              one.bytes += value.length
              controller.enqueue(value)
            } catch (error) {
              one.isClosed = true
              controller.error(error)
            }
          },
          cancel(reason) {
            one.isClosed = true
            return reader.cancel(reason)
          },
        },
        { highWaterMark: 0 },
      )
      return new Response(body, { status: answer.status, headers: answer.headers })
    },
  }
}
