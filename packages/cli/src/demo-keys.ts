/** The demo's keys, kept beside its store so that every start prints keys that work. Only for a demo: see D11. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scope } from '@property-events/protocol'
import { createKeyVerifier, issueKey, pepperForNew, readPepperUse } from '@property-events/server'
import type { Grant, Peppers, StorageEngine } from '@property-events/server'
import { memberOf, memberText } from './members.ts'
import { writeWhole } from './write-whole.ts'

export interface TenantKeys {
  readonly tenantId: string
  readonly name: string
  /** Both read scopes. */
  readonly readKey: string
  /** Both publish scopes. */
  readonly publishKey: string
}

export interface DemoKeys {
  readonly tenants: readonly TenantKeys[]
}

const fileName = 'demo-keys.json'
const readScopes: readonly Scope[] = ['property:read', 'contact:read']
const publishScopes: readonly Scope[] = ['property:publish', 'contact:publish']

/** Uses the kept keys that still work, makes the others, and keeps them all. */
export async function demoKeys(
  folder: string,
  storage: Pick<StorageEngine, 'keys' | 'nodes'>,
  peppers: Peppers,
  tenants: readonly { readonly tenantId: string; readonly name: string }[],
): Promise<DemoKeys> {
  const { keys } = storage
  const kept = readKept(folder)
  const pepper = pepperForNew(peppers, await readPepperUse(storage)) ?? peppers[0]
  const verifier = createKeyVerifier({ keys, peppers, clock: Date.now })
  let changed = false
  const workingKey = async (
    text: string | undefined,
    label: string,
    grants: readonly Grant[],
  ): Promise<string> => {
    if (text !== undefined && (await verifier.verify(text)).kind === 'valid') return text
    changed = true
    const issued = await issueKey(keys, pepper, {
      label,
      operator: false,
      grants,
      expiresMs: undefined,
      nowMs: Date.now(),
      actor: 'service',
    })
    if (issued.kind !== 'issued') throw new Error('the tenants of the demo are gone')
    return issued.text
  }
  try {
    const made: TenantKeys[] = []
    for (const { tenantId, name } of tenants) {
      const before = keptTenant(kept, tenantId)
      const readKey = memberText(before, 'readKey')
      const publishKey = memberText(before, 'publishKey')
      made.push({
        tenantId,
        name,
        readKey: await workingKey(readKey, 'demo website', [{ tenantId, scopes: readScopes }]),
        publishKey: await workingKey(publishKey, 'demo agency software', [
          { tenantId, scopes: publishScopes },
        ]),
      })
    }
    const all = { tenants: made }
    if (changed) await writeWhole(join(folder, fileName), [`${JSON.stringify(all, undefined, 2)}\n`])
    return all
  } finally {
    await verifier.close()
  }
}

function readKept(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, fileName), 'utf8'))
  } catch {
    return undefined
  }
}

function keptTenant(kept: unknown, tenantId: string): unknown {
  const tenants = memberOf(kept, 'tenants')
  return Array.isArray(tenants)
    ? tenants.find((tenant) => memberText(tenant, 'tenantId') === tenantId)
    : undefined
}
