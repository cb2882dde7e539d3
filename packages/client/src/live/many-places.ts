/** Where the tenants of a key are, and which of them have to be read. No I/O. */
import type { EventRun, FeedHead } from '../wire.ts'
import type { FollowPlace } from './follow-options.ts'

/** Where a tenant is. */
export interface TenantPlace {
  readonly tenantId: string
  after: number
  /** '' before the first answer, where none was given. */
  epoch: string
  /** -1 before the first answer. */
  revision: number
}

export interface ManyPlaces {
  readonly tenants: Map<string, TenantPlace>
  /** Tenants that have moved and were not read since. */
  readonly behind: Set<TenantPlace>
  /** Tenants that could not be read: they are tried again with the next heads. */
  readonly failed: Set<TenantPlace>
}

export function manyPlaces(given: Iterable<readonly [string, FollowPlace]> = []): ManyPlaces {
  const tenants = new Map<string, TenantPlace>()
  for (const [tenantId, { after, epoch = '' }] of given) {
    tenants.set(tenantId.toLowerCase(), { tenantId, after, epoch, revision: -1 })
  }
  return { tenants, behind: new Set(), failed: new Set() }
}

/** Notes who has moved. A tenant without a place begins at `beginning`. */
export function noteHeads(places: ManyPlaces, heads: readonly FeedHead[], beginning: 0 | 'head'): void {
  for (const { tenantId, sequenceNumber, epoch, revision } of heads) {
    const begun = { tenantId, after: 0, epoch, revision: -1 }
    const place =
      places.tenants.get(tenantId.toLowerCase()) ??
      (beginning === 'head' ? { ...begun, after: sequenceNumber, revision } : begun)
    places.tenants.set(tenantId.toLowerCase(), place)
    if (place.epoch === '') place.epoch = epoch
    const isThere = place.after === sequenceNumber && place.epoch === epoch && place.revision === revision
    if (!isThere) places.behind.add(place)
  }
  for (const place of places.failed) places.behind.add(place)
  places.failed.clear()
}

/** The next ones to read, which are not behind any more: who has more to read is added again, after the others. */
export function takeBehind({ behind }: ManyPlaces, count: number): readonly TenantPlace[] {
  const taken: TenantPlace[] = []
  for (const place of behind) {
    if (taken.length === count) break
    taken.push(place)
    behind.delete(place)
  }
  return taken
}

/** The events of a run have been handed out. */
export function noteRun({ behind }: ManyPlaces, place: TenantPlace, run: EventRun): void {
  place.after = Math.max(place.after, run.next)
  place.epoch = run.epoch
  place.revision = run.revision
  if (run.next < run.head) behind.add(place)
}

/** Numbers mean other events now: all of them are read. */
export function beginAnew({ behind }: ManyPlaces, place: TenantPlace): void {
  place.after = 0
  place.epoch = ''
  place.revision = -1
  behind.add(place)
}

/** No tenant can be read at present. */
export function failAll({ behind, failed }: ManyPlaces): void {
  for (const place of behind) failed.add(place)
  behind.clear()
}
