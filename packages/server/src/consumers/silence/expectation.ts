/** Whether publishers and consumers can be expected: their keys and tenants, read once until something changes. */
import type { StorageEngine } from '../../store/storage.ts'
import type { FoundKey } from '../../keys/key.ts'
import type { PresenceName } from './silence.ts'
import { admissionOf, tenantStateOf } from '../../tenants/tenant-state.ts'
import type { PresenceStatus } from './rules.ts'

export interface PresenceStatuses {
  /** Called before a check: reads again what has changed since the last one. */
  refresh(): Promise<void>
  of(name: PresenceName, nowMs: number): Promise<PresenceStatus>
  /** The key that replaced this one in a rotation. */
  successorOf(keyId: string): string | undefined
}

/** What is read to find out who has fallen silent. */
export type SilenceStorage = Pick<StorageEngine, 'keys' | 'leaving' | 'moves' | 'silence' | 'tenants'>

/** Keys that are remembered from one check to the next: those that are silent, ended or paused. */
const cachedAtMost = 40_000

export function presenceStatuses({
  keys,
  leaving,
  moves,
  silence,
  tenants,
}: SilenceStorage): PresenceStatuses {
  let version: string | undefined
  const found = new Map<string, FoundKey | undefined>()
  const ofPublishers = new Map<string, PresenceStatus>()
  let successors: ReadonlyMap<string, string> = new Map()
  let moved: ReadonlySet<string> = new Set()
  let readingEnds: ReadonlyMap<string, number> = new Map()

  async function ofConsumer(keyId: string, nowMs: number): Promise<PresenceStatus> {
    if (!found.has(keyId)) {
      if (found.size >= cachedAtMost) found.clear()
      found.set(keyId, await keys.findKey(keyId))
    }
    const key = found.get(keyId)
    if (key === undefined) return 'gone'
    return successors.has(keyId) ? 'ended' : statusOfKey(key, nowMs)
  }

  async function ofPublisher(tenantId: string, nowMs: number): Promise<PresenceStatus> {
    if (moved.has(tenantId)) return 'paused'
    const known = ofPublishers.get(tenantId)
    if (known !== undefined) return known
    const tenant = await tenants.findTenant(tenantId)
    const facts = tenant && { ...tenant, readingEndsMs: readingEnds.get(tenantId) }
    const status = facts === undefined ? 'gone' : tenantStateOf(facts, nowMs) === 'open' ? 'active' : 'paused'
    ofPublishers.set(tenantId, status)
    return status
  }

  return {
    async refresh() {
      const now = await keys.keysVersion()
      if (now !== version) {
        found.clear()
        successors = new Map((await silence.replacedKeys()).map(({ keyId, by }) => [keyId, by]))
        version = now
      }
      // Tenants without any key change without a new version of the keys.
      ofPublishers.clear()
      moved = new Set((await moves.states()).keys())
      readingEnds = new Map(
        (await leaving.list()).map(({ tenantId, readingEndsMs }) => [tenantId, readingEndsMs]),
      )
    },
    of: (name, nowMs) =>
      name.kind === 'consumer' ? ofConsumer(name.keyId, nowMs) : ofPublisher(name.tenantId, nowMs),
    successorOf: (keyId) => successors.get(keyId),
  }
}

function statusOfKey(found: FoundKey, nowMs: number): PresenceStatus {
  const { revokedMs, expiresMs, grants } = found.record
  if (revokedMs !== undefined || (expiresMs !== undefined && expiresMs <= nowMs)) return 'ended'
  const read = grants.filter(
    ({ scopes }) => scopes.includes('property:read') || scopes.includes('contact:read'),
  )
  if (read.length === 0) return 'ended'
  const admits = admissionOf(found, nowMs)
  return read.some(({ tenantId }) => admits(tenantId)) ? 'active' : 'paused'
}
