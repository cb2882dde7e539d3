/** Who has seen what: read on this thread, written by the writer's. */
import { bytesOfUuid, ticksPerMillisecond } from '@property-events/protocol/plain'
import { defaultConsumer, namedConsumersPerFeed, withoutWords } from '../consumer-store.ts'
import type {
  Acknowledgement,
  ConsumerName,
  ConsumerRefusal,
  ConsumerResult,
  ConsumerStore,
  NotedReading,
  PutResults,
  TidyRequest,
  WentLive,
} from '../consumer-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import { addedRanges, isLater, joinedRefusal, keptRanges, saysLiveAnew } from '../join-readings.ts'
import { joinRanges } from '../number-ranges.ts'
import type { NumberRange } from '../number-ranges.ts'
import type { Connection } from './connection.ts'
import { consumerReads } from './consumer-reads.ts'
import { refusalOf, resultColumns, resultOf } from './consumer-row.ts'
import type { RefusalRow, ResultRow } from './consumer-row.ts'
import { rangesOf } from './ledger.ts'
import type { WriterLink } from './writer-link.ts'

export interface ConsumerWrites {
  addReadings(readings: readonly NotedReading[]): void
  addRefusals(refusals: readonly ConsumerRefusal[]): void
  acknowledgeReading(acknowledgements: readonly Acknowledgement[]): void
  putResults(results: readonly ConsumerResult[]): PutResults
  tidyReadings(request: TidyRequest): void
}

export function fileConsumers(db: Connection, link: WriterLink): Unguarded<ConsumerStore> {
  return {
    ...consumerReads(db),
    add: (readings) => link.call('addReadings', readings),
    addRefusals: (refusals) => link.call('addRefusals', refusals),
    acknowledge: (acknowledgements) => link.call('acknowledgeReading', acknowledgements),
    putResults: (results) => link.call('putResults', results),
    tidy: (request) => link.call('tidyReadings', request),
  }
}

export function consumerWrites(db: Connection): ConsumerWrites {
  const register = registrar(db)
  const put = readingPutter(db)
  const add = db.transaction((readings: readonly NotedReading[]) => {
    for (const reading of readings) if (register(reading)) put(reading)
  })
  const tidy = tidier(db)
  return {
    addReadings: (readings) => add.immediate(readings),
    addRefusals: refusalAdder(db),
    acknowledgeReading: acknowledger(db, register),
    putResults: resultPutter(db, register),
    tidyReadings: (request) => tidy.immediate(request),
  }
}

type Register = (consumer: ConsumerName) => boolean

/** False if the feed already has as many consumers as are kept. */
function registrar(db: Connection): Register {
  const find = db.prepare<[string, string, string, string]>(
    'SELECT 1 FROM consumer WHERE tenant = ? AND feed = ? AND key_id = ? AND name = ?',
  )
  const count = db
    .prepare<[string, string], number>(
      `SELECT count(*) FROM consumer WHERE tenant = ? AND feed = ? AND name <> '${defaultConsumer}'`,
    )
    .pluck()
  const insert = db.prepare('INSERT INTO consumer (tenant, feed, key_id, name) VALUES (?, ?, ?, ?)')
  return ({ key: { tenantId, feed }, keyId, name }) => {
    if (find.get(tenantId, feed, keyId, name) !== undefined) return true
    if (name !== defaultConsumer && (count.get(tenantId, feed) ?? 0) >= namedConsumersPerFeed) return false
    insert.run(tenantId, feed, keyId, name)
    return true
  }
}

const part =
  'tenant = @tenant AND feed = @feed AND key_id = @keyId AND name = @name AND view = @view AND space = @space AND epoch = @epoch'

