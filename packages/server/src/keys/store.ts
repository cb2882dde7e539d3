/** Keys and their grants in a database. */
import { setsOfGrants, viewsBeingMade } from '../events/branches/branch-view-store.ts'
import { branchSetsReady } from '../events/log-statements.ts'
import { keyChanged, keyCreated, keyGranted, keyRehashed, keyRevoked, keyRotated } from '../audit/changes.ts'
import { among, defineWrite, noteLockWaitMs, rowsFrom, statement } from '../sql/database.ts'
import type { Query, Sql, StoreAccess, Transaction } from '../sql/database.ts'
import type { Actor } from '../audit/actor.ts'
import { currentPepper } from '../nodes/store.ts'
import { moveEndpointsToKey } from '../webhooks/endpoint-rows.ts'
import { grantColumns } from './granted-branches.ts'
import { grantRows, insertKeys, recordOf, selectKeys } from './key-rows.ts'
import type { KeyNumber, KeyRow } from './key-rows.ts'
import { changedKey, rotatedKeys, wordsOf } from './key.ts'
import type {
  ChangeKeyOutcome,
  FreshKey,
  Grant,
  KeyChange,
  KeyRecord,
  KeyStore,
  RotateKeyOutcome,
} from './key.ts'

const one = statement<KeyRow & { readonly current_pepper_id: string | null }>(
  'key',
  (dialect) =>
    `${selectKeys(dialect)}, ${currentPepper(dialect)} AS current_pepper_id FROM key WHERE key_id = $1`,
)
const all = statement<KeyRow>('keys', (dialect) => `${selectKeys(dialect)} FROM key ORDER BY key_no`)

const keyLists = {
  all: statement<KeyRow>(
    'keys-after',
    (dialect) => `${selectKeys(dialect)} FROM key WHERE key_no > $1 ORDER BY key_no LIMIT $2`,
  ),
  ofTenant: statement<KeyRow>(
    'keys-after-of-tenant',
    (dialect) => `${selectKeys(dialect)} FROM key WHERE key_no IN (
        SELECT DISTINCT key_no FROM key_grant WHERE tenant = $1 AND key_no > $2 ORDER BY key_no LIMIT $3
      ) ORDER BY key_no`,
  ),
} as const
const version = statement<{ readonly version: number }>('keys-version', 'SELECT version FROM keys_version')
const ids = statement<{ readonly key_id: string }>('key-ids', 'SELECT key_id FROM key')
const peppers = statement<{ readonly pepper_id: string }>(
  'key-peppers',
  `SELECT pepper_id FROM key WHERE revoked_ms IS NULL
    UNION SELECT s.pepper_id FROM webhook_secret AS s JOIN webhook AS w USING (endpoint_no) JOIN key AS k USING (key_id)
      WHERE k.revoked_ms IS NULL`,
)

const exists = statement('key-exists', 'SELECT 1 AS found FROM key WHERE key_id = $1')
/** Nobody else changes the key, or gives it grants, before the commit. */
const lock = statement<KeyNumber>('key-lock', 'SELECT key_no FROM key WHERE key_id = $1 FOR UPDATE')
/** Nobody deletes the tenants before the commit. */
const lockTenants = statement(
  'key-tenants-lock',
  (dialect) =>
    `SELECT tenant FROM tenant WHERE tenant ${among('$1', 'uuid')(dialect)} ORDER BY tenant FOR KEY SHARE`,
)
const setGrant = statement<KeyNumber>(
  'grant-set',
  `UPDATE key_grant SET scopes = $3, branches = $4
    WHERE key_no = $1 AND tenant = $2 AND (scopes <> $3 OR branches IS DISTINCT FROM $4) RETURNING key_no`,
)
const hasGrant = statement(
  'grant-exists',
  'SELECT 1 AS found FROM key_grant WHERE key_no = $1 AND tenant = $2',
)
const addGrant = statement(
  'grant-add',
  `INSERT INTO key_grant (key_no, grant_no, tenant, scopes, branches)
    SELECT $1, coalesce(max(grant_no) + 1, 0), $2, $3, $4 FROM key_grant WHERE key_no = $1`,
)
const tenantsOf = statement<{ readonly tenant: string }>(
  'key-tenants',
  'SELECT tenant FROM key_grant WHERE key_no = $1 ORDER BY grant_no',
)
const revoke = statement<KeyNumber>(
  'key-revoke',
  'UPDATE key SET revoked_ms = $2 WHERE key_id = $1 AND revoked_ms IS NULL RETURNING key_no',
)
const rehash = statement<KeyNumber>(
  'key-rehash',
  'UPDATE key SET secret_hash = $3, pepper_id = $4 WHERE key_id = $1 AND pepper_id = $2 RETURNING key_no',
)
const update = statement(
  'key-update',
  `UPDATE key SET label = $2, expires_ms = $3, rate_per_second = $4, rate_burst = $5, networks = $6 WHERE key_id = $1`,
)
const useTypes = { key_id: 'text', used_ms: 'bigint' } as const
/** In the order of all nodes, so that two that report uses of the same keys never wait in a circle. */
const lockUsed = statement(
  'key-uses-lock',
  (dialect) =>
    `SELECT key_no FROM key WHERE key_id ${among('$1', 'text')(dialect)} ORDER BY key_no FOR NO KEY UPDATE`,
)
const use = statement(
  'key-uses',
  (dialect) => `UPDATE key SET last_used_ms = used_ms FROM ${rowsFrom('$1', useTypes)(dialect)}
    WHERE key.key_id = rows_given.key_id AND coalesce(last_used_ms < used_ms, true)`,
)

