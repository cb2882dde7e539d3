/** Endpoints in a database: what their owners change and read. Leases, what senders write, and the log are in stored/. */
import { webhookChanged, webhookCreated, webhookRemoved } from '../audit/webhook-changes.ts'
import type { Actor } from '../audit/actor.ts'
import { defineWrite, feedNumbers, statement } from '../sql/database.ts'
import type { Sql, StoreAccess } from '../sql/database.ts'
import { endpointsPerTenant, secretsPerEndpoint } from './endpoint.ts'
import type { ChangeOutcome, EndpointChange, EndpointRecord, NewEndpoint, WebhookStore } from './endpoint.ts'
import {
  insertEndpoint,
  insertSecret,
  lockedEndpoint,
  oneEndpoint,
  ofEndpoint,
  recordsOf,
  removeEndpoint,
  removeWaiting,
  selectEndpoints,
  updateEndpoint,
} from './endpoint-rows.ts'
import type { EndpointNumber, EndpointRow } from './endpoint-rows.ts'
import { copiedStore } from './stored/copied-store.ts'
import { leaseStore } from './stored/leases.ts'
import { deliveryLog } from './stored/delivery-log.ts'
import { progressStore } from './stored/progress.ts'
import { secretStore } from './stored/secrets.ts'
import { waitingStore } from './stored/waiting-store.ts'

/** Endpoints of a tenant are made one after the other, and none while it is deleted. */
const lockTenant = statement(
  'webhook-lock-tenant',
  `SELECT tenant FROM tenant WHERE tenant = $1
    AND NOT EXISTS (SELECT 1 FROM tenant_deletion AS d WHERE d.tenant = $1 AND d.state <> 'deleted') FOR NO KEY UPDATE`,
)
const countOfTenant = statement<{ readonly endpoints: number }>(
  'webhook-count',
  'SELECT count(*) AS endpoints FROM webhook WHERE tenant = $1',
)
const firstId = '00000000-0000-0000-0000-000000000000'
const list = statement<EndpointRow>(
  'webhooks',
  `${selectEndpoints} WHERE w.tenant = $1 AND w.endpoint_id > $2 AND ($3 = 0 OR w.feed = $3)
    ORDER BY w.tenant, w.endpoint_id LIMIT $4`,
)
const endSecrets = statement(
  'webhook-end-secrets',
  'UPDATE webhook_secret SET ends_ms = $2 WHERE endpoint_no = $1 AND (ends_ms IS NULL OR ends_ms > $2)',
)
const keepSecrets = statement(
  'webhook-keep-secrets',
  `DELETE FROM webhook_secret WHERE endpoint_no = $1 AND (ends_ms <= $2 OR secret_id NOT IN (
      SELECT secret_id FROM webhook_secret WHERE endpoint_no = $1 ORDER BY created_ms DESC, secret_id DESC
      LIMIT ${secretsPerEndpoint}))`,
)

/** What waits up to the cursor's new place is given up; everything after it is sent anew. */
const giveUpThrough = statement(
  'webhook-give-up-through',
  `INSERT INTO webhook_given_up (endpoint_no, sequence, subject, at_ms)
    SELECT endpoint_no, sequence, subject, $3 FROM webhook_waiting WHERE endpoint_no = $1 AND sequence <= $2
    ON CONFLICT (endpoint_no, sequence) DO NOTHING`,
)
const removeGivenUpAfter = statement(
  'webhook-remove-given-up-after',
  'DELETE FROM webhook_given_up WHERE endpoint_no = $1 AND sequence > $2',
)
const logRowsAtOnce = 1_000
const removeSomeOfLog = statement<EndpointNumber>(
  'webhook-remove-some-of-log',
  `DELETE FROM webhook_delivery WHERE (endpoint_no, delivery_no) IN (
      SELECT endpoint_no, delivery_no FROM webhook_delivery WHERE ${ofEndpoint} LIMIT ${logRowsAtOnce}) RETURNING endpoint_no`,
)

