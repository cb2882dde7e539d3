/**
 * Faults that need somebody's attention, over all tenants (PROTOCOL §12.11): silent publishers and consumers, refused keys and publications,
 * and keys in use that end soon. Silences and refused publications are one run of an index each. Keys are read in the order in which they were
 * made, a hundred at a step, and each step reads the refusals of its keys.
 */
import type { StorageEngine } from '../store/storage.ts'
import { faultCodes } from '@property-events/protocol'
import type { FaultCode, FeedName } from '@property-events/protocol'
import { keptFor } from '../runtime/kept-for.ts'
import { yieldForStep } from '../runtime/yield-in-steps.ts'
import type { ConsumerRefusal } from './consumer.ts'
import type { KeyRecord } from '../keys/key.ts'
import type { Presence } from './silence/silence.ts'

export interface ServiceFault {
  readonly code: FaultCode
  /** Its place in the list of all faults, as a text that sorts in that order. It stays the same from one look to the next. */
  readonly place: string
  /** `undefined`: of a key that opens several tenants, or none. */
  readonly tenantId: string | undefined
  /** Of a publisher. */
  readonly feed: FeedName | undefined
  /** Of a consumer or key. */
  readonly keyId: string | undefined
  readonly label: string | undefined
  readonly consumer: string | undefined
  /** Since when it is so, milliseconds since 1970; of a key that ends, when it was last used. */
  readonly sinceMs: number
  /** When the key ends, or has ended. */
  readonly endsMs: number | undefined
  /** Why it is refused. */
  readonly reason: string | undefined
  /** Requests that were refused since then. */
  readonly refusals: number | undefined
}

