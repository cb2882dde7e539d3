/** Keeps the market of a demo changing at a gentle pace, and stops before the store grows without end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { feeds } from '@property-events/protocol'
import type { Publisher, StorageEngine } from '@property-events/server'
import { liveMarket, mostDemoEvents, pauseMs } from './demo-data/live-market.ts'
import type { LiveOptions } from './demo-data/live-market.ts'
import type { MarketChange } from './demo-data/market-event.ts'
import { randomOf } from './demo-data/random.ts'
import { marketTenants } from './demo-data/tenants.ts'

/** Resolves after this many milliseconds, or when the signal is given. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

export const pauseByTimer: Pause = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined)

export interface LiveParts {
  readonly storage: { readonly events: Pick<StorageEngine['events'], 'head'> }
  readonly publisher: { publish(...request: Parameters<Publisher['publish']>): Promise<unknown> }
  readonly market: Omit<LiveOptions, 'now'>
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  /** Milliseconds since 1970; for tests. */
  readonly clock?: () => number
  /** For tests. */
  readonly pause?: Pause
  /** For tests. */
  readonly mostEvents?: number
}

/** Runs until the signal, or until the store has `mostEvents`. A change that cannot be stored is left out, and an outage is told once. Never rejects. */
export async function runLive(parts: LiveParts): Promise<void> {
  const { market, signal, say, clock = Date.now, pause = pauseByTimer } = parts
  const { mostEvents = mostDemoEvents } = parts
  const startMs = clock()
  const random = randomOf(`pace/${startMs}`)
  let changes: Generator<MarketChange> | undefined
  let left = 0
  /** Changes that could not be stored since the last one that was. */
  let lost = 0
  for (;;) {
    await pause(pauseMs(random, clock() - startMs), signal)
    if (signal.aborted) return
    try {
      if (left === 0) left = mostEvents - (await countEvents(parts.storage.events))
      if (left <= 0) {
        return say(
          `The market stops changing now: the store has ${mostEvents.toLocaleString('en')} events, the most that a demo keeps. Start a new one in another folder (--data).`,
        )
      }
      // Making the stories again takes some processor time, so it waits until the first answers have gone out.
      changes ??= liveMarket({ ...market, now: clock })
      const { value } = changes.next()
      if (value !== undefined) await publish(parts.publisher, value)
      left -= 1
      if (lost > 0) say(`Live changes are stored again; ${lost} could not be.`)
      lost = 0
    } catch (error) {
      if (signal.aborted) return
      // A line for each would fill the terminal of a demo that is left open.
      if (lost === 0) {
        say(`A live change could not be stored: ${error instanceof Error ? error.message : String(error)}`)
      }
      lost += 1
    }
  }
}

async function countEvents(events: LiveParts['storage']['events']): Promise<number> {
  const heads = await Promise.all(
    marketTenants.map(({ tenantId }) => events.head({ tenantId, feed: 'property' })),
  )
  return heads.reduce((sum, head) => sum + (head?.position ?? 0), 0)
}

async function publish(
  publisher: LiveParts['publisher'],
  { tenant, feed, body }: MarketChange,
): Promise<void> {
  const tenantId = marketTenants[tenant]?.tenantId ?? ''
  await publisher.publish({
    key: { tenantId, feed: feeds[feed].name },
    body: Buffer.from(JSON.stringify(body)),
    format: 'json',
    dryRun: false,
    unchanged: 'skip',
  })
}
