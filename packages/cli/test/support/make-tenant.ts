/**
 * A tenant with keys, made in the store itself. That `tenants create` and `keys create` do so is a test of its own
 * (keys-and-tenants.test.ts), and each start of the program takes some 0.3 s.
 */
import { randomUUID } from 'node:crypto'
import { scopes } from '@property-events/protocol'
import { issueKey, loadPeppers, openStorage } from '@property-events/server'

/** As the program is told of it. */
export interface StorePlace {
  /** The data folder. Without `keyPepper` its file `pepper` is used, and made where there is none. */
  readonly data?: string | undefined
  /** Where the store is in a database. */
  readonly database?: string | undefined
  readonly keyPepper?: string | undefined
}

export interface MadeKey {
  readonly key: string
  readonly keyId: string
}

export interface MadeTenant<Name extends string> {
  readonly tenantId: string
  readonly keys: Readonly<Record<Name, MadeKey>>
}

/** The environment of a program, as a place. */
export function placeOf(environment: Readonly<Record<string, string>>): StorePlace {
  return {
    data: environment['PROPERTY_EVENTS_DATA'],
    database: environment['PROPERTY_EVENTS_DATABASE'],
    keyPepper: environment['PROPERTY_EVENTS_KEY_PEPPER'],
  }
}

/** `wanted`: the scopes of each key, as `keys create --scope` takes them; `read` has those of both feeds. */
export async function makeTenant<Name extends string>(
  { data, database, keyPepper }: StorePlace,
  name: string,
  wanted: Readonly<Record<Name, readonly string[]>>,
): Promise<MadeTenant<Name>> {
  const place =
    database === undefined
      ? ({ kind: 'sqlite', folder: data ?? '', writesOn: 'thisThread' } as const)
      : ({ kind: 'postgres', url: database, readConnections: 1 } as const)
  await using storage = await openStorage({ ...place, create: false })
  const [pepper] = loadPeppers({ folder: data, given: keyPepper })
  const tenantId = randomUUID()
  const actor = 'cli:test'
  await storage.tenants.createTenant({ tenantId, name, createdMs: Date.now(), suspended: false }, actor)
  const made: Partial<Record<Name, MadeKey>> = {}
  for (const label in wanted) {
    const words = wanted[label]
    const granted = scopes.filter((scope) =>
      words.some((word) => scope === word || scope.endsWith(`:${word}`)),
    )
    const request = { label, operator: false, grants: [{ tenantId, scopes: granted }], expiresMs: undefined }
    const issued = await issueKey(storage.keys, pepper, { ...request, nowMs: Date.now(), actor })
    if (issued.kind !== 'issued') throw new Error(`no key: ${issued.kind}`)
    made[label] = { key: issued.text, keyId: issued.record.keyId }
  }
  return { tenantId, keys: made as Record<Name, MadeKey> }
}
