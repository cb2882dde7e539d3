/** The receiver process on the load's core, and what it has seen. */
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { loadCore, spawnPinned, stop } from '../support/pinned.ts'
import { firstLine, usageOfTrees } from '../support/server.ts'
import type { RunningServer, Usage } from '../support/server.ts'
import type { LoadFigures } from '../support/wrk.ts'

/** A message as it came. */
export interface Sample {
  readonly endpoint: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Seen {
  /** Without those of tarpits. */
  readonly messages: number
  readonly bytes: number
  /** Since its start. */
  readonly tarpitMessages: number
  readonly samples: readonly Sample[]
  /** From the moment an event was due until its first arrival at each endpoint. */
  readonly timesMs: readonly number[]
  /** How many different ids came to each endpoint. */
  readonly distinct: readonly (readonly [endpoint: number, ids: number])[]
}

export interface WebhookReceiver extends RunningServer {
  counts(): Promise<Pick<Seen, 'messages' | 'bytes'>>
  seen(): Promise<Seen>
  forget(): Promise<void>
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const program = join(import.meta.dirname, '../load/webhook-receiver.ts')
  const child = spawnPinned(loadCore, process.execPath, [program])
  const url = await firstLine(child)
  child.stderr?.pipe(process.stderr)
  const ask = async (query: string) => (await fetch(`${url}/seen${query}`)).json()
  return {
    url,
    ...usageOfTrees(() => [child.pid ?? 0]),
    counts: () => ask('') as Promise<Seen>,
    seen: () => ask('?whole') as Promise<Seen>,
    async forget() {
      await fetch(`${url}/forget`, { method: 'POST' })
    },
    [Symbol.asyncDispose]: () => stop(child),
  }
}

/** Of every sample, by a library that is not ours. */
export function verifySamples(samples: readonly Sample[], secretOf: (endpoint: number) => string): void {
  if (samples.length === 0) throw new Error('no message was kept to be verified')
  for (const { endpoint, headers, body } of samples) {
    new Webhook(secretOf(endpoint)).verify(body, { ...headers })
  }
}

/** Every endpoint has had as many different events as there are for it. */
export function checkArrived({ distinct }: Seen, expected: readonly number[]): void {
  const counts = new Map(distinct)
  const wrong = expected.flatMap((events, endpoint) => {
    const came = counts.get(endpoint) ?? 0
    return came === events ? [] : [`${came} of ${events} events came to endpoint ${endpoint}`]
  })
  if (wrong.length > 0) throw new Error(`${wrong.length} endpoints lack events: ${wrong[0]}`)
}

const lookEveryMs = 50
const longestMs = 180_000

/** Looks until so many messages have come. */
export async function untilMessages(receiver: WebhookReceiver, messages: number): Promise<void> {
  const beganMs = performance.now()
  for (;;) {
    const seen = await receiver.counts()
    if (seen.messages >= messages) return
    if (performance.now() - beganMs > longestMs)
      throw new Error(`only ${seen.messages} of ${messages} messages came in ${longestMs / 1_000} s`)
    await delay(lookEveryMs)
  }
}

/** The rate at which messages come while something is waited for, and what their sender uses. */
export async function ratesDuring(
  receiver: WebhookReceiver,
  sender: Usage,
  waited: () => Promise<void>,
): Promise<LoadFigures> {
  const [before, beganMs, beganS] = [await receiver.counts(), performance.now(), sender.cpuS()]
  await waited()
  const [after, endMs, endS] = [await receiver.counts(), performance.now(), sender.cpuS()]
  const [came, seconds] = [after.messages - before.messages, (endMs - beganMs) / 1_000]
  return {
    requestsPerSecond: came / seconds,
    megabytesPerSecond: (after.bytes - before.bytes) / seconds / 1e6,
    p50Ms: 0,
    p99Ms: 0,
    errors: 0,
    cpuMicrosecondsPerRequest: ((endS - beganS) / came) * 1e6,
    memoryMiB: sender.memoryMiB(),
  }
}
