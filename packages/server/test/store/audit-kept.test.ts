/** The audit in a file: nothing but `audit prune` removes a row. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { copyAudit } from '../../src/transfer/copy-settings.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { tenantA } from './support/drafts.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { testClock } from './support/test-clock.ts'

describe('the audit in a file', () => {
  const open = (folder: string, clock?: ReturnType<typeof testClock>['clock']): Promise<StorageEngine> =>
    openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default, clock })

  it('cannot be changed or emptied by statements, and keeps the rest after a pruning', async () => {
    using folder = temporaryFolder()
    const { clock, set } = testClock('2019-01-01')
    await using store = await withTenants(await open(folder.path, clock))
    set('2026-01-01')
    await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:one')
    const before = await store.audit.read({ first: 'oldest', limit: 10 })
    const db = new Database(join(folder.path, 'property-events.db'))
    const refused = (sql: string) => assert.throws(() => db.exec(sql), /rows of the audit are/, sql)
    const statements = [
      `UPDATE audit SET actor = 'cli:other'`,
      'DELETE FROM audit',
      'DELETE FROM audit WHERE audit_no = 3',
      `REPLACE INTO audit SELECT audit_no, id, at_ms, 'cli:other', action, tenant, target, detail FROM audit`,
      `INSERT OR REPLACE INTO audit (id, at_ms, actor, action, detail)
        SELECT id, 0, 'cli:other', action, detail FROM audit`,
    ]
    for (const sql of statements) refused(sql)
    assert.deepEqual(await store.audit.read({ first: 'oldest', limit: 10 }), before)
    assert.equal(await store.audit.prune(Date.parse('2020-01-01'), 'cli:one'), 2)
    for (const sql of statements) refused(sql)
    assert.deepEqual((await store.audit.read({ first: 'oldest', limit: 10 })).length, 2)
    db.close()
  })

  it('is copied to its end though rows are pruned in the meantime', async () => {
    using folders = temporaryFolder()
    await using from = await withTenants(await open(join(folders.path, 'from')))
    await using to = await open(join(folders.path, 'to'))
    const rows = Array.from({ length: 1_200 }, (_, at) => {
      const id = `01900000-0000-7000-8000-${String(at).padStart(12, '0')}`
      const row = { id, atMs: at, actor: 'cli:one', action: 'tenant.change', tenant: tenantA, target: null }
      return { ...row, detail: { name: [`Tŷ ${at} – £`] } }
    })
    await from.audit.take(rows)
    let reads = 0
    const read: StorageEngine['audit']['read'] = async (query) => {
      reads += 1
      if (reads === 2) await from.audit.prune(600, 'cli:one')
      return from.audit.read(query)
    }
    await copyAudit({ audit: { read } }, to, tenantA)
    const copied: string[] = []
    for (let after: string | undefined; ;) {
      const page = await to.audit.read({ first: 'oldest', after, tenant: tenantA, limit: 500 })
      if (page === 'unknownRow' || page.length === 0) break
      copied.push(...page.map(({ id }) => id))
      after = copied.at(-1)
    }
    const kept = rows.slice(600).map(({ id }) => id)
    assert.ok(kept.every((id) => copied.includes(id)))
    assert.equal(new Set(copied).size, copied.length)
  })
})
