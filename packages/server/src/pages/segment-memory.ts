/** Segments' bytes kept in memory, the least recently used going first. */
import type { SegmentTable } from './segment.ts'

/** The joined or the deflated bytes of a segment. */
export interface KeptBytes {
  readonly table: SegmentTable
  readonly bytes: Uint8Array
}

export interface SegmentMemory {
  get(key: string): KeptBytes | undefined
  /** Whether bytes that were asked for now are worth keeping: true from the second time on within the last few thousand. */
  worthKeeping(key: string): boolean
  set(key: string, kept: KeptBytes): void
  clear(): void
  readonly byteLength: number
}

/** How many keys asked for once are remembered. One wandering reader then does not push out what many read. */
const rememberedKeys = 4_096

export function createSegmentMemory(maxBytes: number): SegmentMemory {
  const kept = new Map<string, KeptBytes>()
  const askedOnce = new Set<string>()
  let byteLength = 0
  return {
    get byteLength() {
      return byteLength
    },
    get(key) {
      const found = kept.get(key)
      if (found !== undefined) {
        // A Map keeps the order of insertion: last means most recently used.
        kept.delete(key)
        kept.set(key, found)
      }
      return found
    },
    worthKeeping(key) {
      if (maxBytes === 0) return false
      if (askedOnce.delete(key)) return true
      askedOnce.add(key)
      if (askedOnce.size > rememberedKeys) {
        for (const oldest of askedOnce) {
          askedOnce.delete(oldest)
          break
        }
      }
      return false
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
      askedOnce.clear()
      byteLength = 0
    },
  }
}
