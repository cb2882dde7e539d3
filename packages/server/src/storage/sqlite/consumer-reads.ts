/** Reads what is stored about consumers. */
import { bytesOfUuid } from '@property-events/protocol/plain'
import type {
  Acknowledgement,
  ConsumerStore,
  FirstSent,
  ReadPart,
  ReadRoute,
  SentMinute,
} from '../consumer-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { Connection } from './connection.ts'
import { consumerOf, readingOf, refusalOf, resultColumns, resultOf } from './consumer-row.ts'
import type { ConsumerRow, RefusalRow, ResultRow, ViewRow } from './consumer-row.ts'
import { rangesOf } from './ledger.ts'

export type ConsumerReads = Pick<
  Unguarded<ConsumerStore>,
  'readings' | 'acknowledgements' | 'refusals' | 'results' | 'resultsAfter' | 'firstSent' | 'sentMinutes'
>

interface AcknowledgementRow extends ConsumerRow {
  readonly acknowledged: number
  readonly epoch: string
  readonly acknowledged_ms: number
}

interface MinuteRow extends ConsumerRow, ReadPart {
  readonly minute: number
  readonly route: ReadRoute
  readonly ranges: string
}

export function consumerReads(db: Connection): ConsumerReads {
  const ofFeed = 'tenant = ? AND feed = ?'
  const selectReadings = db.prepare<[string, string], ViewRow>(
    `SELECT * FROM consumer_view WHERE ${ofFeed} ORDER BY key_id, name, view, space, epoch`,
  )
  const selectAcknowledgements = db.prepare<[string, string], AcknowledgementRow>(
    `SELECT * FROM consumer WHERE ${ofFeed} AND acknowledged IS NOT NULL ORDER BY key_id, name`,
  )
  const selectRefusals = db.prepare<[string], RefusalRow>(
    'SELECT * FROM consumer_refusal WHERE key_id IN (SELECT value FROM json_each(?))',
  )
  const selectMinutes = db.prepare<[string, string, string, string], MinuteRow>(
    `SELECT * FROM consumer_sent WHERE ${ofFeed} AND key_id = ? AND name = ? ORDER BY minute, view, space, epoch, route`,
  )
  return {
    readings: ({ tenantId, feed }) => selectReadings.all(tenantId, feed).map(readingOf),
    acknowledgements: ({ tenantId, feed }) =>
      selectAcknowledgements.all(tenantId, feed).map((row): Acknowledgement => {
        const { acknowledged: sequenceNumber, epoch, acknowledged_ms: acknowledgedMs } = row
        return { ...consumerOf(row), sequenceNumber, epoch, acknowledgedMs }
      }),
    refusals: (keyIds) => selectRefusals.all(JSON.stringify(keyIds)).map(refusalOf),
    firstSent: firstSentReader(db),
    sentMinutes: ({ key, keyId, name }) =>
      selectMinutes
        .all(key.tenantId, key.feed, keyId, name)
        .map(({ view, space, epoch, minute, route, ranges }): ReadPart & SentMinute => {
          return { view, space, epoch, minute, route, ranges: rangesOf(ranges) }
        }),
    ...resultReads(db),
  }
}

/** Bounds first: the ranges of a row are read only if they may hold the number. */
function firstSentReader(db: Connection): ConsumerReads['firstSent'] {
  const select = db.prepare<[object], MinuteRow>(
    `SELECT key_id, name, minute, route, ranges FROM consumer_sent
      WHERE tenant = @tenant AND feed = @feed AND view = @view AND space = @space AND epoch = @epoch
        AND minute >= @fromMinute AND low <= @number AND high >= @number
      ORDER BY key_id, name, minute`,
  )
  return ({ key, ...search }) => {
    const first = new Map<string, FirstSent>()
    for (const row of select.iterate({ ...search, tenant: key.tenantId, feed: key.feed })) {
      const { key_id: keyId, name, minute, route, ranges } = row
      const consumer = `${keyId} ${name}`
      if (first.has(consumer)) continue
      const isIn = rangesOf(ranges).some(([from, to]) => from <= search.number && search.number <= to)
      if (isIn) first.set(consumer, { keyId, name, minute, route })
    }
    return [...first.values()]
  }
}

function resultReads(db: Connection): Pick<ConsumerReads, 'results' | 'resultsAfter'> {
  const order = 'ORDER BY subject, key_id, name'
  const select = db.prepare<[string, Uint8Array], ResultRow>(
    `SELECT ${resultColumns} FROM consumer_result WHERE tenant = ? AND subject = ? ${order}`,
  )
  const selectAfter = db.prepare<[object], ResultRow>(
    `SELECT ${resultColumns} FROM consumer_result WHERE tenant = @tenantId AND subject > @after AND subject <= coalesce(
      (SELECT subject FROM consumer_result WHERE tenant = @tenantId AND subject > @after ${order} LIMIT 1 OFFSET @limit), x'ffffffffffffffffffffffffffffffff') ${order}`,
  )
  return {
    results: (tenantId, subjectId) => select.all(tenantId, bytesOfUuid(subjectId)).map(resultOf),
    resultsAfter(tenantId, afterSubject, limit) {
      const after = afterSubject === undefined ? Buffer.alloc(0) : bytesOfUuid(afterSubject)
      return selectAfter.all({ tenantId, after, limit }).map(resultOf)
    },
  }
}
