/** Sealed segments in memory and in a file: one look-up for both, and bytes that are given back after use. */
import type { BufferPool, Lease } from './buffer-pool.ts'
import type { SegmentFile, StoredSegment } from './segment-file.ts'
import { eventsPerSegment, joinedSpan } from './segment.ts'
import type { KeptBytes, SegmentMemory } from './segment-memory.ts'
import type { Segment, SegmentTable } from './segment.ts'

/** Bytes of a segment, until released. */
export interface SegmentBytes {
  readonly table: SegmentTable
  readonly bytes: Uint8Array
  release(): void
}

export interface SegmentStore {
  has(key: string): boolean
  /** The joined bytes of `count` events from `index` on. */
  joined(key: string, index: number, count: number): SegmentBytes | undefined
  /** All deflated bytes. */
  deflated(key: string): SegmentBytes | undefined
  put(key: string, segment: Segment): void
  /** Keys that were there when the store was opened. */
  keys(): Iterable<string>
  clear(): void
  close(): void
}

export interface SegmentStoreParts {
  readonly memory: SegmentMemory
  /** Without one, segments live in memory alone. */
  readonly file: SegmentFile | undefined
  readonly pool: BufferPool
}

const nothing = (): void => undefined

export function createSegmentStore({ memory, file, pool }: SegmentStoreParts): SegmentStore {
  const deflatedKey = (key: string): string => `${key} deflated`

  /** Not what was written: a crash took it. All of the file is derived, so all of it is made again. */
  function drop(lease: Lease): undefined {
    lease.release()
    file?.clear()
    return undefined
  }

  /** Memory for `byteLength` bytes: to be kept, or from the pool and back into it. */
  function leaseFor(memoryKey: string, byteLength: number): Lease & { readonly keep: boolean } {
    const keep = memory.worthKeeping(memoryKey, byteLength)
    if (!keep) return { ...pool.take(byteLength), keep }
    return { bytes: Buffer.allocUnsafeSlow(byteLength), release: nothing, keep }
  }

  function readWholeJoined(key: string, stored: StoredSegment): SegmentBytes | undefined {
    const lease = leaseFor(key, stored.joinedLength)
    if (!stored.readJoined(lease.bytes, 0)) return drop(lease)
    const table = stored.readTable()
    if (lease.keep) memory.set(key, { table, bytes: lease.bytes })
    return { table, bytes: lease.bytes, release: () => lease.release() }
  }

  return {
    has: (key) => memory.get(key) !== undefined || file?.get(key) !== undefined,
    joined(key, index, count) {
      const cut = ({ table, bytes }: KeptBytes): Uint8Array =>
        bytes.subarray(...joinedSpan(table, index, count))
      const kept = memory.get(key)
      if (kept !== undefined) return { table: kept.table, bytes: cut(kept), release: nothing }
      const stored = file?.get(key)
      if (stored === undefined) return undefined
      const isPart = count < eventsPerSegment / 2
      if (isPart && stored.joinedIsWhole()) {
        const table = stored.readTable()
        const [from, to] = joinedSpan(table, index, count)
        const lease = pool.take(to - from)
        if (!stored.readJoined(lease.bytes, from)) return drop(lease)
        return { table, bytes: lease.bytes, release: () => lease.release() }
      }
      const whole = readWholeJoined(key, stored)
      return whole && { ...whole, bytes: cut(whole) }
    },
    deflated(key) {
      const memoryKey = deflatedKey(key)
      const kept = memory.get(memoryKey)
      if (kept !== undefined) return { ...kept, release: nothing }
      const stored = file?.get(key)
      if (stored === undefined) return undefined
      const lease = leaseFor(memoryKey, stored.deflatedLength)
      if (!stored.readDeflated(lease.bytes)) return drop(lease)
      const table = stored.readTable()
      if (lease.keep) memory.set(memoryKey, { table, bytes: lease.bytes })
      return { table, bytes: lease.bytes, release: () => lease.release() }
    },
    put(key, segment) {
      const { table, joined, deflated } = segment
      if (file === undefined) {
        memory.set(key, { table, bytes: joined })
        memory.set(deflatedKey(key), { table, bytes: deflated })
      } else file.put(key, segment)
    },
    keys: () => file?.keys() ?? [],
    clear() {
      memory.clear()
      file?.clear()
    },
    close() {
      memory.clear()
      file?.close()
    },
  }
}
