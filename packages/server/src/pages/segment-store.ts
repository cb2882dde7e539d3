/** Sealed segments in memory and in a file: one look-up for both, and bytes that are given back after use. */
import type { BufferPool, Lease } from './buffer-pool.ts'
import type { SegmentFile, StoredSegment } from './segment-file.ts'
import { eventsPerSegment, joinedSpan, wholeText } from './segment.ts'
import type { KeptBytes, SegmentMemory } from './segment-memory.ts'
import type { Segment, SegmentTable, WholeText } from './segment.ts'

/** Bytes of a segment, until released. */
export interface SegmentBytes {
  readonly whole: WholeText
  /** Read when it is asked for: a page made of whole segments does without. */
  readonly table: () => SegmentTable
  readonly bytes: Uint8Array
  readonly release: () => void
}

export interface SegmentStore {
  has(key: string): boolean
  /** The joined bytes of `count` events from `index` on. */
  joined(key: string, index: number, count: number): SegmentBytes | undefined
  /** The bytes of one event, where reading just them is enough: not before the whole segment was found to be whole. */
  event(key: string, index: number): SegmentBytes | undefined
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
  readonly file: Pick<SegmentFile, 'get' | 'keys' | 'put' | 'clear' | 'close'> | undefined
  readonly pool: BufferPool
}

const nothing = (): void => undefined

function keptBytes({ table, bytes }: KeptBytes): SegmentBytes {
  return { whole: wholeText(table), table: () => table, bytes, release: nothing }
}

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

  /** Keeps the bytes in memory, if that is what they were leased for. */
  function bytesOf(
    memoryKey: string,
    stored: StoredSegment,
    lease: ReturnType<typeof leaseFor>,
  ): SegmentBytes {
    const { bytes, keep } = lease
    if (keep) memory.set(memoryKey, { table: stored.readTable(), bytes })
    return { whole: stored.whole, table: stored.readTable, bytes, release: lease.release }
  }

  function readWholeJoined(key: string, stored: StoredSegment): SegmentBytes | undefined {
    const lease = leaseFor(key, stored.joinedLength)
    return stored.readJoined(lease.bytes, 0) ? bytesOf(key, stored, lease) : drop(lease)
  }

  function readPartOfJoined(stored: StoredSegment, index: number, count: number): SegmentBytes | undefined {
    const [from, to] = stored.readSpan(index, count)
    const lease = pool.take(to - from)
    if (!stored.readJoined(lease.bytes, from)) return drop(lease)
    return { whole: stored.whole, table: stored.readTable, bytes: lease.bytes, release: lease.release }
  }

  return {
    has: (key) => memory.get(key) !== undefined || file?.get(key) !== undefined,
    joined(key, index, count) {
      const cut = (found: SegmentBytes): SegmentBytes =>
        count === eventsPerSegment
          ? found
          : { ...found, bytes: found.bytes.subarray(...joinedSpan(found.table(), index, count)) }
      const kept = memory.get(key)
      if (kept !== undefined) return cut(keptBytes(kept))
      const stored = file?.get(key)
      if (stored === undefined) return undefined
      const isPart = count < eventsPerSegment / 2
      if (isPart && stored.joinedIsWhole()) return readPartOfJoined(stored, index, count)
      const whole = readWholeJoined(key, stored)
      return whole && cut(whole)
    },
    event(key, index) {
      const kept = memory.get(key)
      if (kept !== undefined) {
        const [from, to] = joinedSpan(kept.table, index, 1)
        return { ...keptBytes(kept), bytes: kept.bytes.subarray(from, to) }
      }
      const stored = file?.get(key)
      return stored?.joinedIsWhole() === true ? readPartOfJoined(stored, index, 1) : undefined
    },
    deflated(key) {
      const memoryKey = deflatedKey(key)
      const kept = memory.get(memoryKey)
      if (kept !== undefined) return keptBytes(kept)
      const stored = file?.get(key)
      if (stored === undefined) return undefined
      const lease = leaseFor(memoryKey, stored.deflatedLength)
      return stored.readDeflated(lease.bytes) ? bytesOf(memoryKey, stored, lease) : drop(lease)
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
