/** What an operator sees of webhooks: how tries end, and the endpoints that this node sends to. */
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { TryOutcome } from '../../webhooks/plan.ts'
import type { SendingCounts } from '../../webhooks/worker.ts'

export interface WebhookMetrics {
  tried(outcome: TryOutcome['kind']): void
  /** `counts` is asked at each scrape. */
  watch(counts: () => SendingCounts): void
}

export function webhookMetrics(register: Registry): WebhookMetrics {
  const registers = [register]
  const tries = new Counter({
    name: 'property_events_webhook_tries_total',
    help: 'Webhooks that were sent, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  let counts = (): SendingCounts => ({ endpoints: 0, failing: 0, underWay: 0 })
  const gauge = (name: string, help: string, of: keyof SendingCounts): void => {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(counts()[of]) })
  }
  gauge('property_events_webhook_endpoints', 'Endpoints that this node sends webhooks to.', 'endpoints')
  gauge(
    'property_events_webhook_endpoints_failing',
    'Those of them that fail: they are probed, and their cursor stands.',
    'failing',
  )
  gauge('property_events_webhook_tries_under_way', 'Webhooks that wait for their answer.', 'underWay')
  return {
    tried: (outcome) => tries.inc({ outcome }),
    watch: (given) => void (counts = given),
  }
}
