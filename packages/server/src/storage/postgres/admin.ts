/** Administration on a database: lists, and changes of several things of a tenant or a key in one commit. */
import { keyChanged, keyCreated, keyRotated, tenantChanged, tenantCreated } from '../../audit/changes.ts'
import { changedKey, changedTenant, decideImport, rotatedKeys } from '../changed-records.ts'
import { wordsOf } from '../key-store.ts'
import type { AdminStore, KeyRecord } from '../storage.ts'
import { texts } from './array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Session, Statement } from './connection.ts'
import { insertKeys, insertTenants } from './insert-records.ts'
import { lockKey, lockNames } from './key-writes.ts'
import { keySelect, recordOf, selectKey, tenantColumns, tenantOf } from './keys.ts'
import type { KeyRow, TenantRow } from './keys.ts'

/** Exported because a test checks their query plans. */
export const adminSelects = {
  tenants: {
    name: 'admin-tenants',
    text: `SELECT tenant_no, ${tenantColumns} FROM tenant WHERE tenant_no > $1 ORDER BY tenant_no LIMIT $2`,
  },
  keys: { name: 'admin-keys', text: `${keySelect} WHERE key_no > $1 ORDER BY key_no LIMIT $2` },
  keysOfTenant: {
    name: 'admin-keys-of-tenant',
    text: `${keySelect} WHERE key_no IN (
        SELECT DISTINCT key_no FROM key_grant WHERE tenant = $1 AND key_no > $2 ORDER BY key_no LIMIT $3
      ) ORDER BY key_no`,
  },
} as const satisfies Readonly<Record<string, Statement>>

const selectTenant: Statement = {
  name: 'admin-tenant',
  text: `SELECT ${tenantColumns}, EXISTS (
      SELECT FROM tenant_deletion d WHERE d.tenant = tenant.tenant AND d.state <> 'deleted'
    ) AS deleting FROM tenant WHERE tenant = $1`,
}
const lockTenant: Statement = {
  name: 'admin-tenant-lock',
  text: `SELECT ${tenantColumns} FROM tenant WHERE tenant = $1 FOR NO KEY UPDATE`,
}
const takenBy: Statement = {
  name: 'admin-taken',
  text: `SELECT EXISTS (SELECT FROM tenant WHERE name = $2 AND tenant <> $1) AS name,
    EXISTS (SELECT FROM tenant WHERE reference = $3 AND tenant <> $1) AS reference`,
}
const updateTenant: Statement = {
  name: 'admin-tenant-update',
  text: 'UPDATE tenant SET name = $2, reference = $3 WHERE tenant = $1',
}
/** A separate statement, because it raises the version of all keys. */
const updateSuspended: Statement = {
  name: 'admin-tenant-suspend',
  text: 'UPDATE tenant SET suspended = $2 WHERE tenant = $1',
}
const selectReferences: Statement = {
  name: 'admin-references',
  text: `SELECT ${tenantColumns} FROM tenant WHERE reference = ANY ($1::text[])`,
}
const selectNames: Statement = {
  name: 'admin-names',
  text: 'SELECT name FROM tenant WHERE name = ANY ($1::text[])',
}
const updateKey: Statement = {
  name: 'admin-key-update',
  text: `UPDATE key SET label = $2, expires_ms = $3, rate_per_second = $4, rate_burst = $5, networks = $6 WHERE key_id = $1`,
}

export function databaseAdmin(database: Database, note: NoteChanges): AdminStore {
  return { ...tenantAdmin(database, note), ...keyAdmin(database, note) }
}

