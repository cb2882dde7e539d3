/** The consumers of a feed: keys that may read it, and their names, with what is stored about each (D28). */
import { defaultConsumer } from './consumer.ts'
import type { Acknowledgement, ConsumerRefusal, StoredRead } from './consumer.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { KeyReading, KeyRecord } from '../keys/key.ts'
import type { Presence } from './silence/silence.ts'
import type { StorageEngine } from '../store/storage.ts'
import { isAdmitted, tenantStateOf } from '../tenants/tenant-state.ts'
import { consumerOfEndpoint, endpointsPerTenant } from '../webhooks/endpoint.ts'
import type { EndpointRecord } from '../webhooks/endpoint.ts'
import type { KeyEnd } from './delivery.ts'

export interface FeedConsumer {
  readonly keyId: string
  readonly name: string
  /** The label of the key. */
  readonly label: string
  readonly reading: KeyReading | undefined
  /** The key may read only properties of these branches. */
  readonly branches: readonly string[] | undefined
  readonly keyEnd: KeyEnd | undefined
  /** When the key was created. */
  readonly createdMs: number
  /** The key also opens other tenants. */
  readonly opensOthers: boolean
  readonly readings: readonly StoredRead[]
  readonly acknowledgement: Acknowledgement | undefined
  readonly refusals: readonly ConsumerRefusal[]
  /** Whether it is silent; `undefined`: it has never been seen, and nothing is expected of it. */
  readonly presence: Presence | undefined
  /** To which the feed is sent; `undefined`: it requests the feed. */
  readonly endpoint: EndpointRecord | undefined
}

export interface ConsumersQuery {
  readonly key: FeedKey
  /** Only consumers of this key; `undefined`: of all keys. */
  readonly keyId: string | undefined
  /** Only consumers that may read properties of these branches; `undefined`: all. */
  readonly branches: readonly string[] | undefined
  readonly nowMs: number
}

/** A consumer that has reported something. */
type Named = { readonly keyId: string; readonly name: string }

type Store = Pick<StorageEngine, 'consumers' | 'keys' | 'leaving' | 'silence' | 'tenants' | 'webhooks'>

/** What answers about consumers and events are read from. */
export type ConsumersStore = Store & Pick<StorageEngine, 'events' | 'settings'>

/**
 * By key in the order of creation, then by name. A key that has ended is included if it has ever asked. The notes of every node are
 * included after 35 s at the latest. `further`: consumers that are known from other records.
 */
export async function consumersOf(
  store: Store,
  query: ConsumersQuery,
  further: readonly Named[] = [],
): Promise<readonly FeedConsumer[]> {
  const { key, keyId } = query
  const found = await readersOf(store, key, keyId)
  const records = found.filter((record) => mayRead(branchesOf(record, key), query.branches))
  const readings = Map.groupBy(await store.consumers.readings(key), consumerKey)
  const acknowledgements = new Map(
    (await store.consumers.acknowledgements(key)).map((one) => [consumerKey(one), one]),
  )
  const refusals = (await store.consumers.refusals(records.map((record) => record.keyId))).filter(
    ({ tenantId }) => tenantId === undefined || tenantId === key.tenantId,
  )
  const presences = new Map<string, Presence>()
  for (const one of await store.silence.ofKeys(records.map((record) => record.keyId))) {
    if (one.name.kind === 'consumer') presences.set(consumerKey(one.name), one)
  }
  const disabled = await disabledOf(store, query)
  const endpoints = await endpointsOf(store, key)
  const names = [
    ...endpoints.keys(),
    ...readings.keys(),
    ...acknowledgements.keys(),
    ...[...refusals, ...further].map(consumerKey),
  ]
  return records.flatMap((record) => {
    const own = new Set(names.filter((name) => name.startsWith(`${record.keyId} `)))
    // What deleted endpoints were sent stays on record.
    for (const name of own) if (ofDeletedEndpoint.test(name) && !endpoints.has(name)) own.delete(name)
    const keyEnd = endOf(record, query.nowMs) ?? disabled
    const opensOthers = record.grants.some(({ tenantId }) => tenantId !== key.tenantId)
    // Consumers that are expected, and have never been seen anywhere.
    for (const { name, lastMs, expectation } of opensOthers ? [] : presences.values()) {
      const isWaitedFor = lastMs === undefined && typeof expectation === 'number'
      if (isWaitedFor && name.kind === 'consumer' && name.keyId === record.keyId) own.add(consumerKey(name))
    }
    // A key that has not asked yet is expected; one that never will is not.
    if (own.size === 0 && keyEnd === undefined)
      own.add(consumerKey({ keyId: record.keyId, name: defaultConsumer }))
    return [...own].toSorted().map((text) => {
      const endpoint = endpoints.get(text)
      return {
        keyId: record.keyId,
        name: text.slice(record.keyId.length + 1),
        label: record.label,
        reading: record.reading,
        branches: endpoint === undefined ? branchesOf(record, key) : endpoint.rights.branches,
        keyEnd,
        createdMs: record.createdMs,
        opensOthers,
        readings: readings.get(text) ?? [],
        acknowledgement: acknowledgements.get(text),
        refusals: refusals.filter((one) => consumerKey(one) === text),
        // It is sent nothing while nothing is published.
        presence: endpoint === undefined ? presences.get(text) : undefined,
        endpoint,
      }
    })
  })
}

