/** Endpoints of webhooks, and what a sender writes of them, short enough to write many. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  Delivery,
  EndpointRecord,
  EndpointSettings,
  Lease,
  NewEndpoint,
  ProgressWrite,
  SealedSecret,
} from '../../../src/webhooks/endpoint.ts'
import type { ViewEvent, WaitingChange } from '../../../src/webhooks/waiting-rows.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { tenantA, uuid } from './drafts.ts'

export const madeMs = Date.UTC(2026, 2, 1)
export const leaseMs = 40_000

type EndpointWords = Partial<Omit<NewEndpoint, 'settings'>> & {
  readonly settings?: Partial<EndpointSettings>
}

export function newEndpoint(words: EndpointWords = {}): NewEndpoint {
  return {
    endpointId: randomUUID(),
    tenantId: tenantA,
    keyId: 'key',
    rights: { branches: ['Caerdydd – Canol', 'Porth Tywyn 🏡'] },
    createdMs: madeMs,
    secret: secretNamed('first'),
    after: 100,
    epoch: 'epoch-1',
    ...words,
    settings: {
      url: 'https://gwefan.example/bachau?ffynhonnell=tai',
      label: 'Gwefan – £450,000 🏡',
      events: 'feed',
      feed: 'property',
      view: 'sales',
      payload: 'full',
      changes: true,
      mode: 'every',
      format: 'event',
      concurrency: 4,
      maxPerSecond: undefined,
      timeoutSeconds: 15,
      ...words.settings,
    },
  }
}

export function secretNamed(name: string, words: Partial<SealedSecret> = {}): SealedSecret {
  const sealed = new Uint8Array(Buffer.from(`sealed ${name} \0\xff`, 'latin1'))
  return {
    secretId: randomUUID(),
    sealed,
    pepperId: 'pepper',
    createdMs: madeMs,
    endsMs: undefined,
    ...words,
  }
}

/** As a new one is stored. */
export function recordOf({ secret, after, epoch, ...given }: NewEndpoint): EndpointRecord {
  return {
    ...given,
    state: { kind: 'enabled' },
    secrets: [secret],
    progress: {
      settled: after,
      epoch,
      failingSinceMs: undefined,
      waiting: 0,
      givenUp: 0,
      acknowledged: undefined,
    },
  }
}

export async function withEndpoint(store: StorageEngine, words: EndpointWords = {}): Promise<NewEndpoint> {
  const endpoint = newEndpoint(words)
  assert.equal(await store.webhooks.create(endpoint, 'cli:test'), 'created')
  return endpoint
}

/** The endpoint as stored now. */
export async function stored({ webhooks }: StorageEngine, endpointId: string): Promise<EndpointRecord> {
  const record = await webhooks.find(endpointId)
  assert.ok(record)
  return record
}

/** What was given up, without when. */
export async function givenUpOf(
  { webhooks }: StorageEngine,
  endpointId: string,
): Promise<readonly ViewEvent[]> {
  const rows = await webhooks.givenUp(endpointId, 0, 100)
  return rows.map(({ subjectId, sequenceNumber }) => ({ subjectId, sequenceNumber }))
}

/** The lease of an endpoint that nobody has. */
export async function leaseOf(
  { webhooks }: StorageEngine,
  endpointId: string,
  nodeId: string = randomUUID(),
): Promise<Lease> {
  const leases = await webhooks.claim(nodeId, 1_000, leaseMs)
  const lease = leases.find(({ endpoint }) => endpoint.endpointId === endpointId)
  assert.ok(lease, 'somebody else sends')
  return lease
}

export function eventNamed(name: string, sequenceNumber: number): ViewEvent {
  return { subjectId: uuid(name), sequenceNumber }
}

interface ProgressWords extends Partial<Omit<ProgressWrite, 'change' | 'deliveries'>> {
  readonly settled?: number
  readonly failingSinceMs?: number
  readonly rows?: Partial<WaitingChange>
  readonly deliveries?: readonly Partial<Delivery>[]
}

/** How often each lease was written with. */
const writesOf = new WeakMap<Lease, number>()

/** The next write of whoever has the lease, if nobody has written since it was taken. */
export function progressOf(lease: Lease, words: ProgressWords): ProgressWrite {
  const {
    leaseNo,
    endpoint: { endpointId, progress },
  } = lease
  const writes = writesOf.get(lease) ?? lease.writes
  writesOf.set(lease, writes + 1)
  const { settled, failingSinceMs, rows, deliveries = [], ...others } = words
  const isChange = settled !== undefined || failingSinceMs !== undefined || rows !== undefined
  return {
    endpointId,
    leaseNo,
    writes,
    epoch: 'epoch-1',
    change: isChange
      ? {
          settled: settled ?? progress.settled,
          failingSinceMs,
          settledTries: 0,
          rows: rows && { waiting: [], removed: [], givenUp: [], version: 1, ...rows },
        }
      : undefined,
    acknowledged: undefined,
    versions: [],
    disable: undefined,
    notice: undefined,
    ...others,
    deliveries: deliveries.map((one) => deliveryOf(endpointId, one)),
  }
}

export function deliveryOf(endpointId: string, words: Partial<Delivery> = {}): Delivery {
  return {
    endpointId,
    atMs: madeMs,
    messageId: 'msg_epoch-1_101',
    event: undefined,
    outcome: 'acknowledged',
    status: 204,
    tookMs: 12,
    answer: undefined,
    ...words,
  }
}
