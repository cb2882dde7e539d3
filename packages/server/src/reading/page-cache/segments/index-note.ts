/**
 * The index of a file of records. It is written next to the file while the file grows and when it is closed, so that the next start reads
 * no record that the note covers. The file is flushed before the note of its closing, and flushed records need not be checked again. Any
 * other note says only where the records were, and every record is still checked when it is first read.
 */
import { fstatSync, fsyncSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import type { SegmentSeries } from './segment-index.ts'

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
export function readIndexNote(path: string, descriptor: number): IndexNote | undefined {
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
export function leaveIndexNote(path: string, end: number, series: readonly SegmentSeries[]): void {
  leave(path, end, openState, series)
}

/** Flushes the file of `end` bytes and writes its index. */
export function leaveClosingNote(
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
export function forgetIndexNote(path: string): void {
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