const insertKey = defineWrite('key-insert', async (tx, record: KeyRecord, actor: Actor) => {
  if ((await tx.rows(exists(record.keyId))).length > 0) return 'exists'
  const tenants = [...new Set(record.grants.map(({ tenantId }) => tenantId))]
  if (!(await haveTenants(tx, tenants))) return 'unknownTenant'
  // Another node may have been quicker with the same id.
  if ((await insertKeys(tx, [record])) === 0) return 'exists'
  await tx.note(keyCreated(record), actor)
  return 'created'
})

const giveGrant = defineWrite('key-grant', async (tx, keyId: string, grant: Grant, actor: Actor) => {
  const [key] = await tx.rows(lock(keyId))
  if (key === undefined) return 'unknownKey'
  if (!(await haveTenants(tx, [grant.tenantId]))) return 'unknownTenant'
  const { scopes, branches } = grantColumns(grant)
  // An UPDATE if there is a row: nodes need not be allowed to delete.
  if ((await tx.rows(setGrant(key.key_no, grant.tenantId, scopes, branches))).length === 0) {
    if ((await tx.rows(hasGrant(key.key_no, grant.tenantId))).length > 0) return 'done'
    await tx.rows(addGrant(key.key_no, grant.tenantId, scopes, branches))
  }
  await tx.note(keyGranted(keyId, grant), actor)
  return 'done'
})

const revokeKey = defineWrite('key-revoke', async (tx, keyId: string, revokedMs: number, actor: Actor) => {
  const tenants = await changedBy(tx, revoke(keyId, revokedMs))
  if (tenants === undefined) return known(tx, keyId)
  await tx.note(keyRevoked(keyId, tenants), actor)
  return 'done'
})

const rehashKey = defineWrite(
  'key-rehash',
  async (tx, ...[keyId, fromPepperId, hashed, actor]: Parameters<KeyStore['rehashKey']>) => {
    const { secretHash, pepperId } = hashed
    const tenants = await changedBy(tx, rehash(keyId, fromPepperId, secretHash, pepperId))
    if (tenants === undefined) return 'unchanged'
    await tx.note(keyRehashed(keyId, tenants, pepperId), actor)
    return 'done'
  },
)

const changeKey = defineWrite(
  'key-change',
  async (tx, keyId: string, change: KeyChange, actor: Actor): Promise<ChangeKeyOutcome> => {
    const before = await lockedKey(tx, keyId)
    if (before === undefined) return { kind: 'unknownKey' }
    if (before.revokedMs !== undefined) return { kind: 'ended' }
    const record = changedKey(before, change)
    await tx.rows(updated(record))
    await tx.note(keyChanged(before, record), actor)
    return { kind: 'changed', record }
  },
)

const rotateKey = defineWrite(
  'key-rotate',
  async (tx, keyId: string, fresh: FreshKey, actor: Actor): Promise<RotateKeyOutcome> => {
    const before = await lockedKey(tx, keyId)
    if (before === undefined) return { kind: 'unknownKey' }
    const rotated = rotatedKeys(before, fresh)
    if (rotated === 'ended') return { kind: 'ended' }
    const { old, record } = rotated
    if ((await insertKeys(tx, [record])) === 0) return { kind: 'exists' }
    await tx.rows(updated(old))
    await tx.rows(moveEndpointsToKey(keyId, record.keyId))
    await tx.note(keyRotated(old, record), actor)
    return { kind: 'rotated', record, old }
  },
)

