/**
 * Whether a file that is never flushed was closed in good order: then what is in it was flushed, and needs no check. A note
 * beside the file says how long it was and when it was last written to; it is taken away as soon as the file is opened.
 */
import { fstatSync, fsyncSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const notePath = (path: string): string => `${path}.closed`

/** To be asked once, when the file at `path` has been opened as `descriptor`. */
export function takeCloseNote(path: string, descriptor: number): boolean {
  try {
    const note = readFileSync(notePath(path), 'utf8')
    rmSync(notePath(path))
    return note === stateOf(descriptor)
  } catch {
    return false
  }
}

/** Flushes the file and leaves the note. A folder that takes none means a check more, no harm. */
export function leaveCloseNote(path: string, descriptor: number): void {
  try {
    fsyncSync(descriptor)
    writeFileSync(notePath(path), stateOf(descriptor), { mode: 0o600 })
  } catch {
    rmSync(notePath(path), { force: true })
  }
}

function stateOf(descriptor: number): string {
  const { size, mtimeNs } = fstatSync(descriptor, { bigint: true })
  return `${size} ${mtimeNs}`
}
