/** Sealed segments in memory and in a file, with one look-up for both. Bytes are released after use. */
import type { SegmentFile } from './segment-file.ts'
import type { SegmentId } from './segment-id.ts'
import type { SeriesWatcher } from './segment-index.ts'
import { eventsPerSegment, joinedSpan, wholeText } from './segment.ts'
import type { Lease, SegmentBytes, SegmentMemory } from './segment-memory.ts'
import type { SegmentForm } from './segment-cache.ts'
import type { Segment } from './segment.ts'
import type { StoredSegment } from './stored-segment.ts'

export interface SegmentStore {
  has(id: SegmentId): boolean
  /** The length of `count` joined events from `index` on. It reads none of them. */
  joinedLength(id: SegmentId, index: number, count: number): number | undefined
  /** The joined bytes of `count` events from `index` on, unless they are longer than `longestSegment`. */
  joined(id: SegmentId, index: number, count: number): SegmentBytes | undefined
  /** The bytes of one event, if the whole segment has been checked and only the event has to be read. */
  event(id: SegmentId, index: number): SegmentBytes | undefined
  /**
   * All deflated bytes, unless they are longer than `longestSegment`. For fewer events than the segment has, its table is needed too: it is
   * read now, because it may be overwritten in the file as soon as this returns.
   */
  deflated(id: SegmentId, count: number): SegmentBytes | undefined
  put(id: SegmentId, segment: Segment): void
  /** True when the last segment that was put did not fit into the file. */
  isFull(): boolean
  /** The watcher hears of the series in the file, and at once of those that exist. */
  watch(watcher: SeriesWatcher): void
  /**
   * Forgets the series with this prefix at once. Resolves when their bytes in the file are zeros on the disk.
   */
  forget(prefix: string): Promise<void>
  /** Forgets everything, in memory and in the file. */
  clear(): void
  close(): void
}

/** Longer segments are not sealed: an answer holds at most this much of a segment at a time. */
export const longestSegment = 4 * 2 ** 20

interface SegmentStoreParts {
  readonly memory: SegmentMemory
  /** Without a file, segments live in memory alone. */
  readonly file: SegmentFile | undefined
}

export function createSegmentStore(parts: SegmentStoreParts): SegmentStore {
  const { memory, file } = parts
  return {
    has: (id) => memory.has('joined', id) || file?.get(id) !== undefined,
    joinedLength(id, index, count) {
      const kept = memory.get('joined', id)
      const found = kept && cut(parts, kept, index, count)
      found?.release()
      if (found !== undefined) return found.bytes.length
      const stored = find(parts, id)
      if (stored === undefined || count === eventsPerSegment) return stored?.joinedLength
      const span = stored.readSpan(index, count)
      return span === undefined ? drop(parts) : span[1] - span[0]
    },
    joined(id, index, count) {
      const kept = memory.get('joined', id)
      if (kept !== undefined) return cut(parts, kept, index, count)
      const stored = find(parts, id)
      if (stored === undefined) return undefined
      const isPart = count < eventsPerSegment / 2
      if (isPart && stored.joinedChecked) return readPartOfJoined(parts, stored, index, count)
      if (stored.joinedLength > longestSegment) return undefined
      const whole = readWhole(parts, 'joined', stored)
      return whole && cut(parts, whole, index, count)
    },
    event(id, index) {
      const kept = memory.get('joined', id)
      if (kept !== undefined) return cut(parts, kept, index, 1)
      const stored = find(parts, id)
      return stored?.joinedChecked === true ? readPartOfJoined(parts, stored, index, 1) : undefined
    },
    deflated(id, count) {
      let found = memory.get('deflated', id)
      if (found === undefined) {
        const stored = find(parts, id)
        if (stored !== undefined && stored.deflatedLength > longestSegment) return undefined
        found = stored && readWhole(parts, 'deflated', stored)
      }
      return found === undefined || count === eventsPerSegment || hasTable(found) ? found : drop(parts, found)
    },
    put(id, segment) {
      if (file !== undefined) {
        file.put(id, segment)
        return
      }
      const { table, joined, deflated } = segment
      const facts = { whole: wholeText(table), table: () => table }
      memory.put('joined', id, joined, facts)
      memory.put('deflated', id, deflated, facts)
    },
    isFull: () => file?.isFull() === true,
    watch: (watcher) => file?.index.watch(watcher),
    async forget(prefix) {
      memory.forget(prefix)
      await file?.forget(prefix)
      if (file?.isMostlyWiped() === true) clear(parts)
    },
    clear: () => clear(parts),
    close() {
      memory.clear()
      file?.close()
    },
  }
}

/** The kept bytes go with the file, because their tables are read from it on first use. */
function clear({ memory, file }: SegmentStoreParts): void {
  memory.clear()
  file?.clear()
}

/** The file is damaged by a crash, or unreadable. All of it is derived data, so all of it is rebuilt. */
function drop(parts: SegmentStoreParts, lease?: Lease): undefined {
  lease?.release()
  clear(parts)
  return undefined
}

function find(parts: SegmentStoreParts, id: SegmentId): StoredSegment | undefined {
  const stored = parts.file?.get(id)
  return stored === undefined || stored.isRecorded() ? stored : drop(parts)
}

function readPartOfJoined(
  parts: SegmentStoreParts,
  stored: StoredSegment,
  index: number,
  count: number,
): SegmentBytes | undefined {
  const span = stored.readSpan(index, count)
  if (span === undefined) return drop(parts)
  const [from, to] = span
  if (to - from > longestSegment) return undefined
  const { bytes, ownBytes, release } = parts.memory.take(to - from)
  if (!stored.readJoined(bytes, from)) return drop(parts, { bytes, ownBytes, release })
  return { facts: stored, bytes, ownBytes, release }
}

function readWhole(
  parts: SegmentStoreParts,
  form: SegmentForm,
  stored: StoredSegment,
): SegmentBytes | undefined {
  const byteLength = stored[`${form}Length`]
  const lease = parts.memory.takeFor(form, stored, byteLength)
  const { bytes, ownBytes, release, withMargins } = lease
  const isRead = form === 'joined' ? stored.readJoined(bytes, 0) : stored.readDeflated(bytes)
  if (!isRead) return drop(parts, lease)
  lease.keep(stored)
  return { facts: stored, bytes, ownBytes, release, withMargins }
}

function cut(
  parts: SegmentStoreParts,
  found: SegmentBytes,
  index: number,
  count: number,
): SegmentBytes | undefined {
  if (count === eventsPerSegment) return found
  if (!hasTable(found)) return drop(parts, found)
  const bytes = found.bytes.subarray(...joinedSpan(found.facts.table(), index, count))
  // Around a part of a segment is the rest of the segment, and no margin.
  return { ...found, bytes, withMargins: undefined }
}

/** If so, the table is read and known from then on. */
function hasTable({ facts }: SegmentBytes): boolean {
  try {
    facts.table()
    return true
  } catch {
    return false
  }
}
