/** Keys: creating, changing, rotating and revoking them, and how they were used (PROTOCOL §12.4, §14.1). */
import type { IssuedKey, Key, Keys, KeyUsage, RotatedKey } from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

interface KeysQuery {
  readonly tenant?: string | undefined
  /** At most 200. */
  readonly limit: number
  readonly after?: string | undefined
}

/** In order of creation, including those that have ended. */
export function listKeys({ tenant, limit, after }: KeysQuery): Operation<Keys> {
  return { path: '/v1/admin/keys', query: { tenant, limit, after } }
}

export function getKey(keyId: string): Operation<Key> {
  return { path: pathOf('/v1/admin/keys/{keyId}', keyId) }
}

export function createKey(body: object): Operation<IssuedKey> {
  return { method: 'POST', path: '/v1/admin/keys', body }
}

/** Members that are left out stay as they are; null removes a value. */
export function changeKey(keyId: string, body: object): Operation<Key> {
  return { method: 'PATCH', path: pathOf('/v1/admin/keys/{keyId}', keyId), body }
}

/** `overlapHours`: how long the old key still works. */
export function rotateKey(keyId: string, overlapHours: number): Operation<RotatedKey> {
  const path = pathOf('/v1/admin/keys/{keyId}/rotate', keyId)
  return { method: 'POST', path, body: { overlapHours } }
}

export function revokeKey(keyId: string): Operation<Key> {
  return { method: 'POST', path: pathOf('/v1/admin/keys/{keyId}/revoke', keyId) }
}

/** By operation and status, day by day for 30 days. */
export function readUsage(keyId: string): Operation<KeyUsage> {
  const path = pathOf('/v1/admin/keys/{keyId}/usage', keyId)
  return { path, query: { by: 'day' } }
}
