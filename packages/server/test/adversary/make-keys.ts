/** The store of a service that is attacked, before it is served: tenants for adversaries and for the bystander, and their keys. */
import { randomUUID } from 'node:crypto'
import { catalogues } from '@property-events/protocol'
import type { Scope } from '@property-events/protocol'
import { issueKey, loadPeppers, openStorage } from '../../src/index.ts'
import type { OpenStorageOptions, Pepper, StorageEngine } from '../../src/index.ts'

export interface TenantKeys {
  readonly keys: readonly string[]
  readonly publishKey: string
}

export interface MadeKeys {
  /** Four readers of what will be large pages. */
  readonly large: TenantKeys
  /** Twelve readers of what will be a long feed. */
  readonly long: TenantKeys
  /** One publisher each. */
  readonly publishers: readonly TenantKeys[]
  /** One reader that asks often, and twenty that come in turn. */
  readonly bystander: TenantKeys
}

export type Place = Pick<Extract<OpenStorageOptions, { kind: 'sqlite' }>, 'kind' | 'folder'> | PostgresPlace

interface PostgresPlace {
  readonly kind: 'postgres'
  readonly url: string
  readonly readConnections: number
}

export async function makeKeys(place: Place, keyPepper: string): Promise<MadeKeys> {
  const storage = await openStorage({
    ...place,
    create: true,
    catalogue: catalogues.default,
    startSequence: 0,
  })
  try {
    const [pepper] = loadPeppers({ folder: undefined, given: keyPepper })
    const make = (count: number, scope: Scope) => newTenant(storage, pepper, count, scope)
    return {
      large: await make(4, 'property:read'),
      long: await make(12, 'property:read'),
      publishers: await Promise.all(Array.from({ length: 8 }, () => make(1, 'property:publish'))),
      bystander: await make(21, 'property:read'),
    }
  } finally {
    await storage.close()
  }
}

async function newTenant(
  storage: StorageEngine,
  pepper: Pepper,
  count: number,
  scope: Scope,
): Promise<TenantKeys> {
  const tenantId = randomUUID()
  const actor = 'cli:test'
  const tenant = { tenantId, name: tenantId, createdMs: Date.now(), suspended: false }
  await storage.tenants.createTenant(tenant, actor)
  const issue = async (scope: Scope): Promise<string> => {
    const grants = [{ tenantId, scopes: [scope] }]
    const request = {
      label: 'test',
      operator: false,
      grants,
      expiresMs: undefined,
      nowMs: Date.now(),
      actor,
    } as const
    const issued = await issueKey(storage.keys, pepper, request)
    if (issued.kind !== 'issued') throw new Error(`no key: ${issued.kind}`)
    return issued.text
  }
  const keys = await Promise.all(Array.from({ length: count }, () => issue(scope)))
  return { keys, publishKey: await issue('property:publish') }
}
