/** The lag of the event loop, which an alert is made of (docs/metrics.md). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createMetrics } from '../../src/serve/metrics/metrics.ts'
import { until } from '../support/until.ts'

describe('the lag of the event loop', () => {
  it('is how late the loop was: what it was held for, and nothing at rest', async () => {
    const metrics = createMetrics()
    const lag = async (): Promise<(what: string) => number> => {
      const { text } = await metrics.render()
      return (what) =>
        Number(new RegExp(`^nodejs_eventloop_lag_${what}_seconds (.+)$`, 'm').exec(text)?.[1] ?? NaN)
    }
    // Before the first look there is nothing, and Node says so with its greatest number.
    const atOnce = await lag()
    for (const what of ['min', 'max', 'mean', 'p50', 'p99']) assert.equal(atOnce(what), 0, what)

    // Each reading begins the measurement anew, with the second look after it.
    const atRest = async (): Promise<boolean> => {
      const now = await lag()
      return now('max') > 0 && now('p50') < 0.05
    }
    await until(atRest, { everyMs: 500 })

    const heldMs = 400
    await until(
      async () => {
        await delay(250)
        for (const startedMs = performance.now(); performance.now() - startedMs < heldMs;);
        await delay(0)
        // The loop may have been held shortly before the look that was due.
        return (await lag())('max') >= heldMs / 1_000 - 0.15
      },
      { what: 'the time for which the loop was held' },
    )
    await until(atRest, { everyMs: 500 })
    metrics.close()
  })
})
