/** The rows of endpoints, and the statements that other features share. */
import type { FeedName } from '@property-events/protocol'
import { among, feedNumbers, feedOfNumber, statement } from '../sql/database.ts'
import type { Query, Sql, Transaction, Value } from '../sql/database.ts'
import type {
  DisableReason,
  EndpointRecord,
  EndpointRights,
  EndpointSettings,
  EndpointState,
  PauseReason,
  SealedSecret,
} from './endpoint.ts'

/** What makes an endpoint that somebody sends free for whoever claims it; the former sender changes nothing any more (W5). */
export const freed = 'lease_no = lease_no + 1, lease_node = NULL'

/** Given when an endpoint is made; of what was acknowledged, progress says more. */
const made = ['endpoint_id', 'tenant', 'feed', 'rights', 'created_ms', 'events', 'acknowledged'] as const
const identity = [...made, 'acknowledged_ms'] as const
const changeable = [
  'key_id',
  'url',
  'label',
  'view',
  'payload',
  'changes',
  'mode',
  'format',
  'concurrency',
  'max_per_second',
  'timeout_seconds',
  'state',
  'reason',
  'since_ms',
  'settled',
  'epoch',
  'failing_since_ms',
] as const
const columns = [...identity, ...changeable]
interface EndpointColumns {
  readonly endpoint_id: string
  readonly tenant: string
  readonly feed: number
  readonly key_id: string
  readonly rights: string
  readonly created_ms: number
  readonly events: EndpointSettings['events']
  readonly url: string
  readonly label: string
  readonly view: EndpointSettings['view']
  readonly payload: EndpointSettings['payload']
  readonly changes: boolean | number
  readonly mode: EndpointSettings['mode']
  readonly format: EndpointSettings['format']
  readonly concurrency: number
  readonly max_per_second: number | null
  readonly timeout_seconds: number
  readonly settled: number
  readonly epoch: string
  readonly failing_since_ms: number | null
  readonly acknowledged: number | null
  readonly acknowledged_ms: number | null
}

interface StateColumns {
  readonly state: EndpointState['kind']
  readonly reason: string | null
  readonly since_ms: number | null
}

export type EndpointRow = EndpointColumns &
  StoredState & {
    readonly endpoint_no: number
    readonly logged: number
    readonly writes: number
    readonly lease_no: number
    readonly lease_node: string | null
    readonly waiting: number
    readonly given_up: number
  }

/** Endpoints with what waits and what was given up, counted. */
export const selectEndpoints = `SELECT w.*,
    (SELECT count(*) FROM webhook_waiting AS x WHERE x.endpoint_no = w.endpoint_no) AS waiting,
    (SELECT count(*) FROM webhook_given_up AS x WHERE x.endpoint_no = w.endpoint_no) AS given_up
  FROM webhook AS w`

/** Of an endpoint that is named by its id. */
export const ofEndpoint = 'endpoint_no = (SELECT endpoint_no FROM webhook WHERE endpoint_id = $1)'

export const oneEndpoint = statement<EndpointRow>('webhook', `${selectEndpoints} WHERE w.endpoint_id = $1`)
export const endpointsOf = statement<EndpointRow>(
  'webhooks-of-numbers',
  (dialect) =>
    `${selectEndpoints} WHERE w.endpoint_no ${among('$1', 'integer')(dialect)} ORDER BY w.endpoint_no`,
)
const lockEndpoint = statement<EndpointNumber>(
  'webhook-lock',
  'SELECT endpoint_no FROM webhook WHERE endpoint_id = $1 FOR NO KEY UPDATE',
)
const insert = statement<EndpointNumber>(
  'webhook-insert',
  `INSERT INTO webhook (${columns.join(', ')}, logged, writes, lease_no)
    VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')}, 0, 0, 0) RETURNING endpoint_no`,
)
const update = statement(
  'webhook-update',
  `UPDATE webhook SET ${changeable.map((name, index) => `${name} = $${index + 2}`).join(', ')}, ${freed}
    WHERE endpoint_no = $1`,
)
const keyLeaves = statement(
  'webhook-key-rotated',
  `UPDATE webhook SET key_id = $2, ${freed} WHERE key_id = $1`,
)

/** Of a copy of a store, which would send to the receivers of the first one (D13). */
export const pauseCopied = statement<{ readonly tenant: string; readonly endpoint_id: string }>(
  'webhook-pause-copied',
  `UPDATE webhook SET state = 'paused', reason = 'copied', since_ms = $1, ${freed} WHERE state = 'enabled'
    RETURNING tenant, endpoint_id`,
)

const secretsOf = statement<SecretRow & EndpointNumber>(
  'webhook-secrets-of',
  (dialect) => `SELECT * FROM webhook_secret WHERE endpoint_no ${among('$1', 'integer')(dialect)}
    ORDER BY created_ms DESC, secret_id DESC`,
)
const insertSecretRow = statement(
  'webhook-secret-insert',
  `INSERT INTO webhook_secret (endpoint_no, secret_id, sealed, pepper_id, created_ms, ends_ms)
    VALUES ($1, $2, $3, $4, $5, $6)`,
)

export const removeWaiting = statement(
  'webhook-remove-all-waiting',
  'DELETE FROM webhook_waiting WHERE endpoint_no = $1',
)
const removals = [
  removeWaiting,
  ...['given_up', 'secret', 'version', 'delivery'].map((table) =>
    statement(`webhook-remove-${table}`, `DELETE FROM webhook_${table} WHERE endpoint_no = $1`),
  ),
  statement('webhook-remove', 'DELETE FROM webhook WHERE endpoint_no = $1'),
]

export type EndpointNumber = Pick<EndpointRow, 'endpoint_no'>

