/** Rows of what is stored about consumers, and what they mean. */
import { uuidOfBytes } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import type {
  ConsumerName,
  ConsumerRefusal,
  ConsumerResult,
  KeptReading,
  Outcome,
  ReadPart,
  ReadRoute,
} from '../consumer-store.ts'
import { rangesOf } from './ledger.ts'

export interface ConsumerRow {
  readonly tenant: string
  readonly feed: FeedName
  readonly key_id: string
  readonly name: string
}

export function consumerOf({ tenant, feed, key_id, name }: ConsumerRow): ConsumerName {
  return { key: { tenantId: tenant, feed }, keyId: key_id, name }
}

export interface ViewRow extends ConsumerRow, ReadPart {
  readonly ranges: string
  readonly asked_ms: number
  readonly quiet_ms: number | null
  readonly status: number
  readonly route: ReadRoute
}

export function readingOf(row: ViewRow): KeptReading {
  const { view, space, epoch, asked_ms: askedMs, quiet_ms: quietMs, status, route } = row
  return {
    ...consumerOf(row),
    view,
    space,
    epoch,
    askedMs,
    status,
    route,
    quietMs: quietMs ?? undefined,
    ranges: rangesOf(row.ranges),
  }
}

export interface RefusalRow {
  readonly key_id: string
  readonly name: string
  readonly tenant: string
  readonly code: string
  readonly status: number
  readonly since_ms: number
  readonly last_ms: number
  readonly count: number
}

export function refusalOf(row: RefusalRow): ConsumerRefusal {
  return {
    keyId: row.key_id,
    name: row.name,
    tenantId: row.tenant === '' ? undefined : row.tenant,
    code: row.code,
    status: row.status,
    sinceMs: row.since_ms,
    lastMs: row.last_ms,
    count: row.count,
  }
}

export const resultColumns = 'tenant, subject, key_id, name, sequence, outcome, code, message, url, result_ms'

export interface ResultRow {
  readonly tenant: string
  readonly subject: Buffer
  readonly key_id: string
  readonly name: string
  readonly sequence: number
  readonly outcome: Outcome
  readonly code: string | null
  readonly message: string | null
  readonly url: string | null
  readonly result_ms: number
}

export function resultOf(row: ResultRow): ConsumerResult {
  return {
    tenantId: row.tenant,
    subjectId: uuidOfBytes(row.subject),
    keyId: row.key_id,
    name: row.name,
    sequenceNumber: row.sequence,
    outcome: row.outcome,
    code: row.code ?? undefined,
    message: row.message ?? undefined,
    url: row.url ?? undefined,
    resultMs: row.result_ms,
  }
}
