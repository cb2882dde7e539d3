/**
 * How often feeds have changed, in memory that all threads of a node share: a note about a feed is valid for as long
 * as its count stands still. Feeds share counts, so a count may move for nothing; it never stands still for a change.
 */
import type { FeedKey } from './storage.ts'

export interface ChangeCounts {
  /** For another thread, which makes its own `changeCounts` over it. */
  readonly memory: SharedArrayBuffer
  of(key: FeedKey): number
  /** After a commit, and before it is acknowledged (P8). `undefined`: any feed may have changed. */
  raise(key: FeedKey | undefined): void
  /** Calls the listener soon after counts were raised by any thread, until the function returned is called. */
  follow(listener: () => void): () => void
}

/** 16 kB. With a thousand feeds written to between two looks, one unchanged feed in five is looked up for nothing. */
const slots = 4_096

export function changeCounts(
  memory: SharedArrayBuffer = new SharedArrayBuffer((1 + slots) * Int32Array.BYTES_PER_ELEMENT),
): ChangeCounts {
  // The first one counts everything: it is what followers sleep on. All wrap around at 2^32 without harm.
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

/** Tenant ids are UUIDs that no stranger chooses. */
function slotOf({ tenantId, feed }: FeedKey): number {
  let hash = feed === 'property' ? 1 : 2
  for (let index = 0; index < tenantId.length; index += 1) {
    hash = Math.imul(hash ^ tenantId.charCodeAt(index), 0x01000193)
  }
  return 1 + (((hash ^ (hash >>> 15)) >>> 0) % slots)
}
