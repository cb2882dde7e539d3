/** Metrics of the store: how long requests wait for it, what was retried, and its state. */
import { setTimeout as delay } from 'node:timers/promises'
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { TaskReport } from '../../runtime/background-task.ts'
import { reported } from '../../runtime/background-task.ts'
import type { StorageEngine } from '../../store/storage.ts'
import type { HeldSnapshot, StoreObserver, StoreWork } from '../../sql/store-observer.ts'
import type { EpochNeed } from '../../events/epochs.ts'
import type { MetricJson } from '../../runtime/metrics/own-histogram.ts'
import { ownHistogram } from '../../runtime/metrics/own-histogram.ts'
import type { Presence, SilenceStore } from '../../consumers/silence/silence.ts'
import { namesShown } from '../../runtime/metrics/top-counter.ts'

export interface StoreMetrics extends Pick<StoreObserver, 'waited' | 'retried'> {
  /** Sets the function that returns, at each scrape, what an engine of a thread is doing. */
  watchWork(work: () => StoreWork): void
  /** The same for the store itself. */
  watchStore(
    storage: Pick<StorageEngine, 'heldSnapshots' | 'epochNeed' | 'maintenance' | 'silence'>,
    report: TaskReport,
  ): void
  /** The metrics that are not in the registry. */
  json(): readonly MetricJson[]
}

const waitBounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

export function storeMetrics(register: Registry): StoreMetrics {
  const registers = [register]
  const waits = ownHistogram({
    name: 'property_events_store_wait_seconds',
    help: 'How long reads and writes waited for a connection to the database, or for the thread that writes.',
    bounds: waitBounds,
    label: 'purpose',
  })
  const retries = new Counter({
    name: 'property_events_store_retries_total',
    help: 'Appends and reads that were retried, by cause.',
    labelNames: ['verb', 'cause'] as const,
    registers,
  })
  return {
    waited: (purpose, ms) => waits.observe(ms / 1_000, purpose),
    retried: (verb, cause) => retries.inc({ verb, cause }),
    watchWork(work) {
      addWorkGauges(register, work)
      addConnectionGauge(register, work)
    },
    watchStore(storage, report) {
      addSnapshotGauges(
        register,
        sharedAnswer(() => storage.heldSnapshots(), report),
      )
      addEpochGauge(
        register,
        sharedAnswer(() => storage.epochNeed(), report),
      )
      const isOn = async () => (await storage.maintenance()) !== undefined
      addMaintenanceGauge(register, sharedAnswer(isOn, report))
      addSilenceGauges(register, storage.silence, report)
    },
    json: () => [waits.json()],
  }
}

const workGauges = [
  {
    name: 'property_events_listen_connected',
    help: 'Whether this node is being told what other nodes append (1) or not (0).',
    of: ({ listening }: StoreWork) => listening && Number(listening.isConnected),
    aggregator: 'min',
  },
  {
    name: 'property_events_listen_silence_seconds',
    help: 'Time since this node was last told of an append, including its own.',
    of: ({ listening }: StoreWork) => listening && listening.silentMs / 1_000,
    aggregator: 'max',
  },
  {
    name: 'property_events_reserved_time_seconds',
    help: 'How far ahead of the clock time is reserved, for requests with an open window.',
    of: ({ reservedMs }: StoreWork) => reservedMs && reservedMs / 1_000,
    aggregator: 'max',
  },
] as const

/** There is no value if the engine has none. */
function addWorkGauges(register: Registry, work: () => StoreWork): void {
  for (const { of, ...metric } of workGauges) {
    const gauge: Gauge = new Gauge({
      ...metric,
      registers: [register],
      collect() {
        const value = of(work())
        if (value === undefined) gauge.remove()
        else gauge.set(value)
      },
    })
  }
}

function addConnectionGauge(register: Registry, work: () => StoreWork): void {
  const gauge: Gauge<'pool' | 'state'> = new Gauge({
    name: 'property_events_store_connections',
    help: 'Connections to the database by pool: in use, idle, and what waits for one.',
    labelNames: ['pool', 'state'],
    registers: [register],
    collect() {
      for (const { pool, inUse, idle, waiting } of work().connections) {
        gauge.set({ pool, state: 'in_use' }, inUse)
        gauge.set({ pool, state: 'idle' }, idle)
        gauge.set({ pool, state: 'wanted' }, waiting)
      }
    },
  })
}

/** No value while the store does not answer. */
function addMaintenanceGauge(register: Registry, ask: () => Promise<boolean | undefined>): void {
  const gauge: Gauge = new Gauge({
    name: 'property_events_maintenance',
    help: 'Whether publishing is stopped for maintenance (1) or not (0).',
    registers: [register],
    async collect() {
      const isOn = await ask()
      if (isOn === undefined) gauge.remove()
      else gauge.set(Number(isOn))
    },
  })
}

const epochNeeds: readonly EpochNeed[] = ['none', 'some', 'all']

/** No value while the store does not answer. */
function addEpochGauge(register: Registry, ask: () => Promise<EpochNeed | undefined>): void {
  const gauge: Gauge<'feeds'> = new Gauge({
    name: 'property_events_epoch_need',
    help: 'In which feeds publishing waits for a new epoch: 1 at one of none, some, all.',
    labelNames: ['feeds'],
    registers: [register],
    async collect() {
      const need = await ask()
      gauge.reset()
      if (need === undefined) return
      for (const feeds of epochNeeds) gauge.set({ feeds }, Number(feeds === need))
    },
  })
}

const snapshotGauges = [
  {
    name: 'property_events_oldest_snapshot_transactions',
    help: 'Transactions since the oldest snapshot in the database: versions of rows since then are kept.',
    of: ({ transactions }: HeldSnapshot) => transactions,
  },
  {
    name: 'property_events_oldest_snapshot_seconds',
    help: 'For how long the oldest snapshot in the database has been held, as far as the role may see.',
    of: ({ seconds }: HeldSnapshot) => seconds,
  },
] as const

/** By kind of holder. Both are collected together, with one query. There are no values while the store does not answer. */
function addSnapshotGauges(
  register: Registry,
  ask: () => Promise<readonly HeldSnapshot[] | undefined>,
): void {
  for (const { name, help, of } of snapshotGauges) {
    const gauge: Gauge<'holder'> = new Gauge({
      name,
      help,
      labelNames: ['holder'],
      registers: [register],
      async collect() {
        const held = await ask()
        gauge.reset()
        for (const snapshot of held ?? []) {
          const value = of(snapshot)
          if (value !== undefined) gauge.set({ holder: snapshot.holder }, value)
        }
      },
    })
  }
}

/** Shows how many publishers are silent and how many consumers have stalled, and which have been silent for longest. */
type Store = Pick<SilenceStore, 'silent' | 'countSilent'>

/** The values come from the store, so all nodes show the same. There are none while it does not answer. */
function addSilenceGauges(register: Registry, store: Store, report: TaskReport): void {
  const count = sharedAnswer(() => store.countSilent(), report)
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
    sharedAnswer(() => store.silent(namesShown), report),
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
export function sharedAnswer<T>(ask: () => Promise<T>, report: TaskReport): () => Promise<T | undefined> {
  let asking: Promise<T | undefined> | undefined
  return async () => {
    asking ??= reported(report, 'measure_store', ask()).finally(() => (asking = undefined))
    const patience = new AbortController()
    const { signal } = patience
    const late = delay(patienceMs, undefined, { signal, ref: false }).catch(() => undefined)
    return Promise.race([asking, late]).finally(() => patience.abort())
  }
}
