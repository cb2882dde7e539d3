/** Tenants by the time of their last event, the latest first: sorted in memory from the feeds' counters. */
import type { Ticks } from '@property-events/protocol'
import type { EventStore } from '../events/event-log.ts'

export interface PublishedTenant {
  readonly tenantId: string
  /** The time of its feeds' last event; 0: it has none. */
  readonly created: Ticks
}

export interface LastPublished {
  /** All tenants, at most five seconds old. The array stays the same object meanwhile. */
  sorted(): Promise<readonly PublishedTenant[]>
}

/** Reading the counters of 20,000 feeds takes some 30 ms, and nobody notices an order that is a few seconds old. */
const cacheMs = 5_000

/** `clock`: milliseconds, never set back. */
export function lastPublished(events: Pick<EventStore, 'counts'>, clock: () => number): LastPublished {
  let cached: { readonly untilMs: number; readonly sorted: Promise<readonly PublishedTenant[]> } | undefined
  return {
    sorted() {
      const nowMs = clock()
      if (cached !== undefined && nowMs < cached.untilMs) return cached.sorted
      const sorted = readSorted(events)
      const reading = { untilMs: nowMs + cacheMs, sorted }
      cached = reading
      // Requests that wait for this reading get its failure; later requests read again.
      sorted.catch(() => {
        if (cached === reading) cached = undefined
      })
      return sorted
    },
  }
}

async function readSorted(events: Pick<EventStore, 'counts'>): Promise<readonly PublishedTenant[]> {
  const latest = new Map<string, Ticks>()
  for (const { key, created = 0n } of await events.counts()) {
    const before = latest.get(key.tenantId)
    if (before === undefined || created > before) latest.set(key.tenantId, created)
  }
  return Array.from(latest, ([tenantId, created]) => ({ tenantId, created })).sort(comesFirst)
}

/** If two times are equal, as for tenants that never published, the ids decide. */
export function comesFirst(one: PublishedTenant, other: PublishedTenant): number {
  if (one.created !== other.created) return one.created > other.created ? -1 : 1
  return one.tenantId < other.tenantId ? -1 : one.tenantId === other.tenantId ? 0 : 1
}
