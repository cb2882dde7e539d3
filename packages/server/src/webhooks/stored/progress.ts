/** What senders write: progress, fenced by the number of the lease and of what was written before (W5), and the log of tries. */
import { webhookDisabled } from '../../audit/webhook-changes.ts'
import { defineWrite, removal, rowsFrom, statement } from '../../sql/database.ts'
import type { ColumnType, StoreAccess, Transaction } from '../../sql/database.ts'
import type { Delivery, ProgressWrite, WebhookStore } from '../endpoint.ts'
import { deliveriesKept, deliveriesKeptMs, noticesKeptMs } from '../endpoint.ts'
import { freed } from '../endpoint-rows.ts'
import type { EndpointNumber } from '../endpoint-rows.ts'
import { putWaiting, waitingRow } from './waiting-store.ts'
import type { ViewEvent } from '../waiting-rows.ts'

interface LeasedRow extends EndpointNumber {
  readonly endpoint_id: string
  readonly tenant: string
  readonly feed: number
  readonly logged: number
}

/** In the order of the key, as leases are freed. */
const lockLeased = statement<LeasedRow>(
  'webhook-lock-leased',
  (dialect) => `SELECT endpoint_no, endpoint_id, tenant, feed, logged
    FROM ${rowsFrom('$1', { of_endpoint: 'uuid', of_lease: 'bigint', of_writes: 'bigint' })(dialect)} CROSS JOIN webhook
    WHERE endpoint_id = of_endpoint AND lease_no = of_lease AND writes = of_writes ORDER BY endpoint_no FOR NO KEY UPDATE`,
)
const advance = statement(
  'webhook-advance',
  (dialect) => `UPDATE webhook AS w SET writes = w.writes + 1, epoch = of_epoch, logged = of_logged,
      settled = coalesce(of_settled, w.settled),
      failing_since_ms = CASE WHEN of_settled IS NULL THEN w.failing_since_ms ELSE of_failing_ms END,
      acknowledged = coalesce(of_acknowledged, w.acknowledged),
      acknowledged_ms = coalesce(of_acknowledged_ms, w.acknowledged_ms)
    FROM ${rowsFrom('$1', {
      of_no: 'bigint',
      of_epoch: 'text',
      of_logged: 'bigint',
      of_settled: 'bigint',
      of_failing_ms: 'bigint',
      of_acknowledged: 'bigint',
      of_acknowledged_ms: 'bigint',
    })(dialect)} WHERE w.endpoint_no = of_no`,
)
const disable = statement(
  'webhook-disable',
  (dialect) => `UPDATE webhook SET state = 'disabled', reason = of_reason, since_ms = $2, ${freed}
    FROM ${rowsFrom('$1', { of_no: 'bigint', of_reason: 'text' })(dialect)} WHERE endpoint_no = of_no`,
)
const removeWaiting = statement(
  'webhook-remove-waiting',
  (dialect) => `DELETE FROM webhook_waiting WHERE (endpoint_no, subject) IN (
      SELECT of_no, of_subject FROM ${rowsFrom('$1', { of_no: 'bigint', of_subject: 'logId' })(dialect)})`,
)
const ofEvent = { endpoint_no: 'bigint', sequence: 'bigint', subject: 'logId' } as const
const addGivenUp = statement(
  'webhook-add-given-up',
  (dialect) => `INSERT INTO webhook_given_up (endpoint_no, sequence, subject, at_ms)
    SELECT endpoint_no, sequence, subject, $2 FROM ${rowsFrom('$1', ofEvent)(dialect)} WHERE true
    ON CONFLICT (endpoint_no, sequence) DO NOTHING`,
)
const putVersions = statement(
  'webhook-put-versions',
  (dialect) => `INSERT INTO webhook_version (endpoint_no, subject, sequence)
    SELECT endpoint_no, subject, sequence FROM ${rowsFrom('$1', ofEvent)(dialect)} WHERE true
    ON CONFLICT (endpoint_no, subject) DO UPDATE SET sequence = excluded.sequence`,
)
const deliveryColumns = {
  endpoint_no: 'bigint',
  delivery_no: 'bigint',
  at_ms: 'bigint',
  message_id: 'text',
  sequence: 'bigint',
  subject: 'logId',
  outcome: 'text',
  status: 'integer',
  took_ms: 'integer',
  answer: 'text',
} as const satisfies Readonly<Record<string, ColumnType>>
const deliveryNames = Object.keys(deliveryColumns).join(', ')
const addDeliveries = statement(
  'webhook-add-deliveries',
  (dialect) => `INSERT INTO webhook_delivery (${deliveryNames})
    SELECT ${deliveryNames} FROM ${rowsFrom('$1', deliveryColumns)(dialect)}`,
)
/** Numbers of notices are in the order of commits, so whoever reads on from one misses none. SQLite writes one commit after the other. */
const lockNotices = statement('webhook-lock-notices', (dialect) =>
  dialect === 'sqlite' ? 'SELECT 1 AS locked' : 'LOCK TABLE webhook_notice IN SHARE ROW EXCLUSIVE MODE',
)
const addNotice = statement(
  'webhook-add-notice',
  `INSERT INTO webhook_notice (tenant, feed, endpoint_id, kind, reason, at_ms) VALUES ($1, $2, $3, $4, $5, $6)`,
)