const ofDeletedEndpoint = / webhook-[\da-f]{8}$/

/** Those that are sent the feed's events, by key and name. */
async function endpointsOf(
  { webhooks }: Store,
  { tenantId, feed }: FeedKey,
): Promise<ReadonlyMap<string, EndpointRecord>> {
  const all = await webhooks.list({ tenantId, feed, after: undefined, limit: endpointsPerTenant })
  return new Map(
    all
      .filter(({ settings }) => settings.events === 'feed')
      .map((one) => [consumerKey({ keyId: one.keyId, name: consumerOfEndpoint(one.endpointId) }), one]),
  )
}

function branchesOf({ grants }: KeyRecord, key: FeedKey): readonly string[] | undefined {
  return grants.find(({ tenantId }) => tenantId === key.tenantId)?.branches
}

function mayRead(granted: readonly string[] | undefined, wanted: readonly string[] | undefined): boolean {
  return granted === undefined || wanted === undefined || granted.some((branch) => wanted.includes(branch))
}

/** One text for each consumer of a feed. */
export function consumerKey({ keyId, name }: Named): string {
  return `${keyId} ${name}`
}

const keysAtOnce = 200

/** Keys with the feed's read scope for the tenant. */
async function readersOf(
  { keys }: Store,
  { tenantId, feed }: FeedKey,
  keyId: string | undefined,
): Promise<readonly KeyRecord[]> {
  const reads = ({ grants }: KeyRecord): boolean =>
    grants.some((grant) => grant.tenantId === tenantId && grant.scopes.includes(`${feed}:read`))
  if (keyId !== undefined) {
    const record = (await keys.findKey(keyId))?.record
    return record !== undefined && reads(record) ? [record] : []
  }
  const found: KeyRecord[] = []
  for (let after = 0; ;) {
    const page = await keys.keysAfter({ after, limit: keysAtOnce, tenantId })
    found.push(...page.map(({ record }) => record).filter(reads))
    const last = page.at(-1)
    if (last === undefined || page.length < keysAtOnce) return found
    after = last.place
  }
}

function endOf({ revokedMs, expiresMs }: KeyRecord, nowMs: number): KeyEnd | undefined {
  if (revokedMs !== undefined) return { code: 'key_revoked', sinceMs: revokedMs }
  if (expiresMs !== undefined && expiresMs <= nowMs) return { code: 'key_expired', sinceMs: expiresMs }
  return undefined
}

/** All keys, if the tenant is suspended or has left. */
async function disabledOf(
  { leaving, tenants }: Store,
  { key, nowMs }: ConsumersQuery,
): Promise<KeyEnd | undefined> {
  const tenant = await tenants.findTenant(key.tenantId)
  if (tenant === undefined) return undefined
  const [left] = await leaving.of([key.tenantId])
  const readingEndsMs = left?.readingEndsMs
  const state = tenantStateOf({ ...tenant, readingEndsMs }, nowMs)
  if (isAdmitted(state)) return undefined
  return { code: 'key_disabled', sinceMs: state === 'readingEnded' ? readingEndsMs : undefined }
}
