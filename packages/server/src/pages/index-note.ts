/**
 * The index of a file of records, left beside it while the file grows and when it is closed: whoever opens the file next reads no
 * record that the note covers. A file is flushed before the note of its closing, and what was flushed need not be checked again;
 * any other note says only what stood where, and every record is still checked when it is first read.
 */
import { fstatSync, fsyncSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import type { SegmentSeries } from './segment-index.ts'

export interface IndexNote {
  readonly series: readonly SegmentSeries[]
  /** How much of the file it covers, in bytes. */
  readonly end: number
  /** The file is as it was when it was closed: all of it, flushed. */
  readonly closed: boolean
}

const notePath = (path: string): string => `${path}.index`

/** Of the file at `path`, opened as `descriptor`. `undefined`: the file speaks for itself. A note that is of no use is taken away. */
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
    // There is none, or none that can be read.
  }
  forgetIndexNote(path)
  return undefined
}

/** Leaves the index of the first `end` bytes of a file that goes on growing. */
export function leaveIndexNote(path: string, end: number, series: readonly SegmentSeries[]): void {
  leave(path, end, openState, series)
}

/** Flushes the file of `end` bytes and leaves its index. */
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
    // It could not be flushed, and is as good as after a crash.
  }
  leave(path, end, state, series)
}

/** What stands where is not so any more. */
export function forgetIndexNote(path: string): void {
  remove(notePath(path))
}

/** A note that stays is of a file as it was: nothing of it is believed unchecked. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The folder takes no changes.
  }
}

/** A folder that takes no note costs the next start its time, and does no harm. */
function leave(path: string, end: number, state: string, series: readonly SegmentSeries[]): void {
  const newPath = `${notePath(path)}.new`
  try {
    const body = serialize(series)
    const head = `${end} ${state} ${sumOf(String(end), state, body)}\n`
    writeFileSync(newPath, Buffer.concat([Buffer.from(head), body]), { mode: 0o600 })
    // In one step, so that a crash leaves the one before.
    renameSync(newPath, notePath(path))
  } catch {
    remove(newPath)
  }
}

const openState = 'open'

/** When the file was last written to: any later change shows. */
function closedState(descriptor: number): string {
  return String(fstatSync(descriptor, { bigint: true }).mtimeNs)
}

function sumOf(end: string, state: string, body: Uint8Array): string {
  return String(crc32(body, crc32(`${end} ${state}`)))
}
