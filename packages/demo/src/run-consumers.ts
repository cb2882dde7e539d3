/** Reads the feeds of a demo as its consumers do, over HTTP like anybody else. */
import { AccessError, createClient } from '@property-events/client'
import type { Client, EventRun } from '@property-events/client'
import type { StorageEngine } from '@property-events/server'
import type { KeyedConsumer } from './consumers.ts'
import { siteResult } from './demo-data/site-result.ts'
import { pauseByTimer } from './run-live.ts'
import type { Pause } from './run-live.ts'

export interface ConsumersParts {
  /** The address of the service. */
  readonly url: string
  readonly storage: { readonly consumers: Pick<StorageEngine['consumers'], 'acknowledgements' | 'readings'> }
  readonly consumers: readonly KeyedConsumer[]
  readonly signal: AbortSignal
  /** For tests. */
  readonly pause?: Pause
}

/** Small pages with a rest between them: the person who started the demo comes first. */
const pageEvents = 200
const restMs = 50
const waitSeconds = 25
/** When a consumer whose key has ended, or whose service is away, tries again. */
const againMs = 60_000

/** Runs until the signal. The consumers first catch up one after the other, then each follows by itself. Never rejects. */
export async function runConsumers(parts: ConsumersParts): Promise<void> {
  const { consumers, signal, pause = pauseByTimer } = parts
  const running: Promise<void>[] = []
  for (const consumer of consumers) {
    if (signal.aborted) break
    const one = new AbortController()
    const caughtUp = new Promise<void>((resolve) => {
      one.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    running.push(runConsumer(parts, consumer, pause, () => one.abort()).finally(() => one.abort()))
    await caughtUp
  }
  await Promise.all(running)
}

async function runConsumer(
  parts: ConsumersParts,
  consumer: KeyedConsumer,
  pause: Pause,
  onCaughtUp: () => void,
): Promise<void> {
  const { url, signal } = parts
  const client = createClient({ baseUrl: url, key: consumer.key, retry: { attempts: 1 } })
  let after: number | undefined
  while (!signal.aborted) {
    try {
      after ??= await startOf(parts, consumer)
      if (after === undefined) return
      const run = await readOn(client, consumer, after, signal)
      after = run.next
      const isAtEnd = run.next >= run.head
      if (isAtEnd) onCaughtUp()
      if (isAtEnd && consumer.habit === 'stopped') return
      if (!isAtEnd) await pause(restMs, signal)
    } catch (error) {
      if (signal.aborted) return
      onCaughtUp()
      // A service that was restored has other numbers: it reads from the beginning.
      if (!(error instanceof AccessError)) after = undefined
      await pause(againMs, signal)
    }
  }
}

/** Where it goes on; `undefined`: it has stopped. */
async function startOf(
  { storage: { consumers } }: ConsumersParts,
  { tenantId, keyId, habit }: KeyedConsumer,
): Promise<number | undefined> {
  const key = { tenantId, feed: 'property' } as const
  const ofThis = (one: { readonly keyId: string }): boolean => one.keyId === keyId
  if (habit === 'stopped') return (await consumers.readings(key)).some(ofThis) ? undefined : 0
  return (await consumers.acknowledgements(key)).find(ofThis)?.sequenceNumber ?? 0
}

/** One request, and what follows from its answer. */
async function readOn(
  client: Client,
  { habit }: KeyedConsumer,
  after: number,
  signal: AbortSignal,
): Promise<EventRun> {
  const apiEventType = habit === 'lettings' ? 'lettingsproperty' : undefined
  const run = await client.after({ after, limit: pageEvents, apiEventType, wait: waitSeconds }, { signal })
  if (run.next === after) return run
  if (habit === 'reports') {
    const results = run.items.flatMap((event) => siteResult(event) ?? [])
    if (results.length > 0) await client.report(results, { signal })
  }
  if (habit !== 'stopped') {
    await client.acknowledge({ sequenceNumber: run.next, epoch: run.epoch }, { signal })
  }
  return run
}
