/**
 * Counts how often feeds have changed, in memory that all threads of a node share: a note about a feed is valid until its count changes.
 * Feeds share counts, so a count may change without reason; it never stays the same after a change.
 */
import type { FeedKey } from './storage.ts'

export interface ChangeCounts {
  /** For another thread, which makes its own `changeCounts` over this memory. */
  readonly memory: SharedArrayBuffer
  of(key: FeedKey): number
  /** Call it after a commit, and before the acknowledgement (P8). `undefined`: any feed may have changed. */
  raise(key: FeedKey | undefined): void
  /** Calls the listener soon after any thread has raised counts, until the returned function is called. */
  follow(listener: () => void): () => void
}

/** 16 kB. If a thousand feeds are written to between two looks, one unchanged feed in five is read for nothing. */
const slots = 4_096

export function changeCounts(
  memory: SharedArrayBuffer = new SharedArrayBuffer((1 + slots) * Int32Array.BYTES_PER_ELEMENT),
): ChangeCounts {
  // The first count covers everything: followers sleep on it. All wrap around at 2^32 without harm.
  const counts = new Int32Array(memory)

  async function followUntil(stop: AbortSignal, listener: () => void): Promise<void> {
    let seen = Atomics.load(counts, 0)
    while (!stop.aborted) {
      const waiting = Atomics.waitAsync(counts, 0, seen)
      if (waiting.async) await waiting.value
      seen = Atomics.load(counts, 0)
      if (!stop.aborted) listener()
    }
  }

  return {
    memory,
    of: (key) => Atomics.load(counts, slotOf(key)),
    raise(key) {
      if (key !== undefined) Atomics.add(counts, slotOf(key), 1)
      else for (let slot = 1; slot <= slots; slot += 1) Atomics.add(counts, slot, 1)
      Atomics.add(counts, 0, 1)
      Atomics.notify(counts, 0)
    },
    follow(listener) {
      const stop = new AbortController()
      void followUntil(stop.signal, listener)
      return () => stop.abort()
    },
  }
}

/** Tenant ids are UUIDs that strangers cannot choose. */
function slotOf({ tenantId, feed }: FeedKey): number {
  let hash = feed === 'property' ? 1 : 2
  for (let index = 0; index < tenantId.length; index += 1) {
    hash = Math.imul(hash ^ tenantId.charCodeAt(index), 0x01000193)
  }
  return 1 + (((hash ^ (hash >>> 15)) >>> 0) % slots)
}
