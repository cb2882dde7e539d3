/**
 * Segments in one file beside the store: each is appended once and read with one `pread`. The file is derived data. It is flushed only
 * when it is closed, and it is dropped and rebuilt when a part of it is damaged or cannot be read.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writevSync,
} from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import { createSegmentIndex, placesOf } from './segment-index.ts'
import { segmentOfKey } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { SegmentIndex, SegmentSeries } from './segment-index.ts'
import { endOfWiped, newRecord, readRecord } from './segment-record.ts'
import type { NewRecord } from './segment-record.ts'
import type { Segment } from './segment.ts'
import { createSegmentWiper } from './segment-wiper.ts'
import { storedSegment } from './stored-segment.ts'
import type { StoredSegment } from './stored-segment.ts'

/** The file as page makers use it. */
export interface SegmentFile {
  get(id: SegmentId): StoredSegment | undefined
  /** The contents of the file, as numbers. */
  readonly index: SegmentIndex
  /** Appends the segment. It has no effect if the segment exists already, or does not fit into the file or on the disk. */
  put(id: SegmentId, segment: Segment): void
  /** True when the last segment that was put did not fit. */
  isFull(): boolean
  /**
   * Forgets the series with this prefix at once, and resolves when their bytes are zeros on the disk. Rejects if they cannot be
   * overwritten; the next call tries again. No reader may be using them any longer.
   */
  forget(prefix: string): Promise<void>
  /** More than half of the file is wiped, so it is better to clear it. */
  isMostlyWiped(): boolean
  /** Forgets everything and returns the disk space. */
  clear(): void
  close(): void
}

interface OpenSegmentFile extends SegmentFile {
  readonly byteLength: number
}

/**
 * After a crash this much of the file, or an eighth if that is more, has to be read record by record: 120 µs for each record that is not
 * in memory.
 */
const defaultNoteEveryBytes = 64 * 2 ** 20

/**
 * Opens or creates the file. It keeps whole records and cuts off everything after an incomplete one. It writes a note of the index when
 * `noteEveryBytes`, or an eighth of the file, were added since the last note.
 */
export function openSegmentFile(
  path: string,
  maxBytes: number,
  noteEveryBytes = defaultNoteEveryBytes,
): OpenSegmentFile {
  const { file, index, ...opened } = openRecords(path)
  let { noteEnd, end } = opened
  let full = false
  let closed = false
  const wiper = createSegmentWiper(file)

  function noteProgress(): void {
    // A note that omits what still has to be wiped would hide it from the start after a crash.
    if (wiper.isBusy() || end - noteEnd < Math.max(noteEveryBytes, end / 8)) return
    leaveIndexNote(path, end, index.series())
    noteEnd = end
  }
  noteProgress()

  // Wiped space is not used again. When it is half of the file, it is better to rebuild the whole file.
  const isMostlyWiped = (): boolean => wiper.wipedBytes() > end / 2

  function clear(): void {
    wiper.clear()
    index.clear()
    forgetIndexNote(path)
    cutOff(file, 0)
    end = 0
    noteEnd = 0
    full = false
  }

  return {
    index,
    get byteLength() {
      return end
    },
    get: (id) => storedSegment(file, index, id),
    put(id, segment) {
      if (index.get(id) !== undefined) return
      const record = newRecord(id, segment)
      if (record === undefined) return
      full = end + record.byteLength > maxBytes || !append(file, end, record)
      if (full) return
      index.set(id, record.factsAt(end))
      end += record.byteLength
      noteProgress()
    },
    isFull: () => full,
    async forget(prefix) {
      full = false
      wiper.add(index.forget(prefix).flatMap(placesOf))
      const hasWiped = await wiper.wipe()
      if (!hasWiped || closed) return
      leaveIndexNote(path, end, index.series())
      noteEnd = end
    },
    isMostlyWiped,
    clear,
    close() {
      closed = true
      wiper.close()
      if (isMostlyWiped()) clear()
      leaveClosingNote(path, file, end, index.series())
      closeSync(file)
    },
  }
}

/** `noteEnd`: how much of the file its note covers. `end`: where the last whole record ends, and the file with it. */
function openRecords(path: string) {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const note = readIndexNote(path, file)
  const index = createSegmentIndex(note?.series)
  if (note?.closed === false) index.doubt()
  const noteEnd = note?.end ?? 0
  const end = readRecords(file, noteEnd, index)
  // If there is nothing to cut off, the time of the last change must stay as it is.
  if (end < fstatSync(file).size) ftruncateSync(file, end)
  return { file, index, noteEnd, end }
}

