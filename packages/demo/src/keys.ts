/** The demo's keys, saved beside its store so that every start prints keys that work. Only for a demo: see D11. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { adminScopes, memberOf, memberText } from '@property-events/protocol'
import type { Scope } from '@property-events/protocol'
import { createKeyVerifier, issueKey, pepperForNew, readPepperUse } from '@property-events/server'
import type { Grant, Peppers, StorageEngine } from '@property-events/server'
import { writeWhole } from '@property-events/server/plain'

export interface TenantKeys {
  readonly tenantId: string
  readonly name: string
  /** Both read scopes, and those for webhooks. */
  readonly readKey: string
  /** Both publish scopes. */
  readonly publishKey: string
}

export interface DemoKeys {
  /** The key of an operator, with every scope. */
  readonly adminKey: string
  readonly tenants: readonly TenantKeys[]
}

/** The keys, and the address at which the demo last listened. */
export interface SavedDemo extends DemoKeys {
  readonly url: string
}

const fileName = 'demo-keys.json'
const readScopes: readonly Scope[] = [
  'property:read',
  'contact:read',
  'property:webhooks',
  'contact:webhooks',
]
const publishScopes: readonly Scope[] = ['property:publish', 'contact:publish']

/** Uses the saved keys that still work, makes the others, and keeps them all, with the address of the service. */
export async function demoKeys(
  folder: string,
  storage: Pick<StorageEngine, 'keys' | 'nodes'>,
  peppers: Peppers,
  tenants: readonly { readonly tenantId: string; readonly name: string }[],
  url: string,
): Promise<DemoKeys> {
  const { keys } = storage
  const saved = readSavedKeys(folder)
  const pepper = pepperForNew(peppers, await readPepperUse(storage)) ?? peppers[0]
  const verifier = createKeyVerifier({ keys, peppers, clock: Date.now })
  let changed = memberText(saved, 'url') !== url
  const workingKey = async (
    text: string | undefined,
    label: string,
    grants: readonly Grant[],
  ): Promise<string> => {
    const operator = grants.length === 0
    if (text !== undefined && (await verifier.verify(text)).kind === 'valid') return text
    changed = true
    const issued = await issueKey(keys, pepper, {
      label,
      operator,
      adminScopes: operator ? adminScopes : [],
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
      const before = savedTenant(saved, tenantId)
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
    const adminKey = await workingKey(memberText(saved, 'adminKey'), 'demo operator', [])
    const all: SavedDemo = { url, adminKey, tenants: made }
    if (changed) await writeWhole(join(folder, fileName), [`${JSON.stringify(all, undefined, 2)}\n`])
    return { adminKey, tenants: made }
  } finally {
    await verifier.close()
  }
}

/** What the last start in this folder has stored; `undefined`: there was none, or its file cannot be read. */
export function readSavedDemo(folder: string): SavedDemo | undefined {
  const saved = readSavedKeys(folder)
  const url = memberText(saved, 'url')
  const written = memberOf(saved, 'tenants')
  const adminKey = memberText(saved, 'adminKey')
  if (url === undefined || !URL.canParse(url) || adminKey === undefined || !Array.isArray(written)) {
    return undefined
  }
  const tenants = written.flatMap((tenant) => {
    const [tenantId, name, readKey, publishKey] = ['tenantId', 'name', 'readKey', 'publishKey'].map(
      (member) => memberText(tenant, member),
    )
    if (tenantId === undefined || name === undefined || readKey === undefined || publishKey === undefined)
      return []
    return [{ tenantId, name, readKey, publishKey }]
  })
  return { url, adminKey, tenants }
}

function readSavedKeys(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, fileName), 'utf8'))
  } catch {
    return undefined
  }
}

function savedTenant(saved: unknown, tenantId: string): unknown {
  const tenants = memberOf(saved, 'tenants')
  return Array.isArray(tenants)
    ? tenants.find((tenant) => memberText(tenant, 'tenantId') === tenantId)
    : undefined
}
