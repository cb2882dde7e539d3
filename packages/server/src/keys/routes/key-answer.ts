/** A key in an answer: never its text (PROTOCOL §12). */
import type { KeyRecord } from '../key.ts'

export function keyMembers(record: KeyRecord): object {
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

export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
