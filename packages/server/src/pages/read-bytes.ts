import { readSync } from 'node:fs'

/** Fills `target` with what stands at `at`. False: the file ends before, or the disk does not give it. */
export function readBytes(file: number, target: Uint8Array | Uint32Array, at: number): boolean {
  try {
    return readSync(file, target, 0, target.byteLength, at) === target.byteLength
  } catch {
    // The file is derived data: what cannot be read is as good as not there.
    return false
  }
}