const recordKeyUses = defineWrite(
  'key-uses',
  async (tx, uses: Parameters<KeyStore['recordKeyUses']>[0]): Promise<void> => {
    const latest = new Map<string, number>()
    for (const { keyId, usedMs } of uses) latest.set(keyId, Math.max(usedMs, latest.get(keyId) ?? 0))
    const given = JSON.stringify([...latest].map(([keyId, usedMs]) => ({ key_id: keyId, used_ms: usedMs })))
    await tx.rows(lockUsed(JSON.stringify([...latest.keys()])))
    await tx.rows(use(given))
  },
  { lockWaitMs: noteLockWaitMs },
)

export function keyStore({ read, write }: StoreAccess): KeyStore {
  return {
    async findKey(keyId) {
      const [row] = await read.rows(one(keyId))
      if (row === undefined) return undefined
      const grants = grantRows(row)
      const record = recordOf(row, grants)
      const wanted = setsOfGrants(record.grants)
      const withoutDuties = grants.flatMap(([tenantId, , , , , isOff]) => (isOff ? [tenantId] : []))
      return {
        record,
        suspendedTenantIds: grants.flatMap(([tenantId, , , isRefused]) => (isRefused ? [tenantId] : [])),
        leaving: grants.flatMap(([tenantId, , , , readingEndsMs]) =>
          readingEndsMs === null ? [] : [{ tenantId, readingEndsMs }],
        ),
        ...(withoutDuties.length > 0 && { withoutDuties }),
        ...(wanted.length > 0 && viewsBeingMade(wanted, await branchSetsReady(read, wanted))),
        currentPepperId: row.current_pepper_id ?? undefined,
      }
    },
    async keysVersion() {
      const [row] = await read.rows(version())
      if (row === undefined) throw new Error('the table keys_version has lost its row')
      return String(row.version)
    },
    keys: async () => (await read.rows(all())).map((row) => recordOf(row)),
    async keysAfter({ after, limit, tenantId }) {
      const { all: ofAll, ofTenant } = keyLists
      const rows = await read.rows(
        tenantId === undefined ? ofAll(after, limit) : ofTenant(tenantId, after, limit),
      )
      return rows.map((row) => ({ place: row.key_no, record: recordOf(row) }))
    },
    keyIds: async () => (await read.rows(ids())).map((row) => row.key_id),
    pepperIdsInUse: async () => (await read.rows(peppers())).map((row) => row.pepper_id),
    insertKey: (record, actor) => write(insertKey, record, actor),
    grant: (keyId, grant, actor) => write(giveGrant, keyId, grant, actor),
    revokeKey: (keyId, revokedMs, actor) => write(revokeKey, keyId, revokedMs, actor),
    rehashKey: (keyId, fromPepperId, hashed, actor) => write(rehashKey, keyId, fromPepperId, hashed, actor),
    changeKey: (keyId, change, actor) => write(changeKey, keyId, change, actor),
    rotateKey: (keyId, fresh, actor) => write(rotateKey, keyId, fresh, actor),
    recordKeyUses: (uses) => write(recordKeyUses, uses),
  }
}

async function haveTenants(tx: Transaction, tenantIds: readonly string[]): Promise<boolean> {
  if (tenantIds.length === 0) return true
  return (await tx.rows(lockTenants(JSON.stringify(tenantIds)))).length === tenantIds.length
}

/** The tenants of the key, if the statement changed it. */
async function changedBy(tx: Transaction, change: Query<KeyNumber>): Promise<readonly string[] | undefined> {
  const [row] = await tx.rows(change)
  return row && (await tx.rows(tenantsOf(row.key_no))).map(({ tenant }) => tenant)
}

async function known(sql: Sql, keyId: string): Promise<'done' | 'unknownKey'> {
  return (await sql.rows(exists(keyId))).length === 0 ? 'unknownKey' : 'done'
}

async function lockedKey(tx: Transaction, keyId: string): Promise<KeyRecord | undefined> {
  if ((await tx.rows(lock(keyId))).length === 0) return undefined
  const [row] = await tx.rows(one(keyId))
  return row && recordOf(row)
}

function updated({ keyId, label, expiresMs, rate, networks }: KeyRecord): Query {
  const { perSecond = null, burst = null } = rate ?? {}
  return update(keyId, label, expiresMs ?? null, perSecond, burst, wordsOf(networks))
}
