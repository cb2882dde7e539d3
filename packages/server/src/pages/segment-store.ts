/** Sealed segments in memory and in a file: one look-up for both, and bytes that are given back after use. */
import type { SegmentFile, StoredSegment } from './segment-file.ts'
import { eventsPerSegment, joinedSpan, wholeText } from './segment.ts'
import type { Lease, SegmentBytes, SegmentMemory } from './segment-memory.ts'
import type { Segment } from './segment.ts'

export interface SegmentStore {
  has(key: string): boolean
  /** The joined bytes of `count` events from `index` on. */
  joined(key: string, index: number, count: number): SegmentBytes | undefined
  /** The bytes of one event, where reading just them is enough: not before the whole segment was found to be whole. */
  event(key: string, index: number): SegmentBytes | undefined
  /** All deflated bytes. */
  deflated(key: string): SegmentBytes | undefined
  put(key: string, segment: Segment): void
  /** A name for each view of each feed of which there are segments: a segment's key without its number. */
  seriesNames(): readonly string[]
  clear(): void
  close(): void
}

export interface SegmentStoreParts {
  readonly memory: SegmentMemory
  /** Without one, segments live in memory alone. */
  readonly file: Pick<SegmentFile, 'get' | 'index' | 'put' | 'clear' | 'close'> | undefined
}

export function createSegmentStore({ memory, file }: SegmentStoreParts): SegmentStore {
  /** Not what was written: a crash took it. All of the file is derived, so all of it is made again. */
  function drop(lease: Lease): undefined {
    lease.release()
    file?.clear()
    return undefined
  }

  function find(key: string): StoredSegment | undefined {
    const stored = file?.get(key)
    if (stored === undefined || stored.isRecorded()) return stored
    file?.clear()
    return undefined
  }

  function readPartOfJoined(stored: StoredSegment, index: number, count: number): SegmentBytes | undefined {
    const [from, to] = stored.readSpan(index, count)
    const { bytes, release } = memory.take(to - from)
    if (!stored.readJoined(bytes, from)) return drop({ bytes, release })
    return { facts: stored, bytes, release }
  }

  function readWhole(form: 'joined' | 'deflated', stored: StoredSegment): SegmentBytes | undefined {
    const byteLength = stored[`${form}Length`]
    const lease = memory.takeFor(form, stored.key, byteLength)
    const { bytes, release, withMargins } = lease
    if (!(form === 'joined' ? stored.readJoined(bytes, 0) : stored.readDeflated(bytes))) return drop(lease)
    lease.keep(stored)
    return { facts: stored, bytes, release, withMargins }
  }

  return {
    has: (key) => memory.has('joined', key) || file?.get(key) !== undefined,
    joined(key, index, count) {
      const kept = memory.get('joined', key)
      if (kept !== undefined) return cut(kept, index, count)
      const stored = find(key)
      if (stored === undefined) return undefined
      const isPart = count < eventsPerSegment / 2
      if (isPart && stored.joinedChecked) return readPartOfJoined(stored, index, count)
      const whole = readWhole('joined', stored)
      return whole && cut(whole, index, count)
    },
    event(key, index) {
      const kept = memory.get('joined', key)
      if (kept !== undefined) return cut(kept, index, 1)
      const stored = find(key)
      return stored?.joinedChecked === true ? readPartOfJoined(stored, index, 1) : undefined
    },
    deflated(key) {
      const kept = memory.get('deflated', key)
      if (kept !== undefined) return kept
      const stored = find(key)
      return stored && readWhole('deflated', stored)
    },
    put(key, segment) {
      if (file !== undefined) {
        file.put(key, segment)
        return
      }
      const { table, joined, deflated } = segment
      const facts = { whole: wholeText(table), table: () => table }
      memory.put('joined', key, joined, facts)
      memory.put('deflated', key, deflated, facts)
    },
    seriesNames: () => file?.index.names() ?? [],
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

function cut(found: SegmentBytes, index: number, count: number): SegmentBytes {
  if (count === eventsPerSegment) return found
  const bytes = found.bytes.subarray(...joinedSpan(found.facts.table(), index, count))
  // What is around a part of a segment is the rest of it, no margin.
  return { ...found, bytes, withMargins: undefined }
}
