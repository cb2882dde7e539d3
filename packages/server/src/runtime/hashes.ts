/** SHA-256 for hashes that are made and kept by the thousand, and UUIDs made of names. */
import { hash } from 'node:crypto'
import { bytesOfUuid, uuidOfSha1 } from '@property-events/protocol/plain'

/**
 * 32 bytes, in memory that many of them share. `hash` itself gives each an `ArrayBuffer` of its own, which the garbage collector
 * has to list, visit and free one by one.
 */
export function sha256(text: string): Uint8Array {
  return Buffer.from(hash('sha256', text, 'latin1'), 'latin1')
}

/** A UUID version 5 (RFC 9562): the same namespace and name give the same UUID for ever (D16, derived events). */
export function uuidV5(namespace: string, name: string): string {
  return uuidOfSha1(hash('sha1', Buffer.concat([bytesOfUuid(namespace), Buffer.from(name)]), 'buffer'))
}
