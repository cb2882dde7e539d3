import { hash } from 'node:crypto'
import { bytesOfUuid, uuidOfSha1 } from '@property-events/protocol/plain'

/** A UUID version 5 (RFC 9562): the same namespace and name give the same UUID for ever (D16, derived events). */
export function uuidV5(namespace: string, name: string): string {
  return uuidOfSha1(hash('sha1', Buffer.concat([bytesOfUuid(namespace), Buffer.from(name)]), 'buffer'))
}