const create = defineWrite(
  'webhook-create',
  async (tx, endpoint: NewEndpoint, actor: Actor): Promise<'created' | 'limit' | 'unknownTenant'> => {
    const { secret, after, epoch, ...given } = endpoint
    if ((await tx.rows(lockTenant(given.tenantId))).length === 0) return 'unknownTenant'
    const [count] = await tx.rows(countOfTenant(given.tenantId))
    if ((count?.endpoints ?? 0) >= endpointsPerTenant) return 'limit'
    const [row] = await tx.rows(
      insertEndpoint({
        ...given,
        state: { kind: 'enabled' },
        secrets: [],
        progress: {
          settled: after,
          epoch,
          failingSinceMs: undefined,
          waiting: 0,
          givenUp: 0,
          acknowledged: undefined,
        },
      }),
    )
    if (row !== undefined) await tx.rows(insertSecret(row.endpoint_no, secret))
    await tx.note(webhookCreated(given), actor)
    return 'created'
  },
)

const change = defineWrite(
  'webhook-change',
  async (tx, endpointId: string, given: EndpointChange, actor: Actor): Promise<ChangeOutcome> => {
    const before = await lockedEndpoint(tx, endpointId)
    if (before === undefined) return { kind: 'unknown' }
    const { endpointNo, record } = before
    const changed = changedEndpoint(record, given)
    const nowMs = await tx.nowMs()
    if (given.cursor !== undefined) {
      await tx.rows(giveUpThrough(endpointNo, given.cursor.after, nowMs))
      await tx.rows(removeGivenUpAfter(endpointNo, given.cursor.after))
      await tx.rows(removeWaiting(endpointNo))
    }
    if (given.secret !== undefined) {
      await tx.rows(endSecrets(endpointNo, given.secret.presentEndMs))
      await tx.rows(insertSecret(endpointNo, given.secret.added))
      await tx.rows(keepSecrets(endpointNo, nowMs))
    }
    await tx.rows(updateEndpoint(endpointNo, changed))
    await tx.note(webhookChanged(record, changed, given), actor)
    const endpoint = await find(tx, endpointId)
    return endpoint === undefined ? { kind: 'unknown' } : { kind: 'changed', endpoint }
  },
)

/** One that is enabled begins as one that works. */
export function changedEndpoint(
  before: EndpointRecord,
  { settings, state, cursor, keyId = before.keyId }: EndpointChange,
): EndpointRecord {
  const isEnabled = state?.kind === 'enabled' && before.state.kind !== 'enabled'
  return {
    ...before,
    keyId,
    settings: { ...before.settings, ...settings },
    state: state ?? before.state,
    progress: {
      ...before.progress,
      settled: cursor?.after ?? before.progress.settled,
      epoch: cursor?.epoch ?? before.progress.epoch,
      failingSinceMs: isEnabled ? undefined : before.progress.failingSinceMs,
    },
  }
}

const removeLog = defineWrite(
  'webhook-remove-log',
  async (tx, endpointId: string): Promise<number> => (await tx.rows(removeSomeOfLog(endpointId))).length,
)

const remove = defineWrite(
  'webhook-remove',
  async (tx, endpointId: string, actor: Actor): Promise<'removed' | 'unknown'> => {
    const before = await lockedEndpoint(tx, endpointId)
    if (before === undefined) return 'unknown'
    await removeEndpoint(tx, before.endpointNo)
    await tx.note(webhookRemoved(before.record), actor)
    return 'removed'
  },
)

export function webhookStore(access: StoreAccess, isShared: boolean): WebhookStore {
  const { read, write } = access
  return {
    ...leaseStore(access, isShared),
    ...progressStore(access),
    ...deliveryLog(access),
    ...waitingStore(access),
    ...copiedStore(access),
    ...secretStore(access),
    create: (endpoint, actor) => write(create, endpoint, actor),
    find: (endpointId) => find(read, endpointId),
    async list({ tenantId, feed, after = firstId, limit }) {
      const feedNo = feed === undefined ? 0 : feedNumbers[feed]
      const found = await recordsOf(read, await read.rows(list(tenantId, after, feedNo, limit)))
      return found.map(({ record }) => record)
    },
    change: (endpointId, given, actor) => write(change, endpointId, given, actor),
    async remove(endpointId, actor) {
      // In small steps: no publication waits while a long log goes.
      while ((await write(removeLog, endpointId)) === logRowsAtOnce);
      return write(remove, endpointId, actor)
    },
  }
}

async function find(sql: Sql, endpointId: string): Promise<EndpointRecord | undefined> {
  const [found] = await recordsOf(sql, await sql.rows(oneEndpoint(endpointId)))
  return found?.record
}
