/** Tenants in a database. */
import { insertNewFeeds } from '../events/log-statements.ts'
import { insertKeys } from '../keys/key-rows.ts'
import { among, defineWrite, rowsFrom, statement } from '../sql/database.ts'
import type { Query, StoreAccess, Transaction } from '../sql/database.ts'
import { keyCreated, tenantChanged, tenantCreated } from '../audit/changes.ts'
import type { Actor } from '../audit/actor.ts'
import { changedTenant, decideImport } from './tenant.ts'
import type {
  ChangeTenantOutcome,
  ImportedTenant,
  ImportTenantOutcome,
  NewTenantOptions,
  NewTenantOutcome,
  Tenant,
  TenantChange,
  TenantStore,
} from './tenant.ts'

const columns = 'tenant, name, created_ms, suspended, reference, without_duties'
const all = statement<TenantRow>('tenants', `SELECT ${columns} FROM tenant ORDER BY tenant_no`)
const tenantList = statement<TenantRow & { readonly tenant_no: number }>(
  'tenants-after',
  `SELECT tenant_no, ${columns} FROM tenant WHERE tenant_no > $1 ORDER BY tenant_no LIMIT $2`,
)
const one = statement<TenantRow & { readonly deleting: boolean | number }>(
  'tenant',
  `SELECT ${columns}, EXISTS (
      SELECT 1 FROM tenant_deletion d WHERE d.tenant = tenant.tenant AND d.state <> 'deleted'
    ) AS deleting FROM tenant WHERE tenant = $1`,
)
/**
 * One new name or reference at a time: only a statement after the lock sees what the previous commit brought. Readers, publishers and
 * everything else that names a tenant only read the table, and do not wait. SQLite has one writer, and nothing to lock.
 */
const lockNames = statement('tenant-names-lock', (dialect) =>
  dialect === 'sqlite' ? 'SELECT 1 AS locked' : 'LOCK TABLE tenant IN SHARE ROW EXCLUSIVE MODE',
)
const lock = statement<TenantRow>(
  'tenant-lock',
  `SELECT ${columns} FROM tenant WHERE tenant = $1 FOR NO KEY UPDATE`,
)
const exists = statement('tenant-exists', 'SELECT 1 AS found FROM tenant WHERE tenant = $1')
const nameConflicts = statement<{ readonly name: boolean | number; readonly reference: boolean | number }>(
  'tenant-taken',
  `SELECT EXISTS (SELECT 1 FROM tenant WHERE name = $2 AND tenant <> $1) AS name,
    EXISTS (SELECT 1 FROM tenant WHERE reference = $3 AND tenant <> $1) AS reference`,
)
const suspend = statement(
  'tenant-suspend',
  'UPDATE tenant SET suspended = $2 WHERE tenant = $1 AND suspended <> $2 RETURNING tenant',
)
const setDuties = statement('tenant-duties', 'UPDATE tenant SET without_duties = $2 WHERE tenant = $1')
const update = statement('tenant-update', 'UPDATE tenant SET name = $2, reference = $3 WHERE tenant = $1')
const given = {
  tenant: 'uuid',
  name: 'text',
  created_ms: 'bigint',
  suspended: 'boolean',
  reference: 'text',
  without_duties: 'boolean',
} as const
/** SQLite needs the WHERE, or takes ON CONFLICT for a part of a join. */
const insert = statement(
  'tenants-insert',
  (dialect) => `INSERT INTO tenant (${columns}) SELECT ${columns} FROM ${rowsFrom('$1', given)(dialect)}
    WHERE true ON CONFLICT (tenant) DO NOTHING RETURNING tenant`,
)
const withReferences = statement<TenantRow>(
  'tenants-with-references',
  (dialect) => `SELECT ${columns} FROM tenant WHERE reference ${among('$1', 'text')(dialect)}`,
)
const usedNames = statement<Pick<TenantRow, 'name'>>(
  'tenants-with-names',
  (dialect) => `SELECT name FROM tenant WHERE name ${among('$1', 'text')(dialect)}`,
)

const createTenant = defineWrite(
  'tenant-create',
  async (
    tx,
    tenant: Tenant,
    actor: Actor,
    sameName: NewTenantOptions['sameName'],
  ): Promise<NewTenantOutcome> => {
    const { tenantId, name, reference = null } = tenant
    if (sameName !== 'allowed' || reference !== null) {
      await tx.rows(lockNames())
      if ((await tx.rows(exists(tenantId))).length > 0) return 'exists'
      const [held] = await tx.rows(nameConflicts(tenantId, name, reference))
      if (sameName !== 'allowed' && held?.name) return 'nameTaken'
      if (held?.reference) return 'referenceTaken'
    }
    if ((await insertTenants(tx, [tenant])) === 0) return 'exists'
    await tx.note(tenantCreated(tenant), actor)
    return 'created'
  },
)

