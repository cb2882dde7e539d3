import { setTimeout as sleep } from 'node:timers/promises'
import { feeds } from '@property-events/protocol'
import type { Publisher } from '@property-events/server'
import { type LiveOptions, liveMarket } from './market/live-market.ts'
import { marketTenants } from './market/tenants.ts'

/** A change every second or two: enough to watch, and hardly any load. */
const shortestPauseMs = 500
const longestPauseMs = 2500

/** Keeps the demo market changing, until the signal. A change that cannot be stored is left out. */
export async function runLive(
  publisher: Publisher,
  market: Omit<LiveOptions, 'now'>,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  for (const change of liveMarket({ ...market, now: Date.now })) {
    const pauseMs = shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs)
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const tenantId = marketTenants[change.tenant]?.tenantId ?? ''
    const key = { tenantId, feed: feeds[change.feed].name }
    const text = JSON.stringify(change.body)
    try {
      await publisher.publish({
        key,
        body: Buffer.from(text),
        format: 'json',
        dryRun: false,
        unchanged: 'skip',
      })
    } catch (error) {
      if (signal.aborted) return
      say(`A live change could not be stored: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
