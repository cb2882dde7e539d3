/** Administration on a file: lists on the connection that reads, changes on the writer's. */
import { keyChanged, keyCreated, keyRotated, tenantChanged, tenantCreated } from '../../audit/changes.ts'
import type { Actor } from '../../audit/audit.ts'
import { changedKey, changedTenant, decideImport, rotatedKeys } from '../changed-records.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import { wordsOf } from '../key-store.ts'
import type {
  AdminStore,
  ChangeKeyOutcome,
  ChangeTenantOutcome,
  FreshKey,
  ImportedTenant,
  ImportTenantOutcome,
  KeyChange,
  KeyRecord,
  TenantChange,
} from '../storage.ts'
import type { RotateKeyOutcome } from '../admin-store.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { recordInserter } from './insert-records.ts'
import { grantReader, keyColumns, keyReads, recordOf, tenantColumns, tenantOf } from './keys.ts'
import type { KeyRow, TenantRow } from './keys.ts'
import type { WriterLink } from './writer-link.ts'

export interface AdminWrites {
  changeTenant(tenantId: string, change: TenantChange, actor: Actor): ChangeTenantOutcome
  importTenants(tenants: readonly ImportedTenant[], actor: Actor): readonly ImportTenantOutcome[]
  changeKey(keyId: string, change: KeyChange, actor: Actor): ChangeKeyOutcome
  rotateKey(keyId: string, fresh: FreshKey, actor: Actor): RotateKeyOutcome
}

export function fileAdmin(db: Connection, link: WriterLink): Unguarded<AdminStore> {
  return {
    ...adminReads(db),
    changeTenant: (tenantId, change, actor) => link.call('changeTenant', tenantId, change, actor),
    importTenants: (tenants, actor) => link.call('importTenants', tenants, actor),
    changeKey: (keyId, change, actor) => link.call('changeKey', keyId, change, actor),
    rotateKey: (keyId, fresh, actor) => link.call('rotateKey', keyId, fresh, actor),
  }
}

type AdminReads = Pick<Unguarded<AdminStore>, 'findTenant' | 'tenantsAfter' | 'keysAfter'>

/** Exported because a test checks their query plans. */
export const adminSelects = {
  tenants: `SELECT tenant_no, ${tenantColumns} FROM tenant WHERE tenant_no > ? ORDER BY tenant_no LIMIT ?`,
  keys: `SELECT ${keyColumns} FROM key WHERE key_no > ? ORDER BY key_no LIMIT ?`,
  keysOfTenant: `SELECT ${keyColumns} FROM key WHERE key_no IN (
      SELECT DISTINCT key_no FROM key_grant WHERE tenant = ? AND key_no > ? ORDER BY key_no LIMIT ?
    ) ORDER BY key_no`,
} as const

function adminReads(db: Connection): AdminReads {
  const selectTenant = db.prepare<[string], TenantRow & { readonly deleting: number }>(
    `SELECT ${tenantColumns}, tenant IN (SELECT tenant FROM tenant_deletion WHERE state <> 'deleted') AS deleting
      FROM tenant WHERE tenant = ?`,
  )
  const selectTenants = db.prepare<[number, number], TenantRow & { readonly tenant_no: number }>(
    adminSelects.tenants,
  )
  const selectKeys = db.prepare<[number, number], KeyRow>(adminSelects.keys)
  const selectOfTenant = db.prepare<[string, number, number], KeyRow>(adminSelects.keysOfTenant)
  const grantsOf = grantReader(db)
  return {
    findTenant(tenantId) {
      const row = selectTenant.get(tenantId)
      return row && { ...tenantOf(row), ...(row.deleting === 1 ? { deleting: true } : {}) }
    },
    tenantsAfter: (place, limit) =>
      selectTenants.all(place, limit).map((row) => ({ place: row.tenant_no, tenant: tenantOf(row) })),
    // One transaction, so that keys and grants come from one state.
    keysAfter: db.transaction(({ after, limit, tenantId }: Parameters<AdminStore['keysAfter']>[0]) => {
      const rows =
        tenantId === undefined ? selectKeys.all(after, limit) : selectOfTenant.all(tenantId, after, limit)
      return rows.map((row) => ({ place: row.key_no, record: recordOf(row, grantsOf(row.key_no)) }))
    }),
  }
}

