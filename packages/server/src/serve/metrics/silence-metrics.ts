/** Shows how many publishers are silent and how many consumers have stalled, and which have been silent for longest. */
import { setTimeout as delay } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { TaskReport } from '../../runtime/background-task.ts'
import type { Presence, SilenceStore } from '../../consumers/silence/silence.ts'
import { namesShown } from '../../runtime/metrics/top-counter.ts'
import { reported } from '../../runtime/background-task.ts'

type Store = Pick<SilenceStore, 'silent' | 'countSilent'>

/** The values come from the store, so all nodes show the same. There are none while it does not answer. */
export function addSilenceGauges(register: Registry, store: Store, report: TaskReport): void {
  const count = askedOnce(() => store.countSilent(), report)
  const counts: Gauge<'of'> = new Gauge({
    name: 'property_events_silent',
    help: 'How many publishers and consumers have been silent for longer than is expected of them.',
    labelNames: ['of'],
    registers: [register],
    async collect() {
      const found = await count()
      counts.reset()
      if (found === undefined) return
      counts.set({ of: 'publisher' }, found.publishers)
      counts.set({ of: 'consumer' }, found.consumers)
    },
  })
  addLongest(
    register,
    askedOnce(() => store.silent(namesShown), report),
  )
}

/** Of both kinds together, no more than other metrics have labels. */
function addLongest(register: Registry, ask: () => Promise<readonly Presence[] | undefined>): void {
  const publishers: Gauge<'tenant' | 'feed'> = new Gauge({
    name: 'property_events_publisher_silent_seconds',
    help: 'For how long nothing was published to a feed, of the 20 publishers and consumers that are silent for longest.',
    labelNames: ['tenant', 'feed'],
    registers: [register],
    async collect() {
      const found = await ask()
      publishers.reset()
      for (const { name, silentMs } of found ?? []) {
        if (name.kind === 'publisher')
          publishers.set({ tenant: name.tenantId, feed: name.feed }, secondsSince(silentMs))
      }
    },
  })
  const consumers: Gauge<'key' | 'consumer'> = new Gauge({
    name: 'property_events_consumer_stalled_seconds',
    help: 'For how long a consumer has not asked, of the 20 publishers and consumers that are silent for longest.',
    labelNames: ['key', 'consumer'],
    registers: [register],
    async collect() {
      const found = await ask()
      consumers.reset()
      for (const { name, silentMs } of found ?? []) {
        if (name.kind === 'consumer')
          consumers.set({ key: name.keyId, consumer: name.name }, secondsSince(silentMs))
      }
    },
  })
}

function secondsSince(ms: number | undefined): number {
  return Math.max(0, Math.round((Date.now() - (ms ?? 0)) / 1_000))
}

/** Prometheus gives up after 10 s by default. */
const patienceMs = 2_000

/** Asks one question at a time. Callers that ask meanwhile share its answer; `undefined`: none came in time. Never rejects. */
export function askedOnce<T>(ask: () => Promise<T>, report: TaskReport): () => Promise<T | undefined> {
  let asking: Promise<T | undefined> | undefined
  return async () => {
    asking ??= reported(report, 'measure_store', ask()).finally(() => (asking = undefined))
    const patience = new AbortController()
    const { signal } = patience
    const late = delay(patienceMs, undefined, { signal, ref: false }).catch(() => undefined)
    return Promise.race([asking, late]).finally(() => patience.abort())
  }
}