interface Leased {
  readonly row: LeasedRow
  readonly write: ProgressWrite
}

/**
 * Without waiting for the disk: what a crash of the database loses is sent again, also by a sender that lives on, since its next write finds
 * that one is missing.
 */
const save = defineWrite(
  'webhook-save',
  async (tx, progress: readonly ProgressWrite[]): Promise<readonly string[]> => {
    const given = progress.map(({ endpointId, leaseNo, writes }) => ({
      of_endpoint: endpointId,
      of_lease: leaseNo,
      of_writes: writes,
    }))
    const rows = await tx.rows(lockLeased(JSON.stringify(given)))
    const byEndpoint = new Map(progress.map((write) => [write.endpointId, write]))
    const leased = rows.flatMap((row): readonly Leased[] => {
      const write = byEndpoint.get(row.endpoint_id)
      return write === undefined ? [] : [{ row, write }]
    })
    if (leased.length > 0) await saveLeased(tx, leased)
    const written = new Set(rows.map((row) => row.endpoint_id))
    return progress.flatMap(({ endpointId }) => (written.has(endpointId) ? [] : [endpointId]))
  },
  { isDurable: false },
)

async function saveLeased(tx: Transaction, leased: readonly Leased[]): Promise<void> {
  const put = async (query: (rows: string) => Parameters<Transaction['rows']>[0], rows: readonly object[]) =>
    rows.length === 0 ? [] : tx.rows(query(JSON.stringify(rows)))
  const nowMs = await tx.nowMs()
  const rowsOf = <One>(of: (write: ProgressWrite) => readonly One[], row: (no: number, one: One) => object) =>
    leased.flatMap(({ row: { endpoint_no: no }, write }) => of(write).map((one) => row(no, one)))
  await put(advance, leased.map(advanced))
  await put(
    putWaiting,
    rowsOf((write) => write.change?.rows?.waiting ?? [], waitingRow),
  )
  await put(
    removeWaiting,
    rowsOf(
      (write) => write.change?.rows?.removed ?? [],
      (no, subject) => ({ of_no: no, of_subject: subject }),
    ),
  )
  await put(
    (rows) => addGivenUp(rows, nowMs),
    rowsOf((write) => write.change?.rows?.givenUp ?? [], eventRow),
  )
  await put(
    putVersions,
    rowsOf(({ versions }) => latestOf(versions), eventRow),
  )
  await put(
    addDeliveries,
    leased.flatMap(({ row, write }) =>
      write.deliveries.map((one, index) => deliveryRow(row.endpoint_no, row.logged + index + 1, one)),
    ),
  )
  await tell(tx, leased, nowMs)
}

async function tell(tx: Transaction, leased: readonly Leased[], nowMs: number): Promise<void> {
  const disabled = leased.flatMap(({ row, write }) => {
    const { disable: reason } = write
    return reason === undefined ? [] : [{ row, reason }]
  })
  if (disabled.length > 0) {
    const rows = disabled.map(({ row, reason }) => ({ of_no: row.endpoint_no, of_reason: reason }))
    await tx.rows(disable(JSON.stringify(rows), nowMs))
    const changes = disabled.flatMap(({ row, reason }) =>
      webhookDisabled(row.tenant, row.endpoint_id, reason),
    )
    await tx.note(changes, 'service')
  }
  const notices = leased.flatMap(({ row, write: { notice, disable: reason } }) => [
    ...(notice === undefined ? [] : [{ row, kind: notice, reason: null }]),
    ...(reason === undefined ? [] : [{ row, kind: 'webhook.disabled', reason }]),
  ])
  if (notices.length > 0) await tx.rows(lockNotices())
  for (const { row, kind, reason } of notices) {
    await tx.rows(addNotice(row.tenant, row.feed, row.endpoint_id, kind, reason, nowMs))
  }
}

