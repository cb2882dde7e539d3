/** The places of the tenants of a key, and which of them have to be read. No I/O. */
import type { EventRun, FeedHead } from '../wire.ts'
import type { FollowPlace } from './follow-options.ts'

/** The place of a tenant. */
export interface TenantPlace {
  readonly tenantId: string
  after: number
  /** '' before the first answer, if none was given. */
  epoch: string
  /** -1 before the first answer. */
  revision: number
}

export interface ManyPlaces {
  readonly tenants: Map<string, TenantPlace>
  /** Tenants that have moved and have not been read since. */
  readonly unread: Set<TenantPlace>
  /** Tenants that could not be read: they are tried again with the next heads. */
  readonly failed: Set<TenantPlace>
}

export function manyPlaces(given: Iterable<readonly [string, FollowPlace]> = []): ManyPlaces {
  const tenants = new Map<string, TenantPlace>()
  for (const [tenantId, { after, epoch = '' }] of given) {
    tenants.set(tenantId.toLowerCase(), { tenantId, after, epoch, revision: -1 })
  }
  return { tenants, unread: new Set(), failed: new Set() }
}

/** Notes which tenants have moved. A tenant without a place begins at `beginning`. */
export function noteHeads(places: ManyPlaces, heads: readonly FeedHead[], beginning: 0 | 'head'): void {
  for (const { tenantId, sequenceNumber, epoch, revision } of heads) {
    const begun = { tenantId, after: 0, epoch, revision: -1 }
    const place =
      places.tenants.get(tenantId.toLowerCase()) ??
      (beginning === 'head' ? { ...begun, after: sequenceNumber, revision } : begun)
    places.tenants.set(tenantId.toLowerCase(), place)
    if (place.epoch === '') place.epoch = epoch
    const isThere = place.after === sequenceNumber && place.epoch === epoch && place.revision === revision
    if (!isThere) places.unread.add(place)
  }
  for (const place of places.failed) places.unread.add(place)
  places.failed.clear()
}

/** Takes the next tenants to read. One that has more to read is added again, after the others. */
export function takeUnread({ unread }: ManyPlaces, count: number): readonly TenantPlace[] {
  const taken: TenantPlace[] = []
  for (const place of unread) {
    if (taken.length === count) break
    taken.push(place)
    unread.delete(place)
  }
  return taken
}

/** The events of a run have been handed out. */
export function noteRun({ unread }: ManyPlaces, place: TenantPlace, run: EventRun): void {
  place.after = Math.max(place.after, run.next)
  place.epoch = run.epoch
  place.revision = run.revision
  if (run.next < run.head) unread.add(place)
}

/** Numbers now mean other events: all of them are read. */
export function beginAnew({ unread }: ManyPlaces, place: TenantPlace): void {
  place.after = 0
  place.epoch = ''
  place.revision = -1
  unread.add(place)
}

/** No tenant can be read at present. */
export function failAll({ unread, failed }: ManyPlaces): void {
  for (const place of unread) failed.add(place)
  unread.clear()
}
