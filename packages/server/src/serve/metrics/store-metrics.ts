/** Metrics of the store: how long requests wait for it, what was retried, and its state. */
import { setTimeout as delay } from 'node:timers/promises'
import { Counter } from 'prom-client'
import type { Registry } from 'prom-client'
import { addGauge } from './asked-gauge.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { reported } from '../../runtime/background-task.ts'
import type { StorageEngine } from '../../store/storage.ts'
import type { HeldSnapshot, StoreObserver, StoreWork } from '../../sql/store-observer.ts'
import type { EpochNeed } from '../../events/epochs.ts'
import type { MetricJson } from '../../runtime/metrics/own-histogram.ts'
import { ownHistogram } from '../../runtime/metrics/own-histogram.ts'
import type { SilenceStore } from '../../consumers/silence/silence.ts'
import { namesShown } from '../../runtime/metrics/top-counter.ts'

export interface StoreMetrics extends Pick<StoreObserver, 'waited' | 'retried'> {
  /** Sets the function that returns, at each scrape, what an engine of a thread is doing. */
  watchWork(work: () => StoreWork): void
  /** The same for the store itself. */
  watchStore(storage: WatchedStore, report: TaskReport): void
  /** The metrics that are not in the registry. */
  json(): readonly MetricJson[]
}

interface WatchedStore extends Pick<StorageEngine, 'heldSnapshots' | 'epochNeed' | 'maintenance'> {
  readonly silence: Pick<SilenceStore, 'silent' | 'countSilent'>
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
      for (const { of, ...gauge } of workGauges) addGauge(register, gauge, () => of(work()))
      addGauge(register, connectionGauge, () =>
        work().connections.flatMap(({ pool, inUse, idle, waiting }) => [
          [{ pool, state: 'in_use' }, inUse] as const,
          [{ pool, state: 'idle' }, idle] as const,
          [{ pool, state: 'wanted' }, waiting] as const,
        ]),
      )
    },
    watchStore: (storage, report) => addStoreGauges(register, storage, report),
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

const connectionGauge = {
  name: 'property_events_store_connections',
  help: 'Connections to the database by pool: in use, idle, and what waits for one.',
  labels: ['pool', 'state'],
} as const

const epochNeeds: readonly EpochNeed[] = ['none', 'some', 'all']

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

/** Of the store itself. Gauges that share an answer are collected together, with one query. */
function addStoreGauges(register: Registry, storage: WatchedStore, report: TaskReport): void {
  const snapshots = sharedAnswer(() => storage.heldSnapshots(), report)
  for (const { of, ...gauge } of snapshotGauges) {
    addGauge(register, { ...gauge, labels: ['holder'] }, async () =>
      (await snapshots())?.flatMap((snapshot) => {
        const value = of(snapshot)
        return value === undefined ? [] : [[{ holder: snapshot.holder }, value] as const]
      }),
    )
  }
  const epochNeed = sharedAnswer(() => storage.epochNeed(), report)
  addGauge(
    register,
    {
      name: 'property_events_epoch_need',
      help: 'In which feeds publishing waits for a new epoch: 1 at one of none, some, all.',
      labels: ['feeds'],
    },
    async () => {
      const need = await epochNeed()
      return need && epochNeeds.map((feeds) => [{ feeds }, Number(feeds === need)] as const)
    },
  )
  const isOn = async () => Number((await storage.maintenance()) !== undefined)
  addGauge(
    register,
    {
      name: 'property_events_maintenance',
      help: 'Whether publishing is stopped for maintenance (1) or not (0).',
    },
    sharedAnswer(isOn, report),
  )
  addSilenceGauges(register, storage.silence, report)
}

/**
 * How many publishers are silent and how many consumers have stalled, and which for longest: of both kinds together, no more than other
 * metrics have labels. The values come from the store, so all nodes show the same.
 */
function addSilenceGauges(register: Registry, store: WatchedStore['silence'], report: TaskReport): void {
  const count = sharedAnswer(() => store.countSilent(), report)
  addGauge(
    register,
    {
      name: 'property_events_silent',
      help: 'How many publishers and consumers have been silent for longer than is expected of them.',
      labels: ['of'],
    },
    async () => {
      const found = await count()
      return (
        found && [
          [{ of: 'publisher' }, found.publishers] as const,
          [{ of: 'consumer' }, found.consumers] as const,
        ]
      )
    },
  )
  const longest = sharedAnswer(() => store.silent(namesShown), report)
  addGauge(
    register,
    {
      name: 'property_events_publisher_silent_seconds',
      help: 'For how long nothing was published to a feed, of the 20 publishers and consumers that are silent for longest.',
      labels: ['tenant', 'feed'],
    },
    async () =>
      (await longest())?.flatMap(({ name, silentMs }) =>
        name.kind === 'publisher'
          ? [[{ tenant: name.tenantId, feed: name.feed }, secondsSince(silentMs)] as const]
          : [],
      ),
  )
  addGauge(
    register,
    {
      name: 'property_events_consumer_stalled_seconds',
      help: 'For how long a consumer has not asked, of the 20 publishers and consumers that are silent for longest.',
      labels: ['key', 'consumer'],
    },
    async () =>
      (await longest())?.flatMap(({ name, silentMs }) =>
        name.kind === 'consumer'
          ? [[{ key: name.keyId, consumer: name.name }, secondsSince(silentMs)] as const]
          : [],
      ),
  )
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