const changeTenant = defineWrite(
  'tenant-change',
  async (tx, tenantId: string, change: TenantChange, actor: Actor): Promise<ChangeTenantOutcome> => {
    // Taken before the row, as everywhere, so that two sessions do not wait for each other.
    await tx.rows(lockNames())
    const [row] = await tx.rows(lock(tenantId))
    if (row === undefined) return { kind: 'unknownTenant' }
    const before = tenantOf(row)
    const tenant = changedTenant(before, change)
    const { name, reference = null, suspended, withoutDuties = false } = tenant
    const [held] = await tx.rows(nameConflicts(tenantId, name, reference))
    if (held?.name && name !== before.name) return { kind: 'nameTaken' }
    if (held?.reference) return { kind: 'referenceTaken' }
    await tx.rows(update(tenantId, name, reference))
    // Separate statements, because they raise the version of all keys.
    if (suspended !== before.suspended) await tx.rows(suspend(tenantId, suspended))
    if (withoutDuties !== (before.withoutDuties ?? false)) await tx.rows(setDuties(tenantId, withoutDuties))
    await tx.note(tenantChanged(before, tenant), actor)
    return { kind: 'changed', tenant }
  },
)

const importTenants = defineWrite(
  'tenants-import',
  async (tx, tenants: readonly ImportedTenant[], actor: Actor): Promise<readonly ImportTenantOutcome[]> => {
    await tx.rows(lockNames())
    const references = JSON.stringify(tenants.map(({ tenant }) => tenant.reference))
    const held = (await tx.rows(withReferences(references))).map(tenantOf)
    const wanted = JSON.stringify(tenants.map(({ tenant }) => tenant.name))
    const names = await tx.rows(usedNames(wanted))
    const { outcomes, made } = decideImport(tenants, {
      byReference: new Map(held.map((tenant) => [tenant.reference ?? '', tenant])),
      names: new Set(names.map(({ name }) => name)),
    })
    const keys = made.flatMap((one) => one.keys)
    const inserted = await insertTenants(
      tx,
      made.map(({ tenant }) => tenant),
    )
    if (inserted < made.length || (await insertKeys(tx, keys)) < keys.length) {
      throw new Error('the id of a new tenant or key is taken')
    }
    await tx.note(
      made.flatMap((one) => [...tenantCreated(one.tenant), ...one.keys.flatMap(keyCreated)]),
      actor,
    )
    return outcomes
  },
)

export function tenantStore({ read, write }: StoreAccess): TenantStore {
  return {
    createTenant: (tenant, actor, options) => write(createTenant, tenant, actor, options?.sameName),
    tenants: async () => (await read.rows(all())).map(tenantOf),
    async findTenant(tenantId) {
      const [row] = await read.rows(one(tenantId))
      return row && { ...tenantOf(row), ...(Boolean(row.deleting) && { deleting: true }) }
    },
    tenantsAfter: async (place, limit) =>
      (await read.rows(tenantList(place, limit))).map((row) => {
        return { place: row.tenant_no, tenant: tenantOf(row) }
      }),
    changeTenant: (tenantId, change, actor) => write(changeTenant, tenantId, change, actor),
    importTenants: (tenants, actor) => write(importTenants, tenants, actor),
  }
}

/** With their empty feeds. Returns how many it made: if that is not all of them, an id was taken, and nothing else may be made. */
async function insertTenants(tx: Transaction, tenants: readonly Tenant[]): Promise<number> {
  if (tenants.length === 0) return 0
  const inserted = await tx.rows(inserting(tenants))
  if (inserted.length === tenants.length) {
    await insertNewFeeds(
      tx,
      tenants.map(({ tenantId }) => tenantId),
    )
  }
  return inserted.length
}

function inserting(tenants: readonly Tenant[]): Query {
  const rows = tenants.map(({ tenantId, name, createdMs, suspended, reference, withoutDuties = false }) => {
    return {
      tenant: tenantId,
      name,
      created_ms: createdMs,
      suspended,
      reference,
      without_duties: withoutDuties,
    }
  })
  return insert(JSON.stringify(rows))
}

interface TenantRow {
  readonly tenant: string
  readonly name: string
  readonly created_ms: number
  readonly suspended: boolean | number
  readonly reference: string | null
  readonly without_duties: boolean | number
}

function tenantOf({ tenant, name, created_ms, suspended, reference, without_duties }: TenantRow): Tenant {
  return {
    tenantId: tenant,
    name,
    createdMs: created_ms,
    suspended: Boolean(suspended),
    ...(reference === null ? {} : { reference }),
    ...(Boolean(without_duties) && { withoutDuties: true }),
  }
}