export interface FoundFaults {
  /** By their places. */
  readonly faults: readonly ServiceFault[]
  /** There are more than are kept. */
  readonly hasMore: boolean
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A refusal that is older is over. */
const refusedWithinMs = hourMs
/** A key that ends within so many days is told of, where it was used within as many. */
const endsWithinMs = 7 * dayMs
/** Of each kind. Whoever has more has one cause for them. */
export const mostFaults = 1_000
/** Some 3 ms on SQLite. */
const keysPerStep = 100

/** Refused publications that are looked at: 100 of a key and hour are kept. */
const mostPublications = 5_000
const minuteMs = 60_000

type Store = Pick<StorageEngine, 'consumers' | 'keys' | 'publications' | 'silence'>

export type RecentFaults = FoundFaults & { readonly atMs: number }

/** A look over 30,000 keys takes some 0.7 s of the processor, in steps of 3 ms between which others have their turn. */
const keptMs = 30_000

/**
 * What needs somebody, looked for no more often than people can act on it, and only while somebody asks: as of at most 30 s ago.
 * `clock`: milliseconds since 1970.
 */
export function recentFaults(store: Store, clock: () => number): () => Promise<RecentFaults> {
  return keptFor(keptMs, clock, async (atMs) => ({ ...(await listFaults(store, atMs)), atMs }))
}

export async function listFaults(store: Store, nowMs: number): Promise<FoundFaults> {
  const silent = await store.silence.silent(mostFaults + 1)
  const silences = await silenceFaults(store, silent.slice(0, mostFaults))
  const publications = await refusedPublications(store, nowMs)
  const { refused, ending, labels } = await keyFaults(store, nowMs, publications)
  const unpublished = publications.map((one) => ({ ...one, label: labels.get(one.keyId ?? '') }))
  const kinds = [refused, unpublished, ending]
  const found = [...silences, ...kinds.flatMap((kind) => kind.slice(0, mostFaults))]
  return {
    faults: found.toSorted((one, other) => (one.place < other.place ? -1 : 1)),
    hasMore: [silent, ...kinds].some(({ length }) => length > mostFaults),
  }
}

async function silenceFaults({ keys }: Store, silent: readonly Presence[]): Promise<readonly ServiceFault[]> {
  const faults: ServiceFault[] = []
  for (const { name, silentMs: sinceMs = 0 } of silent) {
    if (name.kind === 'publisher') {
      const { tenantId, feed } = name
      faults.push(fault('publisher_silent', sinceMs, `${tenantId}.${feed}`, { tenantId, feed }))
      continue
    }
    const record = (await keys.findKey(name.keyId))?.record
    if (record === undefined) continue
    const id = `${name.keyId}.${name.name}`
    faults.push(fault('consumer_silent', sinceMs, id, { ...ofKey(record), consumer: name.name }))
  }
  return faults
}

/** One for each key and feed, without the label of the key. */
async function refusedPublications({ publications }: Store, nowMs: number): Promise<readonly ServiceFault[]> {
  const from = Math.floor((nowMs - refusedWithinMs) / minuteMs)
  const rows = await publications.refusedSince(from, mostPublications)
  const byKey = Map.groupBy(rows, ({ key, keyId }) => `${keyId}.${key.tenantId}.${key.feed}`)
  return [...byKey].flatMap(([id, refusals]) => {
    const [last] = refusals.toSorted((a, b) => b.atMs - a.atMs)
    if (last === undefined) return []
    const { key, keyId, code: reason } = last
    const sinceMs = refusals.reduce((least, { atMs }) => Math.min(least, atMs), last.atMs)
    const members = { ...key, keyId, reason, refusals: refusals.length }
    return [fault('publication_refused', sinceMs, id, members)]
  })
}

/** Also the labels of the keys whose publications were refused. */
async function keyFaults({ keys, consumers }: Store, nowMs: number, publications: readonly ServiceFault[]) {
  const labels = new Map<string, string>()
  const publishing = new Set(publications.map(({ keyId }) => keyId))
  const refused: ServiceFault[] = []
  const ending = new Map<string, ServiceFault>()
  for (let after = 0; ;) {
    const step = await keys.keysAfter({ after, limit: keysPerStep })
    const records = new Map(step.map(({ record }) => [record.keyId, record]))
    for (const one of await consumers.refusals([...records.keys()])) {
      const record = records.get(one.keyId)
      const isRecent = nowMs - one.lastMs < refusedWithinMs
      if (record !== undefined && isRecent && refused.length <= mostFaults) refused.push(refusal(record, one))
    }
    for (const record of records.values()) {
      if (publishing.has(record.keyId)) labels.set(record.keyId, record.label)
      const { expiresMs = Infinity, lastUsedMs = -Infinity, replaces } = record
      // Whoever has the new key has somebody already. It is made later, and stands later in the list.
      if (replaces !== undefined) ending.delete(replaces)
      const endsSoon = expiresMs > nowMs && expiresMs - nowMs < endsWithinMs
      if (!endsSoon || record.revokedMs !== undefined || nowMs - lastUsedMs >= endsWithinMs) continue
      // A key that an operator makes for a day, as for the console, ends as it was meant to.
      if (expiresMs - record.createdMs <= endsWithinMs || ending.size > mostFaults) continue
      const members = { ...ofKey(record), endsMs: expiresMs }
      ending.set(record.keyId, fault('key_ending', lastUsedMs, `${expiresMs}.${record.keyId}`, members))
    }
    const last = step.at(-1)
    if (last === undefined || step.length < keysPerStep)
      return { refused, ending: [...ending.values()], labels }
    after = last.place
    await yieldForStep()
  }
}

function refusal(record: KeyRecord, { name, tenantId, code, sinceMs, count }: ConsumerRefusal): ServiceFault {
  const of = ofKey(record)
  return fault('key_refused', sinceMs, `${record.keyId}.${name}.${tenantId ?? ''}.${code}`, {
    ...of,
    tenantId: tenantId ?? of.tenantId,
    consumer: name,
    endsMs: record.revokedMs ?? record.expiresMs,
    reason: code,
    refusals: count,
  })
}

function ofKey({ keyId, label, grants }: KeyRecord) {
  const [only] = grants
  return { keyId, label, tenantId: grants.length === 1 ? only?.tenantId : undefined }
}

const nothing = {
  tenantId: undefined,
  feed: undefined,
  keyId: undefined,
  label: undefined,
  consumer: undefined,
  endsMs: undefined,
  reason: undefined,
  refusals: undefined,
} as const

type Members = Partial<Omit<ServiceFault, 'code' | 'place' | 'sinceMs'>>

/** Among faults of one kind, the one that began first comes first; `id` decides between equal ones. */
function fault(code: FaultCode, sinceMs: number, id: string, members: Members): ServiceFault {
  const rank = faultCodes.indexOf(code)
  // What a key that ends was last used changes from look to look, and its end does not.
  const atMs = code === 'key_ending' ? (members.endsMs ?? 0) : sinceMs
  const place = `${rank}.${Math.max(0, Math.floor(atMs)).toString(36).padStart(9, '0')}.${id}`
  return { ...nothing, ...members, code, place, sinceMs }
}
