/** Sealed segments in memory and in a file: one look-up for both, and bytes that are given back after use. */
import type { BufferPool } from './buffer-pool.ts'
import type { SegmentFile, StoredSegment } from './segment-file.ts'
import type { SegmentMemory } from './segment-memory.ts'
import type { Segment, SegmentTable } from './segment.ts'

/** All joined or all deflated bytes of a segment, until released. */
export interface SegmentBytes {
  readonly table: SegmentTable
  readonly bytes: Uint8Array
  release(): void
}

export interface SegmentStore {
  has(key: string): boolean
  joined(key: string): SegmentBytes | undefined
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

  function read(
    key: string,
    memoryKey: string,
    lengthOf: (stored: StoredSegment) => number,
    readInto: (stored: StoredSegment, target: Buffer) => boolean,
  ): SegmentBytes | undefined {
    const kept = memory.get(memoryKey)
    if (kept !== undefined) return { ...kept, release: nothing }
    const stored = file?.get(key)
    if (stored === undefined) return undefined
    const keep = memory.worthKeeping(memoryKey)
    const lease = keep
      ? { bytes: Buffer.allocUnsafeSlow(lengthOf(stored)), release: nothing }
      : pool.take(lengthOf(stored))
    if (!readInto(stored, lease.bytes)) {
      // Not what was written: a crash took it. All of the file is derived, so all of it is made again.
      lease.release()
      file?.clear()
      return undefined
    }
    const table = stored.readTable()
    if (keep) memory.set(memoryKey, { table, bytes: lease.bytes })
    return { table, bytes: lease.bytes, release: () => lease.release() }
  }

  return {
    has: (key) => memory.get(key) !== undefined || file?.get(key) !== undefined,
    joined: (key) =>
      read(
        key,
        key,
        (stored) => stored.joinedLength,
        (stored, target) => stored.readJoined(target),
      ),
    deflated: (key) =>
      read(
        key,
        deflatedKey(key),
        (stored) => stored.deflatedLength,
        (stored, target) => stored.readDeflated(target),
      ),
    put(key, segment) {
      const { table, joined, deflated } = segment
      if (file === undefined || memory.worthKeeping(key)) memory.set(key, { table, bytes: joined })
      if (file === undefined) memory.set(deflatedKey(key), { table, bytes: deflated })
      file?.put(key, segment)
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
