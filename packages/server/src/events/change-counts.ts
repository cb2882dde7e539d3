/**
 * Counts how often feeds have changed, in memory that the thread that writes for SQLite shares: a note about a feed is valid until its count changes.
 * Feeds share counts, so a count may change without reason; it never stays the same after a change.
 */
import type { FeedKey } from './feed-key.ts'

export interface ChangeCounts {
  /** For the thread that writes, which makes its own `changeCounts` over this memory. */
  readonly memory: SharedArrayBuffer
  of(key: FeedKey): number
  /** Call it after a commit, and before the acknowledgement (P8). `undefined`: any feed may have changed. */
  raise(key: FeedKey | undefined): void
}

/** 16 kB. If a thousand feeds are written to between two checks, one unchanged feed in five is read for nothing. */
const slots = 4_096

export function changeCounts(
  memory: SharedArrayBuffer = new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT),
): ChangeCounts {
  // They wrap around at 2^32 without harm.
  const counts = new Int32Array(memory)

  return {
    memory,
    of: (key) => Atomics.load(counts, slotOf(key)),
    raise(key) {
      if (key !== undefined) Atomics.add(counts, slotOf(key), 1)
      else for (let slot = 0; slot < slots; slot += 1) Atomics.add(counts, slot, 1)
    },
  }
}

/** Tenant ids are UUIDs that strangers cannot choose. */
function slotOf({ tenantId, feed }: FeedKey): number {
  let hash = feed === 'property' ? 1 : 2
  for (let index = 0; index < tenantId.length; index += 1) {
    hash = Math.imul(hash ^ tenantId.charCodeAt(index), 0x01000193)
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % slots
}