function readingPutter(db: Connection): (reading: NotedReading) => void {
  const select = db.prepare<[object], string>(`SELECT ranges FROM consumer_view WHERE ${part}`).pluck()
  const put = db.prepare(
    `INSERT INTO consumer_view (tenant, feed, key_id, name, view, space, epoch, ranges, asked_ms, quiet_ms, status, route)
      VALUES (@tenant, @feed, @keyId, @name, @view, @space, @epoch, @ranges, @askedMs, @quietMs, @status, @route)
      ON CONFLICT DO UPDATE SET ranges = excluded.ranges,
        status = iif(excluded.asked_ms >= asked_ms, excluded.status, status),
        route = iif(excluded.asked_ms >= asked_ms, excluded.route, route),
        asked_ms = max(asked_ms, excluded.asked_ms),
        quiet_ms = nullif(max(coalesce(quiet_ms, 0), coalesce(excluded.quiet_ms, 0)), 0)`,
  )
  const selectMinute = db
    .prepare<[object], string>(
      `SELECT ranges FROM consumer_sent WHERE ${part} AND minute = @minute AND route = @route`,
    )
    .pluck()
  const putMinute = db.prepare(
    `INSERT OR REPLACE INTO consumer_sent (tenant, feed, key_id, name, minute, view, space, epoch, route, low, high, ranges)
      VALUES (@tenant, @feed, @keyId, @name, @minute, @view, @space, @epoch, @route, @low, @high, @ranges)`,
  )
  return (reading) => {
    const { key, keyId, name, view, space, epoch } = reading
    const place = { tenant: key.tenantId, feed: key.feed, keyId, name, view, space, epoch }
    const before = select.get(place)
    const ranges = keptRanges(joinRanges(before === undefined ? [] : rangesOf(before), addedRanges(reading)))
    const { askedMs, quietMs = null, status, route, minutes } = reading
    put.run({ ...place, ranges: JSON.stringify(ranges), askedMs, quietMs, status, route })
    for (const sent of minutes) {
      const row = { ...place, minute: sent.minute, route: sent.route }
      const known = selectMinute.get(row)
      const joined = joinRanges(known === undefined ? [] : rangesOf(known), sent.ranges)
      putMinute.run({ ...row, ...boundsOf(joined), ranges: JSON.stringify(joined) })
    }
  }
}

function boundsOf(ranges: readonly NumberRange[]): { readonly low: number; readonly high: number } {
  return { low: ranges[0]?.[0] ?? 0, high: ranges.at(-1)?.[1] ?? 0 }
}

