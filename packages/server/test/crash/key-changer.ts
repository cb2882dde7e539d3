/** Changes keys and tenants without end in the store that is named as JSON, until it is killed. */
import { writeSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { openStorage } from '../../src/store/open-storage.ts'
import type { OpenStorageOptions } from '../../src/store/open-storage.ts'

const place: OpenStorageOptions = JSON.parse(process.argv[2] ?? '')
const store = await openStorage(place)
const scopes = ['contact:read'] as const

async function changeForEver(worker: number): Promise<never> {
  const actor = `cli:${worker}` as const
  for (;;) {
    const tenants = [randomUUID(), randomUUID()]
    for (const tenantId of tenants) {
      await store.tenants.createTenant({ tenantId, name: tenantId, createdMs: 0, suspended: false }, actor)
    }
    const grants = tenants.map((tenantId) => ({ tenantId, scopes }))
    const keyId = randomUUID()
    const times = {
      createdMs: 1,
      expiresMs: undefined,
      revokedMs: undefined,
      lastUsedMs: undefined,
      rate: undefined,
    }
    const secret = { secretHash: new Uint8Array(32), pepperId: 'one' }
    await store.keys.insertKey({ keyId, label: '', operator: false, grants, ...secret, ...times }, actor)
    writeSync(1, 'made\n')
    await store.keys.changeKey(keyId, { expiresMs: 5 }, actor)
    await store.keys.changeKey(keyId, { label: 'changed', networks: ['192.0.2.0/24'] }, actor)
    // It ends by itself before that.
    const fresh = { keyId: randomUUID(), ...secret, createdMs: 3, oldEndsMs: 9 }
    await store.keys.rotateKey(keyId, fresh, actor)
    const change = { name: `${tenants[1]} renamed`, reference: `changed ${keyId}` }
    await store.tenants.changeTenant(tenants[1] ?? '', change, actor)
    const imported = [0, 1].map(() => {
      const tenantId = randomUUID()
      const tenant = { tenantId, name: tenantId, reference: tenantId, createdMs: 0, suspended: false }
      const made = { keyId: randomUUID(), label: '', operator: false, grants: [{ tenantId, scopes }] }
      return { tenant, keys: [{ ...made, ...secret, ...times }] }
    })
    await store.tenants.importTenants(imported, actor)
    await store.tenants.changeTenant(tenants[0] ?? '', { suspended: true }, actor)
    await store.keys.revokeKey(keyId, 7, actor)
  }
}

await Promise.all([0, 1, 2].map(changeForEver))
