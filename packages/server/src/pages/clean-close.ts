/**
 * The index of a file that is never flushed, left beside it when it is closed in good order: whoever opens it next reads
 * no record, and needs not check again what was flushed. It says how long the file was and when it was last written to, and is
 * taken away as soon as the file is opened.
 */
import { fstatSync, fsyncSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import type { SegmentSeries } from './segment-index.ts'

const notePath = (path: string): string => `${path}.closed`

/** To be asked once, when the file at `path` has been opened as `descriptor`. `undefined`: the file speaks for itself. */
export function takeCloseNote(path: string, descriptor: number): readonly SegmentSeries[] | undefined {
  try {
    const note = readFileSync(notePath(path))
    rmSync(notePath(path))
    const behind = note.indexOf('\n')
    const body = note.subarray(behind + 1)
    return note.toString('latin1', 0, behind) === headOf(descriptor, body) ? deserialize(body) : undefined
  } catch {
    return undefined
  }
}

/** Flushes the file and leaves the note. A folder that takes none costs the next start its time, and does no harm. */
export function leaveCloseNote(path: string, descriptor: number, index: readonly SegmentSeries[]): void {
  try {
    fsyncSync(descriptor)
    const body = serialize(index)
    const note = Buffer.concat([Buffer.from(`${headOf(descriptor, body)}\n`), body])
    writeFileSync(notePath(path), note, { mode: 0o600 })
  } catch {
    rmSync(notePath(path), { force: true })
  }
}

/** What fits no other file, and no other note. */
function headOf(descriptor: number, body: Uint8Array): string {
  const { size, mtimeNs } = fstatSync(descriptor, { bigint: true })
  return `${size} ${mtimeNs} ${crc32(body)}`
}