function tenantAdmin(
  database: Database,
  note: NoteChanges,
): Pick<AdminStore, 'findTenant' | 'tenantsAfter' | 'changeTenant' | 'importTenants'> {
  return {
    async findTenant(tenantId) {
      const [row] = await database.read<TenantRow & { readonly deleting: boolean }>(selectTenant, [tenantId])
      return row && { ...tenantOf(row), ...(row.deleting ? { deleting: true } : {}) }
    },
    async tenantsAfter(place, limit) {
      const rows = await database.read<TenantRow & { tenant_no: string }>(adminSelects.tenants, [
        place,
        limit,
      ])
      return rows.map((row) => ({ place: Number(row.tenant_no), tenant: tenantOf(row) }))
    },
    changeTenant: (tenantId, change, actor) =>
      database.transaction(async (session) => {
        // Taken before the row, as everywhere, so that two sessions do not wait for each other. Only a statement after the lock sees what
        // the previous session committed.
        await session.query(lockNames, [])
        const [row] = await session.query<TenantRow>(lockTenant, [tenantId])
        if (row === undefined) return { kind: 'unknownTenant' }
        const before = tenantOf(row)
        const tenant = changedTenant(before, change)
        const { name, reference = null, suspended } = tenant
        const [taken] = await session.query<Taken>(takenBy, [tenantId, name, reference])
        if (taken?.name === true && name !== before.name) return { kind: 'nameTaken' }
        if (taken?.reference === true) return { kind: 'referenceTaken' }
        await session.query(updateTenant, [tenantId, name, reference])
        if (suspended !== before.suspended) await session.query(updateSuspended, [tenantId, suspended])
        await note(session, tenantChanged(before, tenant), actor)
        return { kind: 'changed', tenant }
      }),
    importTenants: (tenants, actor) =>
      database.transaction(async (session) => {
        await session.query(lockNames, [])
        const references = tenants.map(({ tenant: { reference } }) => reference)
        const held = (await session.query<TenantRow>(selectReferences, [texts(references)])).map(tenantOf)
        const wanted = tenants.map(({ tenant: { name } }) => name)
        const names = await session.query<{ name: string }>(selectNames, [texts(wanted)])
        const { outcomes, made } = decideImport(tenants, {
          byReference: new Map(held.map((one) => [one.reference ?? '', one])),
          names: new Set(names.map(({ name }) => name)),
        })
        const records = made.flatMap(({ keys }) => keys)
        const inserted = await insertTenants(
          session,
          made.map(({ tenant }) => tenant),
        )
        if (inserted < made.length || (await insertKeys(session, records)) < records.length) {
          throw new Error('the id of a new tenant or key is taken')
        }
        const changes = made.flatMap(({ tenant, keys }) => [
          ...tenantCreated(tenant),
          ...keys.flatMap(keyCreated),
        ])
        await note(session, changes, actor)
        return outcomes
      }),
  }
}

interface Taken {
  readonly name: boolean
  readonly reference: boolean
  readonly [column: string]: unknown
}

function keyAdmin(
  database: Database,
  note: NoteChanges,
): Pick<AdminStore, 'keysAfter' | 'changeKey' | 'rotateKey'> {
  return {
    async keysAfter({ after, limit, tenantId }) {
      const rows =
        tenantId === undefined
          ? await database.read<KeyRow>(adminSelects.keys, [after, limit])
          : await database.read<KeyRow>(adminSelects.keysOfTenant, [tenantId, after, limit])
      return rows.map((row) => ({ place: Number(row.key_no), record: recordOf(row) }))
    },
    changeKey: (keyId, change, actor) =>
      database.transaction(async (session) => {
        const before = await lockedKey(session, keyId)
        if (before === undefined) return { kind: 'unknownKey' }
        if (before.revokedMs !== undefined) return { kind: 'ended' }
        const record = changedKey(before, change)
        await writeKey(session, record)
        await note(session, keyChanged(before, record), actor)
        return { kind: 'changed', record }
      }),
    rotateKey: (keyId, fresh, actor) =>
      database.transaction(async (session) => {
        const before = await lockedKey(session, keyId)
        if (before === undefined) return { kind: 'unknownKey' }
        const rotated = rotatedKeys(before, fresh)
        if (rotated === 'ended') return { kind: 'ended' }
        const { old, record } = rotated
        if ((await insertKeys(session, [record])) === 0) return { kind: 'exists' }
        await writeKey(session, old)
        await note(session, keyRotated(old, record), actor)
        return { kind: 'rotated', record, old }
      }),
  }
}

/** Nobody else changes the key, or gives it grants, before this transaction has ended. */
async function lockedKey(session: Session, keyId: string): Promise<KeyRecord | undefined> {
  if ((await session.query(lockKey, [keyId])).length === 0) return undefined
  const [row] = await session.query<KeyRow>(selectKey, [keyId])
  return row && recordOf(row)
}

async function writeKey(session: Session, record: KeyRecord): Promise<void> {
  const { keyId, label, expiresMs, rate, networks } = record
  const { perSecond = null, burst = null } = rate ?? {}
  await session.query(updateKey, [keyId, label, expiresMs ?? null, perSecond, burst, wordsOf(networks)])
}