export interface SecretRow {
  readonly secret_id: string
  readonly sealed: Uint8Array
  readonly pepper_id: string
  readonly created_ms: number
  readonly ends_ms: number | null
}

/** With everything that is kept of it. */
export async function removeEndpoint(tx: Transaction, endpointNo: number): Promise<void> {
  for (const removeRows of removals) await tx.rows(removeRows(endpointNo))
}

/** The endpoints of a key that ends are its successor's, in the commit that replaces it. */
export function moveEndpointsToKey(oldKeyId: string, keyId: string): Query {
  return keyLeaves(oldKeyId, keyId)
}

export function insertEndpoint(endpoint: EndpointRecord): Query<EndpointNumber> {
  const row = columnsOf(endpoint)
  return insert(...columns.map((name): Value => row[name]))
}

export function updateEndpoint(endpointNo: number, endpoint: EndpointRecord): Query {
  const row = columnsOf(endpoint)
  return update(endpointNo, ...changeable.map((name): Value => row[name]))
}

export function insertSecret(endpointNo: number, secret: SealedSecret): Query {
  const { secretId, sealed, pepperId, createdMs, endsMs = null } = secret
  return insertSecretRow(endpointNo, secretId, sealed, pepperId, createdMs, endsMs)
}

/** With their secrets, in the order of the rows. */
export async function recordsOf(
  sql: Sql,
  rows: readonly EndpointRow[],
): Promise<readonly { readonly endpointNo: number; readonly record: EndpointRecord }[]> {
  if (rows.length === 0) return []
  const numbers = JSON.stringify(rows.map((row) => row.endpoint_no))
  const secrets = Map.groupBy(await sql.rows(secretsOf(numbers)), (row) => row.endpoint_no)
  return rows.map((row) => {
    const own = (secrets.get(row.endpoint_no) ?? []).map(secretOf)
    return { endpointNo: row.endpoint_no, record: recordOf(row, own) }
  })
}

/** Nobody else changes the endpoint, or writes its progress, before the commit. */
export async function lockedEndpoint(
  tx: Transaction,
  endpointId: string,
): Promise<{ readonly endpointNo: number; readonly record: EndpointRecord } | undefined> {
  if ((await tx.rows(lockEndpoint(endpointId))).length === 0) return undefined
  const [found] = await recordsOf(tx, await tx.rows(oneEndpoint(endpointId)))
  return found
}

export function secretOf(row: SecretRow): SealedSecret {
  const { secret_id: secretId, pepper_id: pepperId, created_ms: createdMs, ends_ms: endsMs } = row
  return { secretId, sealed: new Uint8Array(row.sealed), pepperId, createdMs, endsMs: endsMs ?? undefined }
}

function columnsOf(endpoint: EndpointRecord): EndpointColumns & StateColumns {
  const { settings, state, progress } = endpoint
  return {
    endpoint_id: endpoint.endpointId,
    tenant: endpoint.tenantId,
    feed: feedNumbers[settings.feed],
    key_id: endpoint.keyId,
    rights: JSON.stringify(endpoint.rights),
    created_ms: endpoint.createdMs,
    events: settings.events,
    url: settings.url,
    label: settings.label,
    view: settings.view,
    payload: settings.payload,
    changes: settings.changes,
    mode: settings.mode,
    format: settings.format,
    concurrency: settings.concurrency,
    max_per_second: settings.maxPerSecond ?? null,
    timeout_seconds: settings.timeoutSeconds,
    state: state.kind,
    reason: state.kind === 'enabled' ? null : state.reason,
    since_ms: state.kind === 'enabled' ? null : state.sinceMs,
    settled: progress.settled,
    epoch: progress.epoch,
    failing_since_ms: progress.failingSinceMs ?? null,
    acknowledged: progress.acknowledged?.sequenceNumber ?? null,
    acknowledged_ms: progress.acknowledged?.atMs ?? null,
  }
}

function recordOf(row: EndpointRow, secrets: readonly SealedSecret[]): EndpointRecord {
  const { acknowledged, acknowledged_ms: atMs } = row
  const rights: EndpointRights = JSON.parse(row.rights)
  return {
    endpointId: row.endpoint_id,
    tenantId: row.tenant,
    keyId: row.key_id,
    rights,
    settings: settingsOf(row, feedOfNumber(row.feed, 'webhook')),
    createdMs: row.created_ms,
    state: stateOf(row),
    secrets,
    progress: {
      settled: row.settled,
      epoch: row.epoch,
      failingSinceMs: row.failing_since_ms ?? undefined,
      waiting: row.waiting,
      givenUp: row.given_up,
      acknowledged:
        acknowledged === null || atMs === null ? undefined : { sequenceNumber: acknowledged, atMs },
    },
  }
}

function settingsOf(row: EndpointRow, feed: FeedName): EndpointSettings {
  const { url, label, events, view, payload, mode, format, concurrency } = row
  return {
    url,
    label,
    events,
    feed,
    view,
    payload,
    changes: Boolean(row.changes),
    mode,
    format,
    concurrency,
    maxPerSecond: row.max_per_second ?? undefined,
    timeoutSeconds: row.timeout_seconds,
  }
}

type StoredState =
  | { readonly state: 'enabled' }
  | { readonly state: 'paused'; readonly reason: PauseReason; readonly since_ms: number }
  | { readonly state: 'disabled'; readonly reason: DisableReason; readonly since_ms: number }

function stateOf(row: StoredState): EndpointState {
  if (row.state === 'enabled') return { kind: row.state }
  const sinceMs = row.since_ms
  if (row.state === 'paused') return { kind: row.state, reason: row.reason, sinceMs }
  return { kind: row.state, reason: row.reason, sinceMs }
}
