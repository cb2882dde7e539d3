/** Reads what is stored about consumers. */
import type {
  Acknowledgement,
  ConsumerName,
  ConsumerRefusal,
  ConsumerResult,
  ConsumerStore,
  FirstSent,
  KeptReading,
  Outcome,
  ReadPart,
  ReadRoute,
  SentMinute,
} from '../consumer-store.ts'
import { texts } from './array.ts'
import type { Database, Row, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import { rangesOf } from './ledger.ts'

const ofFeed = 'tenant = $1 AND feed = $2'
const selectReadings: Statement = {
  name: 'consumer-readings',
  text: `SELECT tenant, feed, key_id, name, view, space, epoch, ranges::text AS ranges, asked_ms, quiet_ms, status, route
    FROM consumer_view WHERE ${ofFeed} ORDER BY key_id, name, view, space, epoch`,
}
const selectAcknowledgements: Statement = {
  name: 'consumer-acknowledgements',
  text: `SELECT * FROM consumer WHERE ${ofFeed} AND acknowledged IS NOT NULL ORDER BY key_id, name`,
}
const selectRefusals: Statement = {
  name: 'consumer-refusals-read',
  text: 'SELECT * FROM consumer_refusal WHERE key_id = ANY ($1::text[] COLLATE "C")',
}
const resultOrder = 'ORDER BY tenant, subject, key_id, name'
const selectResults: Statement = {
  name: 'consumer-results-read',
  text: `SELECT * FROM consumer_result WHERE tenant = $1 AND subject = $2 ${resultOrder}`,
}
const after = 'tenant = $1 AND ($2::uuid IS NULL OR subject > $2)'
const selectResultsAfter: Statement = {
  name: 'consumer-results-after',
  text: `SELECT * FROM consumer_result WHERE ${after} AND subject <= coalesce(
    (SELECT subject FROM consumer_result WHERE ${after} ${resultOrder} LIMIT 1 OFFSET $3), 'ffffffff-ffff-ffff-ffff-ffffffffffff') ${resultOrder}`,
}
const selectFirst: Statement = {
  name: 'consumer-first',
  text: `SELECT DISTINCT ON (key_id, name) key_id, name, minute, route FROM consumer_sent
    WHERE ${ofFeed} AND view = $3 AND space = $4 AND epoch = $5 AND minute >= $6 AND ranges @> $7::bigint
    ORDER BY key_id, name, minute`,
}
const selectMinutes: Statement = {
  name: 'consumer-minutes-read',
  text: `SELECT view, space, epoch, minute, route, ranges::text AS ranges FROM consumer_sent
    WHERE ${ofFeed} AND key_id = $3 AND name = $4 ORDER BY minute, view, space, epoch, route`,
}

interface ConsumerRow extends Row {
  readonly tenant: string
  readonly feed: number
  readonly key_id: string
  readonly name: string
}

interface ViewRow extends ConsumerRow, ReadPart {
  readonly ranges: string
  readonly asked_ms: string
  readonly quiet_ms: string | null
  readonly status: number
  readonly route: ReadRoute
}

interface AcknowledgementRow extends ConsumerRow {
  readonly acknowledged: string
  readonly epoch: string
  readonly acknowledged_ms: string
}

interface RefusalRow extends Row {
  readonly key_id: string
  readonly name: string
  readonly tenant: string
  readonly code: string
  readonly status: number
  readonly since_ms: string
  readonly last_ms: string
  readonly count: string
}

interface ResultRow extends Row {
  readonly tenant: string
  readonly subject: string
  readonly key_id: string
  readonly name: string
  readonly sequence: string
  readonly outcome: Outcome
  readonly code: string | null
  readonly message: string | null
  readonly url: string | null
  readonly result_ms: string
}

interface MinuteRow extends Row, ReadPart {
  readonly minute: number
  readonly route: ReadRoute
  readonly ranges: string
}

interface FirstRow extends Row {
  readonly key_id: string
  readonly name: string
  readonly minute: number
  readonly route: ReadRoute
}

type Reads = Pick<
  ConsumerStore,
  'readings' | 'acknowledgements' | 'refusals' | 'results' | 'resultsAfter' | 'firstSent' | 'sentMinutes'
>

export function consumerReads(database: Database): Reads {
  return {
    readings: async ({ tenantId, feed }) =>
      (await database.read<ViewRow>(selectReadings, [tenantId, feedNumbers[feed]])).map(readingOf),
    acknowledgements: async ({ tenantId, feed }) => {
      const values = [tenantId, feedNumbers[feed]]
      return (await database.read<AcknowledgementRow>(selectAcknowledgements, values)).map(acknowledgementOf)
    },
    refusals: async (keyIds) =>
      (await database.read<RefusalRow>(selectRefusals, [texts(keyIds)])).map(refusalOf),
    results: async (tenantId, subjectId) =>
      (await database.read<ResultRow>(selectResults, [tenantId, subjectId])).map(resultOf),
    resultsAfter: async (tenantId, afterSubject, limit) =>
      (await database.read<ResultRow>(selectResultsAfter, [tenantId, afterSubject ?? null, limit])).map(
        resultOf,
      ),
    firstSent: async ({ key, view, space, epoch, number, fromMinute }) => {
      const values = [key.tenantId, feedNumbers[key.feed], view, space, epoch, fromMinute, number]
      return (await database.read<FirstRow>(selectFirst, values)).map(
        ({ key_id: keyId, name, minute, route }): FirstSent => ({ keyId, name, minute, route }),
      )
    },
    sentMinutes: async ({ key, keyId, name }) => {
      const values = [key.tenantId, feedNumbers[key.feed], keyId, name]
      return (await database.read<MinuteRow>(selectMinutes, values)).map(
        ({ view, space, epoch, minute, route, ranges }): ReadPart & SentMinute => {
          return { view, space, epoch, minute, route, ranges: rangesOf(ranges) }
        },
      )
    },
  }
}

function consumerOf({ tenant, feed, key_id: keyId, name }: ConsumerRow): ConsumerName {
  return {
    key: { tenantId: tenant, feed: feed === feedNumbers.contact ? 'contact' : 'property' },
    keyId,
    name,
  }
}

function readingOf(row: ViewRow): KeptReading {
  const { view, space, epoch, status, route, quiet_ms: quietMs } = row
  return {
    ...consumerOf(row),
    view,
    space,
    epoch,
    askedMs: Number(row.asked_ms),
    status,
    route,
    quietMs: quietMs === null ? undefined : Number(quietMs),
    ranges: rangesOf(row.ranges),
  }
}

function acknowledgementOf(row: AcknowledgementRow): Acknowledgement {
  return {
    ...consumerOf(row),
    sequenceNumber: Number(row.acknowledged),
    epoch: row.epoch,
    acknowledgedMs: Number(row.acknowledged_ms),
  }
}

function refusalOf(row: RefusalRow): ConsumerRefusal {
  return {
    keyId: row.key_id,
    name: row.name,
    tenantId: row.tenant === '' ? undefined : row.tenant,
    code: row.code,
    status: row.status,
    sinceMs: Number(row.since_ms),
    lastMs: Number(row.last_ms),
    count: Number(row.count),
  }
}

function resultOf(row: ResultRow): ConsumerResult {
  return {
    tenantId: row.tenant,
    subjectId: row.subject,
    keyId: row.key_id,
    name: row.name,
    sequenceNumber: Number(row.sequence),
    outcome: row.outcome,
    code: row.code ?? undefined,
    message: row.message ?? undefined,
    url: row.url ?? undefined,
    resultMs: Number(row.result_ms),
  }
}