function advanced({ row, write }: Leased) {
  const { epoch, change, acknowledged, deliveries } = write
  return {
    of_no: row.endpoint_no,
    of_epoch: epoch,
    of_logged: row.logged + deliveries.length,
    of_settled: change?.settled,
    of_failing_ms: change?.failingSinceMs,
    of_acknowledged: acknowledged?.sequenceNumber,
    of_acknowledged_ms: acknowledged?.atMs,
  }
}

function eventRow(endpointNo: number, { sequenceNumber, subjectId }: ViewEvent) {
  return { endpoint_no: endpointNo, sequence: sequenceNumber, subject: subjectId }
}

/** One row for each property, as one statement writes it. */
function latestOf(events: readonly ViewEvent[]): readonly ViewEvent[] {
  return [...new Map(events.map((event) => [event.subjectId, event])).values()]
}

function deliveryRow(endpointNo: number, deliveryNo: number, delivery: Delivery) {
  const { atMs, messageId, event, outcome, status, tookMs, answer } = delivery
  return {
    endpoint_no: endpointNo,
    delivery_no: deliveryNo,
    at_ms: atMs,
    message_id: messageId,
    sequence: event?.sequenceNumber,
    subject: event?.subjectId,
    outcome,
    status,
    took_ms: Math.round(tookMs),
    // PostgreSQL takes neither half characters nor this one.
    answer: answer?.toWellFormed().replaceAll('\0', ''),
  }
}

const rowsAtOnce = 500
/** Endpoints whose log begins with rows that are too old or too many. Its numbers ascend with time. CROSS JOIN: SQLite reads the log last. */
const due = statement<EndpointNumber & { readonly first: number; readonly last: number }>(
  'webhook-deliveries-due',
  `SELECT w.endpoint_no, d.delivery_no AS first, w.logged - ${deliveriesKept} AS last
    FROM webhook AS w CROSS JOIN webhook_delivery AS d
    WHERE d.endpoint_no = w.endpoint_no AND d.delivery_no = (SELECT min(x.delivery_no) FROM webhook_delivery AS x WHERE x.endpoint_no = w.endpoint_no)
      AND (d.at_ms < $1 OR d.delivery_no <= w.logged - ${deliveriesKept}) LIMIT ${rowsAtOnce}`,
)
const removeDue = statement<EndpointNumber>(
  'webhook-deliveries-remove-due',
  `DELETE FROM webhook_delivery WHERE endpoint_no = $1 AND delivery_no < $2 AND (delivery_no <= $3 OR at_ms < $4)
    RETURNING endpoint_no`,
)
const removeNotices = statement(
  'webhook-notices-remove',
  removal('webhook_notice', 'notice_no', `at_ms < $1 LIMIT ${rowsAtOnce}`),
)
const removeEnded = statement(
  'webhook-secrets-remove-ended',
  removal('webhook_secret', 'secret_id', 'ends_ms <= $1'),
)

const prune = defineWrite('webhook-prune', async (tx): Promise<number> => {
  const nowMs = await tx.nowMs()
  const beforeMs = nowMs - deliveriesKeptMs
  let left = rowsAtOnce
  for (const { endpoint_no: no, first, last } of await tx.rows(due(beforeMs))) {
    left -= (await tx.rows(removeDue(no, first + left, last, beforeMs))).length
    if (left <= 0) return rowsAtOnce - left
  }
  const notices = await tx.rows(removeNotices(nowMs - noticesKeptMs))
  const secrets = await tx.rows(removeEnded(nowMs))
  return rowsAtOnce - left + notices.length + secrets.length
})

export function progressStore({ write }: StoreAccess): Pick<WebhookStore, 'save' | 'prune'> {
  return { save: (progress) => write(save, progress), prune: () => write(prune) }
}
