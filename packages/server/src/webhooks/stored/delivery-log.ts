/** What was tried, what was acknowledged last, and what is told of endpoints. */
import { feedNumbers, statement, uuidOf } from '../../sql/database.ts'
import type { StoreAccess, StoredLogId } from '../../sql/database.ts'
import { ofEndpoint } from '../endpoint-rows.ts'
import type { DeliveryOutcome, NoticeKind, StoredDelivery, WebhookStore } from '../endpoint.ts'

const selected = `SELECT * FROM webhook_delivery WHERE ${ofEndpoint} AND delivery_no < $2 AND ($3 = '' OR outcome = $3)`
const deliveries = statement<DeliveryRow>(
  'webhook-deliveries',
  `${selected} ORDER BY endpoint_no DESC, delivery_no DESC LIMIT $4`,
)
const deliveriesOfSubject = statement<DeliveryRow>(
  'webhook-deliveries-of-subject',
  `${selected} AND subject = $5 ORDER BY endpoint_no DESC, subject DESC, delivery_no DESC LIMIT $4`,
)
const version = statement<{ readonly sequence: number }>(
  'webhook-version',
  `SELECT sequence FROM webhook_version WHERE ${ofEndpoint} AND subject = $2`,
)
const notices = statement<NoticeRow>(
  'webhook-notices',
  `SELECT * FROM webhook_notice WHERE tenant = $1 AND feed = $2 AND notice_no > $3
    ORDER BY tenant, feed, notice_no LIMIT $4`,
)

interface DeliveryRow {
  readonly delivery_no: number
  readonly at_ms: number
  readonly message_id: string
  readonly sequence: number | null
  readonly subject: StoredLogId | null
  readonly outcome: DeliveryOutcome
  readonly status: number | null
  readonly took_ms: number
  readonly answer: string | null
}
interface NoticeRow {
  readonly notice_no: number
  readonly kind: NoticeKind
  readonly endpoint_id: string
  readonly at_ms: number
  readonly reason: string | null
}

export function deliveryLog({ read }: StoreAccess): Pick<WebhookStore, 'deliveries' | 'version' | 'notices'> {
  return {
    async deliveries({ endpointId, outcome = '', subjectId, before, limit }) {
      const common = [endpointId, before ?? Number.MAX_SAFE_INTEGER, outcome, limit] as const
      const rows = await read.rows(
        subjectId === undefined ? deliveries(...common) : deliveriesOfSubject(...common, { uuid: subjectId }),
      )
      return rows.map((row) => deliveryOf(endpointId, row))
    },
    async version(endpointId, subjectId) {
      const [row] = await read.rows(version(endpointId, { uuid: subjectId }))
      return row?.sequence
    },
    async notices({ tenantId, feed, after, limit }) {
      const rows = await read.rows(notices(tenantId, feedNumbers[feed], after, limit))
      return rows.map((row) => ({
        noticeNo: row.notice_no,
        kind: row.kind,
        endpointId: row.endpoint_id,
        atMs: row.at_ms,
        reason: row.reason ?? undefined,
      }))
    },
  }
}

function deliveryOf(endpointId: string, row: DeliveryRow): StoredDelivery {
  const { sequence, subject } = row
  return {
    deliveryNo: row.delivery_no,
    endpointId,
    atMs: row.at_ms,
    messageId: row.message_id,
    event:
      sequence === null || subject === null
        ? undefined
        : { sequenceNumber: sequence, subjectId: uuidOf(subject) },
    outcome: row.outcome,
    status: row.status ?? undefined,
    tookMs: row.took_ms,
    answer: row.answer ?? undefined,
  }
}
