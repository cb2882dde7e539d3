/** SHA-256 of a text, for hashes that are made and kept by the thousand. */
import { hash } from 'node:crypto'

/**
 * 32 bytes, in memory that many of them share. `hash` itself gives each an `ArrayBuffer` of its own, which the garbage collector
 * has to list, visit and free one by one.
 */
export function sha256(text: string): Uint8Array {
  return Buffer.from(hash('sha256', text, 'latin1'), 'latin1')
}