/** Writes a record at the end of the file. True if all of it fitted; if not, the file stays as it was. */
function append(file: number, end: number, { parts, byteLength }: NewRecord): boolean {
  try {
    if (writevSync(file, parts, end) === byteLength) return true
  } catch {
    // The disk is full to the last byte, or no longer accepts writes.
  }
  cutOff(file, end)
  return false
}

/** If the rest cannot be cut off, it is never read and is overwritten later: the index does not contain it. */
function cutOff(file: number, from: number): void {
  try {
    ftruncateSync(file, from)
  } catch {
    // As above.
  }
}

/** Adds the records from `start` on to the index, and returns where the last whole one ends. It does not check their bytes. */
function readRecords(file: number, start: number, index: SegmentIndex): number {
  const { size } = fstatSync(file)
  let end = start
  for (;;) {
    const record = readRecord(file, end, size)
    if (record !== undefined) index.set(segmentOfKey(record.key), record.facts)
    const next = record?.end ?? endOfWiped(file, end, size)
    if (next === undefined) return end
    end = next
  }
}

/**
 * The index of a file of records. It is written next to the file while the file grows and when it is closed, so that the next start reads
 * no record that the note covers. The file is flushed before the note of its closing, and flushed records need not be checked again. Any
 * other note says only where the records were, and every record is still checked when it is first read.
 */
interface IndexNote {
  readonly series: readonly SegmentSeries[]
  /** How many bytes of the file it covers. */
  readonly end: number
  /** True when the file is as it was when it was closed: complete and flushed. */
  readonly closed: boolean
}

const notePath = (path: string): string => `${path}.index`

/**
 * The note of the file at `path`, opened as `descriptor`. `undefined`: there is no usable note, and the records have to be read. An
 * unusable note is removed.
 */
function readIndexNote(path: string, descriptor: number): IndexNote | undefined {
  try {
    const note = readFileSync(notePath(path))
    const lineEnd = note.indexOf('\n')
    const body = note.subarray(lineEnd + 1)
    const [end = '', state = '', sum = ''] = note.toString('latin1', 0, lineEnd).split(' ')
    const { size } = fstatSync(descriptor)
    if (sum === sumOf(end, state, body) && size >= Number(end)) {
      const closed = size === Number(end) && state === closedState(descriptor)
      return { series: deserialize(body), end: Number(end), closed }
    }
  } catch {
    // There is no note, or it cannot be read.
  }
  forgetIndexNote(path)
  return undefined
}

/** Writes the index of the first `end` bytes of a file that continues to grow. */
function leaveIndexNote(path: string, end: number, series: readonly SegmentSeries[]): void {
  leave(path, end, openState, series)
}

/** Flushes the file of `end` bytes and writes its index. */
function leaveClosingNote(
  path: string,
  descriptor: number,
  end: number,
  series: readonly SegmentSeries[],
): void {
  let state = openState
  try {
    fsyncSync(descriptor)
    state = closedState(descriptor)
  } catch {
    // The file could not be flushed. The next start treats it as after a crash.
  }
  leave(path, end, state, series)
}

/** Removes the note: the records are no longer where it says. */
function forgetIndexNote(path: string): void {
  remove(notePath(path))
}

/** If the note stays, it describes the file as it was, and nothing in it is used without a check. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The folder cannot be changed.
  }
}

/** Without a note the next start takes longer, and nothing else is lost. */
function leave(path: string, end: number, state: string, series: readonly SegmentSeries[]): void {
  const newPath = `${notePath(path)}.new`
  try {
    const body = serialize(series)
    const head = `${end} ${state} ${sumOf(String(end), state, body)}\n`
    writeFileSync(newPath, Buffer.concat([Buffer.from(head), body]), { mode: 0o600 })
    // Replaces it in one step, so that the previous note survives a crash.
    renameSync(newPath, notePath(path))
  } catch {
    remove(newPath)
  }
}

const openState = 'open'

/** The time of the last write to the file, which shows any later change. */
function closedState(descriptor: number): string {
  return String(fstatSync(descriptor, { bigint: true }).mtimeNs)
}

function sumOf(end: string, state: string, body: Uint8Array): string {
  return String(crc32(body, crc32(`${end} ${state}`)))
}
