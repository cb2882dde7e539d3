/** What waits and what was given up, in a database, and how it is sent again. */
import { webhookResent } from '../../audit/webhook-changes.ts'
import type { Actor } from '../../audit/actor.ts'
import { defineWrite, rowsFrom, statement, uuidOf } from '../../sql/database.ts'
import type { ColumnType, StoreAccess, StoredLogId } from '../../sql/database.ts'
import type { ResendOutcome, WebhookStore } from '../endpoint.ts'
import { freed, lockedEndpoint, ofEndpoint } from '../endpoint-rows.ts'
import type { EndpointNumber } from '../endpoint-rows.ts'
import type { ViewEvent, WaitingSubject } from '../waiting-rows.ts'

const waitingColumns = {
  endpoint_no: 'bigint',
  subject: 'logId',
  sequence: 'bigint',
  tries: 'integer',
  next_try_ms: 'bigint',
} as const satisfies Readonly<Record<string, ColumnType>>
const waitingNames = Object.keys(waitingColumns).join(', ')
/** SQLite needs the WHERE, or takes ON CONFLICT for a part of a join. */
export const putWaiting = statement(
  'webhook-put-waiting',
  (dialect) => `INSERT INTO webhook_waiting (${waitingNames})
    SELECT ${waitingNames} FROM ${rowsFrom('$1', waitingColumns)(dialect)} WHERE true
    ON CONFLICT (endpoint_no, subject) DO UPDATE SET
      sequence = excluded.sequence, tries = excluded.tries, next_try_ms = excluded.next_try_ms`,
)

export interface WaitingRow extends EndpointNumber {
  readonly subject: StoredLogId
  readonly sequence: number
  readonly tries: number
  readonly next_try_ms: number
}

const waiting = statement<WaitingRow>(
  'webhook-waiting',
  `SELECT * FROM webhook_waiting WHERE ${ofEndpoint} ORDER BY sequence LIMIT $2`,
)
const givenUp = statement<GivenUpRow>(
  'webhook-given-up',
  `SELECT * FROM webhook_given_up WHERE ${ofEndpoint} AND sequence > $2 ORDER BY sequence LIMIT $3`,
)
/** The same of one property. */
const waitingOfSubject = statement<WaitingRow>(
  'webhook-waiting-of-subject',
  `SELECT * FROM webhook_waiting WHERE ${ofEndpoint} AND subject = $2`,
)
const givenUpOfSubject = statement<GivenUpRow>(
  'webhook-given-up-of-subject',
  `SELECT * FROM webhook_given_up WHERE ${ofEndpoint} AND sequence > $2 AND subject = $4 ORDER BY sequence LIMIT $3`,
)

const waitsFor = statement(
  'webhook-waits-for',
  'SELECT 1 AS waits FROM webhook_waiting WHERE endpoint_no = $1 AND subject = $2',
)
/** The first of each property that does not wait. */
const firstGivenUp = statement<GivenUpRow>(
  'webhook-first-given-up',
  `SELECT min(sequence) AS sequence, subject FROM webhook_given_up AS g WHERE endpoint_no = $1
    AND NOT EXISTS (SELECT 1 FROM webhook_waiting AS w WHERE w.endpoint_no = g.endpoint_no AND w.subject = g.subject)
    GROUP BY subject ORDER BY 1`,
)
/** What stands behind a row is found there again. */
const removeResent = statement(
  'webhook-remove-resent',
  `DELETE FROM webhook_given_up WHERE endpoint_no = $1 AND EXISTS (SELECT 1 FROM webhook_waiting AS w
      WHERE w.endpoint_no = $1 AND w.subject = webhook_given_up.subject AND w.sequence <= webhook_given_up.sequence)`,
)
const takeLease = statement('webhook-take-lease', `UPDATE webhook SET ${freed} WHERE endpoint_no = $1`)

interface GivenUpRow {
  readonly sequence: number
  readonly subject: StoredLogId
  readonly at_ms: number
}
const resend = defineWrite(
  'webhook-resend',
  async (tx, endpointId: string, events: ViewEvent | 'givenUp', actor: Actor): Promise<ResendOutcome> => {
    const before = await lockedEndpoint(tx, endpointId)
    if (before === undefined) return { kind: 'unknown' }
    const { endpointNo, record } = before
    const given = events === 'givenUp' ? await tx.rows(firstGivenUp(endpointNo)) : []
    const due =
      events === 'givenUp'
        ? given.map((row) => ({ subjectId: uuidOf(row.subject), sequenceNumber: row.sequence }))
        : [events]
    if (events !== 'givenUp') {
      const waits = await tx.rows(waitsFor(endpointNo, { uuid: events.subjectId }))
      if (waits.length > 0) return { kind: 'waiting' }
    }
    if (due.length === 0) return { kind: 'resent', properties: 0 }
    const rows = due.map((event) => waitingRow(endpointNo, { ...event, tries: 0, nextTryMs: 0 }))
    await tx.rows(putWaiting(JSON.stringify(rows)))
    await tx.rows(removeResent(endpointNo))
    await tx.rows(takeLease(endpointNo))
    await tx.note(webhookResent(record, due.length), actor)
    return { kind: 'resent', properties: due.length }
  },
)

export function waitingStore({
  read,
  write,
}: StoreAccess): Pick<WebhookStore, 'waiting' | 'givenUp' | 'resend'> {
  return {
    async waiting(endpointId, limit, subjectId) {
      const asked =
        subjectId === undefined
          ? waiting(endpointId, limit)
          : waitingOfSubject(endpointId, { uuid: subjectId })
      return (await read.rows(asked)).map(waitingOf)
    },
    async givenUp(endpointId, after, limit, subjectId) {
      const asked =
        subjectId === undefined
          ? givenUp(endpointId, after, limit)
          : givenUpOfSubject(endpointId, after, limit, { uuid: subjectId })
      return (await read.rows(asked)).map((row) => {
        return { sequenceNumber: row.sequence, subjectId: uuidOf(row.subject), atMs: row.at_ms }
      })
    },
    resend: (endpointId, events, actor) => write(resend, endpointId, events, actor),
  }
}

export function waitingOf(row: WaitingRow): WaitingSubject {
  const { subject, sequence: sequenceNumber, tries, next_try_ms: nextTryMs } = row
  return { subjectId: uuidOf(subject), sequenceNumber, tries, nextTryMs }
}

export function waitingRow(endpointNo: number, one: WaitingSubject) {
  const { subjectId: subject, sequenceNumber: sequence, tries, nextTryMs } = one
  return { endpoint_no: endpointNo, subject, sequence, tries, next_try_ms: Math.round(nextTryMs) }
}
