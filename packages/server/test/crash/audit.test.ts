/** `kill -9` while keys and tenants are changed: what the audit says is what was changed, no more and no less. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { catalogues } from '@property-events/protocol'
import Database from 'better-sqlite3'
import { openStorage, storeFileOf } from '../../src/store/open-storage.ts'
import type { OpenStorageOptions } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const cycles = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 100 : 3
const changer = fileURLToPath(new URL('./key-changer.ts', import.meta.url))

async function changeAndKill(place: OpenStorageOptions): Promise<void> {
  using child = spawn(process.execPath, [changer, JSON.stringify(place)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
  child.stdout.resume()
  await Promise.race([once(child.stdout, 'data'), exited])
  await delay(randomInt(0, 100))
  child.kill('SIGKILL')
  const [, signal] = await exited
  assert.equal(signal, 'SIGKILL', `it ended by itself: ${errors}`)
}

/** What the state of tenants and keys says was changed, a word for each row there must be. */
async function changesIn({ keys, tenants }: StorageEngine): Promise<readonly string[]> {
  const ofTenants = (await tenants.tenants()).flatMap(({ tenantId, name, reference, suspended }) => [
    `tenant.created ${tenantId} ${tenantId}`,
    ...(name === tenantId ? [] : [`tenant.renamed ${tenantId} ${tenantId}`]),
    // One that was brought in has had its reference from the beginning.
    ...(reference?.startsWith('changed') === true ? [`tenant.referenced ${tenantId} ${tenantId}`] : []),
    ...(suspended ? [`tenant.suspended ${tenantId} ${tenantId}`] : []),
  ])
  const all = await keys.keys()
  const rotated = new Set(all.map(({ replaces }) => replaces))
  const ofKeys = all.flatMap(({ keyId, grants, label, networks, replaces, expiresMs, revokedMs }) =>
    grants.flatMap(({ tenantId }) => [
      `key.created ${tenantId} ${keyId}`,
      // A key in place of another has these from that one.
      ...(label === '' || replaces !== undefined ? [] : [`key.labelled ${tenantId} ${keyId}`]),
      ...(networks === undefined ? [] : [`key.networks_set ${tenantId} ${keyId}`]),
      ...(rotated.has(keyId) ? [`key.rotated ${tenantId} ${keyId}`] : []),
      ...(expiresMs === undefined || replaces !== undefined ? [] : [`key.expiry_set ${tenantId} ${keyId}`]),
      ...(revokedMs === undefined ? [] : [`key.revoked ${tenantId} ${keyId}`]),
    ]),
  )
  return [...ofTenants, ...ofKeys].toSorted()
}

async function rowsIn({ audit }: StorageEngine): Promise<readonly string[]> {
  const rows = await audit.read({ first: 'oldest', limit: 1_000_000 })
  assert(rows !== 'unknownRow')
  return rows.map(({ action, tenant, target }) => `${action} ${tenant} ${target}`).toSorted()
}

describe('a process killed while it changes keys and tenants', () => {
  it('would be found out: by a change without its row, and by a row without its change (D11)', async () => {
    using folder = temporaryFolder()
    const place = {
      kind: 'sqlite',
      folder: folder.path,
      create: true,
      catalogue: catalogues.default,
    } as const
    await using store = await openStorage(place)
    const tenantId = randomUUID()
    const tenant = { tenantId, name: tenantId, createdMs: 0, suspended: false }
    await store.tenants.createTenant(tenant, 'cli:test')
    assert.deepEqual(await rowsIn(store), await changesIn(store))
    const db = new Database(storeFileOf(folder.path))
    db.prepare('UPDATE tenant SET suspended = 1').run()
    assert.notDeepEqual(await rowsIn(store), await changesIn(store), 'a change without its row')
    db.prepare('UPDATE tenant SET suspended = 0').run()
    db.close()
    assert.deepEqual(await rowsIn(store), await changesIn(store))
    const change = { action: 'tenant.suspended', tenant: tenantId, target: tenantId, detail: {} } as const
    await store.audit.note(change, 'cli:test')
    assert.notDeepEqual(await rowsIn(store), await changesIn(store), 'a row without its change')
  })

  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    it(`leaves no change without its row and no row without its change, ${cycles} times over, on ${engine}`, async () => {
      using folder = temporaryFolder()
      const place: OpenStorageOptions =
        engine === 'SQLite'
          ? { kind: 'sqlite', folder: folder.path, create: true, catalogue: catalogues.default }
          : {
              kind: 'postgres',
              url: await (await sharedDatabases()).create(),
              readConnections: 2,
              create: true,
              catalogue: catalogues.default,
            }
      await (await openStorage(place)).close()
      for (let cycle = 1; cycle <= cycles; cycle += 1) {
        await changeAndKill(place)
        await using store = await openStorage(place)
        // Reading the audit in order waits for commits that the killed process had under way.
        const rows = await rowsIn(store)
        assert.deepEqual(rows, await changesIn(store), `after kill ${cycle}`)
        assert.ok(rows.length > cycle * 3, 'changes were under way')
      }
    })
  }
})