export function adminWrites(db: Connection, note: NoteChanges): AdminWrites {
  const change = tenantChanger(db, note)
  const bring = tenantImporter(db, note)
  const keys = keyChanger(db, note)
  return {
    changeTenant: (tenantId, given, actor) => change.immediate(tenantId, given, actor),
    importTenants: (tenants, actor) => bring.immediate(tenants, actor),
    changeKey: (keyId, given, actor) => keys.change.immediate(keyId, given, actor),
    rotateKey: (keyId, fresh, actor) => keys.rotate.immediate(keyId, fresh, actor),
  }
}

function tenantChanger(db: Connection, note: NoteChanges) {
  const select = db.prepare<[string], TenantRow>(`SELECT ${tenantColumns} FROM tenant WHERE tenant = ?`)
  const nameOf = db
    .prepare<[string, string], number>('SELECT 1 FROM tenant WHERE name = ? AND tenant <> ?')
    .pluck()
  const referenceOf = db
    .prepare<[string, string], number>('SELECT 1 FROM tenant WHERE reference = ? AND tenant <> ?')
    .pluck()
  const update = db.prepare('UPDATE tenant SET name = ?, reference = ? WHERE tenant = ?')
  // Only if it changes, because that raises the version of all keys.
  const suspend = db.prepare('UPDATE tenant SET suspended = ? WHERE tenant = ?')
  return db.transaction((tenantId: string, change: TenantChange, actor: Actor): ChangeTenantOutcome => {
    const row = select.get(tenantId)
    if (row === undefined) return { kind: 'unknownTenant' }
    const before = tenantOf(row)
    const tenant = changedTenant(before, change)
    const { name, reference, suspended } = tenant
    if (name !== before.name && nameOf.get(name, tenantId) !== undefined) return { kind: 'nameTaken' }
    if (reference !== undefined && referenceOf.get(reference, tenantId) !== undefined) {
      return { kind: 'referenceTaken' }
    }
    update.run(name, reference ?? null, tenantId)
    if (suspended !== before.suspended) suspend.run(suspended ? 1 : 0, tenantId)
    note(tenantChanged(before, tenant), actor)
    return { kind: 'changed', tenant }
  })
}

function tenantImporter(db: Connection, note: NoteChanges) {
  const ofReference = db.prepare<[string], TenantRow>(
    `SELECT ${tenantColumns} FROM tenant WHERE reference = ?`,
  )
  const hasName = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE name = ?').pluck()
  const insert = recordInserter(db)
  return db.transaction((tenants: readonly ImportedTenant[], actor: Actor) => {
    const { outcomes, made } = decideImport(tenants, {
      byReference: new Map(
        tenants.flatMap(({ tenant: { reference } }) => {
          const row = ofReference.get(reference)
          return row === undefined ? [] : [[reference, tenantOf(row)]]
        }),
      ),
      names: new Set(
        tenants.flatMap(({ tenant: { name } }) => (hasName.get(name) === undefined ? [] : [name])),
      ),
    })
    for (const { tenant, keys } of made) {
      insert.tenant(tenant)
      for (const key of keys) insert.key(key)
      note([...tenantCreated(tenant), ...keys.flatMap(keyCreated)], actor)
    }
    return outcomes
  })
}

function keyChanger(db: Connection, note: NoteChanges) {
  const reads = keyReads(db)
  const insert = recordInserter(db)
  const update = db.prepare(
    `UPDATE key SET label = ?, expires_ms = ?, rate_per_second = ?, rate_burst = ?, networks = ? WHERE key_id = ?`,
  )
  const write = ({ keyId, label, expiresMs, rate, networks }: KeyRecord): void => {
    const { perSecond = null, burst = null } = rate ?? {}
    update.run(label, expiresMs ?? null, perSecond, burst, wordsOf(networks), keyId)
  }
  const change = db.transaction((keyId: string, given: KeyChange, actor: Actor): ChangeKeyOutcome => {
    const before = reads.findKey(keyId)?.record
    if (before === undefined) return { kind: 'unknownKey' }
    if (before.revokedMs !== undefined) return { kind: 'ended' }
    const record = changedKey(before, given)
    write(record)
    note(keyChanged(before, record), actor)
    return { kind: 'changed', record }
  })
  const rotate = db.transaction((keyId: string, fresh: FreshKey, actor: Actor): RotateKeyOutcome => {
    const before = reads.findKey(keyId)?.record
    if (before === undefined) return { kind: 'unknownKey' }
    if (reads.findKey(fresh.keyId) !== undefined) return { kind: 'exists' }
    const rotated = rotatedKeys(before, fresh)
    if (rotated === 'ended') return { kind: 'ended' }
    const { old, record } = rotated
    write(old)
    insert.key(record)
    note(keyRotated(old, record), actor)
    return { kind: 'rotated', record, old }
  })
  return { change, rotate }
}