function refusalAdder(db: Connection): ConsumerWrites['addRefusals'] {
  const select = db.prepare<[string, string, string, string], RefusalRow>(
    'SELECT * FROM consumer_refusal WHERE key_id = ? AND name = ? AND tenant = ? AND code = ?',
  )
  const put = db.prepare(
    `INSERT OR REPLACE INTO consumer_refusal (key_id, name, tenant, code, status, since_ms, last_ms, count)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const add = db.transaction((refusals: readonly ConsumerRefusal[]) => {
    for (const refusal of refusals) {
      const place = [refusal.keyId, refusal.name, refusal.tenantId ?? '', refusal.code] as const
      const row = select.get(...place)
      const { status, sinceMs, lastMs, count } = joinedRefusal(row && refusalOf(row), refusal)
      put.run(...place, status, sinceMs, lastMs, count)
    }
  })
  return (refusals) => add.immediate(refusals)
}

function acknowledger(db: Connection, register: Register): ConsumerWrites['acknowledgeReading'] {
  const set = db.prepare(
    `UPDATE consumer SET acknowledged = @sequenceNumber, epoch = @epoch, acknowledged_ms = @acknowledgedMs
      WHERE tenant = @tenant AND feed = @feed AND key_id = @keyId AND name = @name
        AND (acknowledged IS NULL OR epoch <> @epoch OR acknowledged < @sequenceNumber)`,
  )
  const acknowledge = db.transaction((acknowledgements: readonly Acknowledgement[]) => {
    for (const { key, ...one } of acknowledgements) {
      if (register({ key, ...one })) set.run({ ...one, tenant: key.tenantId, feed: key.feed })
    }
  })
  return (acknowledgements) => acknowledge.immediate(acknowledgements)
}

function resultPutter(db: Connection, register: Register): ConsumerWrites['putResults'] {
  const select = db.prepare<[string, Uint8Array, string, string], ResultRow>(
    `SELECT ${resultColumns} FROM consumer_result WHERE tenant = ? AND subject = ? AND key_id = ? AND name = ?`,
  )
  const put = db.prepare(
    `INSERT OR REPLACE INTO consumer_result (${resultColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  /** A late report on an erased version is not kept. */
  const isErased = db.prepare<[Uint8Array, number, string]>(
    `SELECT 1 FROM erasure JOIN feed USING (feed_no)
      WHERE erasure.subject = ? AND closing_sequence > ? AND feed.tenant = ? AND feed.feed = 'property' LIMIT 1`,
  )
  const versionAt = db.prepare<
    [string, Uint8Array, number],
    { readonly state: string; readonly latest: 0 | 1 }
  >(
    `SELECT event.state, event.place = (feed.feed_no << 40) | subject.position AS latest FROM feed
      CROSS JOIN subject USING (feed_no)
      CROSS JOIN event INDEXED BY event_subject ON event.feed_no = feed.feed_no AND event.subject = subject.subject
      WHERE feed.tenant = ? AND feed.feed = 'property' AND subject.subject = ? AND event.sequence <= ?
      ORDER BY event.place DESC LIMIT 1`,
  )
  const withoutErased = (subject: Uint8Array, result: ConsumerResult): ConsumerResult | undefined => {
    const { tenantId, sequenceNumber } = result
    if (isErased.get(subject, sequenceNumber, tenantId) !== undefined) return undefined
    const version = versionAt.get(tenantId, subject, sequenceNumber)
    if (version?.state !== 'erased') return result
    return version.latest === 1 ? withoutWords(result) : undefined
  }
  const publishedMs = db
    .prepare<[string, Uint8Array, number], number>(
      `SELECT event.created / ${ticksPerMillisecond} FROM feed JOIN subject USING (feed_no)
        JOIN event ON event.place = (feed.feed_no << 40) | subject.position
        WHERE feed.tenant = ? AND feed.feed = 'property' AND subject.subject = ? AND event.sequence = ?`,
    )
    .pluck()
  const putAll = db.transaction((results: readonly ConsumerResult[]): PutResults => {
    const live: WentLive[] = []
    let leftOut = 0
    for (const given of results) {
      const { tenantId, keyId, name, sequenceNumber, outcome } = given
      if (!register({ key: { tenantId, feed: 'property' }, keyId, name })) {
        leftOut += 1
        continue
      }
      const subject = bytesOfUuid(given.subjectId)
      const row = select.get(tenantId, subject, keyId, name)
      const before = row && resultOf(row)
      const result = isLater(given, before) ? withoutErased(subject, given) : undefined
      if (result === undefined) continue
      const { code = null, message = null, url = null, resultMs } = result
      put.run(tenantId, subject, keyId, name, sequenceNumber, outcome, code, message, url, resultMs)
      const published = saysLiveAnew(result, before)
        ? publishedMs.get(tenantId, subject, sequenceNumber)
        : undefined
      if (published !== undefined) live.push({ keyId, name, afterMs: resultMs - published })
    }
    return { live, leftOut }
  })
  return (results) => putAll.immediate(results)
}

/** The most rows that one call removes because of their age: some milliseconds of the writer's time. */
const oldRowsAtOnce = 5_000

function tidier(db: Connection) {
  const removeOld = db.prepare(
    `DELETE FROM consumer_sent WHERE (tenant, feed, key_id, name, minute, view, space, epoch, route) IN (
      SELECT tenant, feed, key_id, name, minute, view, space, epoch, route FROM consumer_sent WHERE minute < ? LIMIT ${oldRowsAtOnce})`,
  )
  const of = 'tenant = ? AND feed = ? AND key_id = ? AND name = ?'
  const removeMany = db.prepare(
    `DELETE FROM consumer_sent WHERE ${of} AND (minute, view, space, epoch, route) IN (
      SELECT minute, view, space, epoch, route FROM consumer_sent WHERE ${of}
        ORDER BY minute DESC, view DESC, space DESC, epoch DESC, route DESC LIMIT -1 OFFSET ?)`,
  )
  return db.transaction(({ consumers, mostRows, beforeMinute }: TidyRequest) => {
    removeOld.run(beforeMinute)
    for (const { key, keyId, name } of consumers) {
      const place = [key.tenantId, key.feed, keyId, name] as const
      removeMany.run(...place, ...place, mostRows)
    }
  })
}
