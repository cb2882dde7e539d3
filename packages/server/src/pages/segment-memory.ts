/** Segments' bytes kept in memory, the least recently used going first. */
import type { SegmentTable } from './segment.ts'

/** The joined or the deflated bytes of a segment. */
export interface KeptBytes {
  readonly table: SegmentTable
  readonly bytes: Uint8Array
}

export interface SegmentMemory {
  get(key: string): KeptBytes | undefined
  /** Whether bytes of this length are worth keeping: there is room, or they are asked for more often than what would go. */
  worthKeeping(key: string, byteLength: number): boolean
  set(key: string, kept: KeptBytes): void
  clear(): void
  readonly byteLength: number
}

/**
 * Requests between two halvings of all counts: what was popular yesterday makes way. Without counting, readers who
 * wander over more than fits would exchange all of it again and again, at 400 kB of new memory each time.
 */
const halvingAfter = 20_000

export function createSegmentMemory(maxBytes: number): SegmentMemory {
  const kept = new Map<string, KeptBytes>()
  const asked = new Map<string, number>()
  let byteLength = 0
  let requests = 0

  function count(key: string): number {
    requests += 1
    if (requests % halvingAfter === 0) halve()
    const times = (asked.get(key) ?? 0) + 1
    asked.set(key, times)
    return times
  }

  function halve(): void {
    for (const [key, times] of asked) {
      if (times > 1) asked.set(key, times >> 1)
      else asked.delete(key)
    }
  }

  return {
    get byteLength() {
      return byteLength
    },
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      count(key)
      // A Map keeps the order of insertion: last means most recently used.
      kept.delete(key)
      kept.set(key, found)
      return found
    },
    worthKeeping(key, wantedBytes) {
      if (wantedBytes > maxBytes) return false
      const times = count(key)
      if (byteLength + wantedBytes <= maxBytes) return true
      const [oldest] = kept.keys()
      // Twice as often, so that equals do not take turns.
      return oldest === undefined || times > 2 * (asked.get(oldest) ?? 0)
    },
    set(key, found) {
      if (found.bytes.byteLength > maxBytes || kept.has(key)) return
      kept.set(key, found)
      byteLength += found.bytes.byteLength
      for (const [oldest, old] of kept) {
        if (byteLength <= maxBytes) break
        kept.delete(oldest)
        byteLength -= old.bytes.byteLength
      }
    },
    clear() {
      kept.clear()
      asked.clear()
      byteLength = 0
    },
  }
}
