import { readSync } from 'node:fs'

/** Fills `target` with the bytes at `at`. False: the file ends before, or the disk does not return them. */
export function readBytes(file: number, target: Uint8Array | Uint32Array, at: number): boolean {
  try {
    return readSync(file, target, 0, target.byteLength, at) === target.byteLength
  } catch {
    // The file is derived data, so bytes that cannot be read count as missing.
    return false
  }
}
