/** A key in an answer: never its text (PROTOCOL §12). */
import type { Key } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import type { KeyRecord } from '../key.ts'

export function keyMembers(record: KeyRecord): Key {
  const { keyId, label, operator, adminScopes = [], grants, networks = [], rate, replaces } = record
  return {
    keyId,
    label,
    operator,
    scopes: adminScopes,
    grants,
    networks,
    rate: rate ?? null,
    createdAt: timeOf(record.createdMs),
    expiresAt: timeOf(record.expiresMs),
    revokedAt: timeOf(record.revokedMs),
    lastUsedAt: timeOf(record.lastUsedMs),
    replaces: replaces ?? null,
  }
}
