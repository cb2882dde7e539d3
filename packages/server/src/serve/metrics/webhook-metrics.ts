/** What an operator sees of webhooks: how tries end, and the endpoints that this node sends to. */
import { Counter, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'
import { addGauge } from './asked-gauge.ts'
import type { TryOutcome } from '../../webhooks/plan.ts'
import type { SendingCounts } from '../../webhooks/worker.ts'

export interface WebhookMetrics {
  /** `waitedMs`: from the commit of an event until it was posted for the first time; `undefined`: it was another try. */
  tried(outcome: TryOutcome['kind'], waitedMs: number | undefined): void
  /** `counts` is asked at each scrape. */
  watch(counts: () => SendingCounts): void
}

/** In seconds. The aim is half a second; minutes are of a receiver that failed, or of a replay. */
const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600]

export function webhookMetrics(register: Registry): WebhookMetrics {
  const registers = [register]
  const tries = new Counter({
    name: 'property_events_webhook_tries_total',
    help: 'Webhooks that were sent, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const waits = new Histogram({
    name: 'property_events_webhook_first_try_seconds',
    help: 'Time from the commit of an event until it was first posted to a webhook.',
    buckets,
    registers,
  })
  let counts = (): SendingCounts => ({ endpoints: 0, failing: 0, underWay: 0 })
  const gauge = (name: string, help: string, of: keyof SendingCounts): void => {
    addGauge(register, { name, help }, () => counts()[of])
  }
  gauge('property_events_webhook_endpoints', 'Endpoints that this node sends webhooks to.', 'endpoints')
  gauge(
    'property_events_webhook_endpoints_failing',
    'Those of them that fail: they are probed, and their cursor stands.',
    'failing',
  )
  gauge('property_events_webhook_tries_under_way', 'Webhooks that wait for their answer.', 'underWay')
  return {
    tried(outcome, waitedMs) {
      tries.inc({ outcome })
      if (waitedMs !== undefined) waits.observe(Math.max(0, waitedMs) / 1_000)
    },
    watch: (given) => void (counts = given),
  }
}
