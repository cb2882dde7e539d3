/** Who has seen what. */
import { defaultConsumer, mostRanges, namedConsumersPerFeed, refusalPauseMs } from '../consumer-store.ts'
import type {
  Acknowledgement,
  ConsumerName,
  ConsumerRefusal,
  ConsumerResult,
  ConsumerStore,
  NotedReading,
  PutResults,
  TidyRequest,
} from '../consumer-store.ts'
import { ticksPerMillisecond } from '@property-events/protocol'
import { addedRanges, isLater } from '../join-readings.ts'
import { joinRanges } from '../number-ranges.ts'
import { bigints, integers, smallints, texts, uuids } from './array.ts'
import type { Database, Session, Statement } from './connection.ts'
import { consumerReads } from './consumer-reads.ts'
import { feedNumbers } from './feed-number.ts'
import { multirangeText } from './ledger.ts'
import { noteLockWaitMs } from '../../sql/database.ts'

const consumerColumns = '$1::uuid[], $2::smallint[], $3::text[], $4::text[]'

/** In order of the key, like all writes here, so that two nodes that add to the same rows never wait in a circle. */
const register: Statement = {
  name: 'consumer-register',
  text: `INSERT INTO consumer (tenant, feed, key_id, name)
    SELECT tenant, feed, key_id, name FROM (
      SELECT tenant, feed, key_id, name, name <> '${defaultConsumer}' AS named,
        row_number() OVER (PARTITION BY tenant, feed, name <> '${defaultConsumer}') AS place
      FROM (SELECT DISTINCT * FROM unnest(${consumerColumns}) AS r (tenant, feed, key_id, name)) AS given
      WHERE NOT EXISTS (SELECT FROM consumer AS c
        WHERE (c.tenant, c.feed, c.key_id, c.name) = (given.tenant, given.feed, given.key_id COLLATE "C", given.name COLLATE "C"))
    ) AS fresh
    WHERE NOT named OR place <= ${namedConsumersPerFeed} - (
      SELECT count(*) FROM consumer AS c WHERE c.tenant = fresh.tenant AND c.feed = fresh.feed AND c.name <> '${defaultConsumer}')
    ORDER BY tenant, feed, key_id COLLATE "C", name COLLATE "C"
    ON CONFLICT DO NOTHING`,
}
const registered: Statement = {
  name: 'consumer-registered',
  text: `SELECT c.tenant, c.key_id, c.name FROM (SELECT DISTINCT * FROM unnest(${consumerColumns}) AS r (tenant, feed, key_id, name)) AS r
    JOIN consumer AS c ON (c.tenant, c.feed, c.key_id, c.name) = (r.tenant, r.feed, r.key_id COLLATE "C", r.name COLLATE "C")`,
}
/** Values that are given have the database's collation. */
const known =
  'JOIN consumer c ON (c.tenant, c.feed, c.key_id, c.name) = (r.tenant, r.feed, r.key_id COLLATE "C", r.name COLLATE "C")'
const joined = 'held.ranges + excluded.ranges'
/** The first range and the highest ones, if there are many. */
const putReadings: Statement = {
  name: 'consumer-put',
  text: `INSERT INTO consumer_view AS held (tenant, feed, key_id, name, view, space, epoch, ranges, asked_ms, quiet_ms, status, route)
    SELECT r.tenant, r.feed, r.key_id, r.name, view, space, r.epoch, ranges::int8multirange, asked_ms, quiet_ms, status, route
    FROM unnest(${consumerColumns}, $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::smallint[], $12::text[])
      AS r (tenant, feed, key_id, name, view, space, epoch, ranges, asked_ms, quiet_ms, status, route)
    ${known}
    ORDER BY r.tenant, r.feed, r.key_id COLLATE "C", r.name COLLATE "C", view COLLATE "C", space COLLATE "C", r.epoch COLLATE "C"
    ON CONFLICT (tenant, feed, key_id, name, view, space, epoch) DO UPDATE SET
      ranges = CASE WHEN (SELECT count(*) FROM unnest(${joined})) <= ${mostRanges} THEN ${joined}
        ELSE (SELECT range_agg(r) FROM (
          SELECT r FROM unnest(${joined}) AS r ORDER BY lower(r) = lower(${joined}) DESC, lower(r) DESC LIMIT ${mostRanges}) AS taken) END,
      status = CASE WHEN excluded.asked_ms >= held.asked_ms THEN excluded.status ELSE held.status END,
      route = CASE WHEN excluded.asked_ms >= held.asked_ms THEN excluded.route ELSE held.route END,
      asked_ms = greatest(held.asked_ms, excluded.asked_ms),
      quiet_ms = greatest(held.quiet_ms, excluded.quiet_ms)`,
}
const putMinutes: Statement = {
  name: 'consumer-minutes',
  text: `INSERT INTO consumer_sent AS held (tenant, feed, key_id, name, minute, view, space, epoch, route, ranges)
    SELECT r.tenant, r.feed, r.key_id, r.name, minute, view, space, r.epoch, route, ranges::int8multirange
    FROM unnest(${consumerColumns}, $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
      AS r (tenant, feed, key_id, name, minute, view, space, epoch, route, ranges)
    ${known}
    ORDER BY r.tenant, r.feed, r.key_id COLLATE "C", r.name COLLATE "C", minute, view COLLATE "C", space COLLATE "C", r.epoch COLLATE "C", route COLLATE "C"
    ON CONFLICT (tenant, feed, key_id, name, minute, view, space, epoch, route) DO UPDATE SET ranges = ${joined}
      WHERE NOT held.ranges @> excluded.ranges`,
}
const putRefusals: Statement = {
  name: 'consumer-refusals',
  text: `INSERT INTO consumer_refusal AS held (key_id, name, tenant, code, status, since_ms, last_ms, count)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[])
      AS r (key_id, name, tenant, code, status, since_ms, last_ms, count)
    ORDER BY key_id COLLATE "C", name COLLATE "C", tenant COLLATE "C", code COLLATE "C"
    ON CONFLICT (key_id, name, tenant, code) DO UPDATE SET
      status = CASE WHEN excluded.last_ms >= held.last_ms THEN excluded.status ELSE held.status END,
      since_ms = CASE WHEN excluded.since_ms - held.last_ms > ${refusalPauseMs} THEN excluded.since_ms
        ELSE least(held.since_ms, excluded.since_ms) END,
      count = excluded.count + CASE WHEN excluded.since_ms - held.last_ms > ${refusalPauseMs} THEN 0 ELSE held.count END,
      last_ms = greatest(held.last_ms, excluded.last_ms)`,
}
const acknowledge: Statement = {
  name: 'consumer-acknowledge',
  text: `UPDATE consumer AS held SET acknowledged = r.acknowledged, epoch = r.epoch, acknowledged_ms = r.acknowledged_ms
    FROM unnest(${consumerColumns}, $5::bigint[], $6::text[], $7::bigint[]) AS r (tenant, feed, key_id, name, acknowledged, epoch, acknowledged_ms)
    WHERE (held.tenant, held.feed, held.key_id, held.name) = (r.tenant, r.feed, r.key_id COLLATE "C", r.name COLLATE "C")
      AND (held.acknowledged IS NULL OR held.epoch <> r.epoch OR held.acknowledged < r.acknowledged)`,
}
/** An update takes rows in whatever order it finds them. */
const lockConsumers: Statement = {
  name: 'consumer-lock',
  text: `SELECT FROM unnest(${consumerColumns}) AS r (tenant, feed, key_id, name) ${known}
    ORDER BY c.tenant, c.feed, c.key_id, c.name FOR UPDATE OF c`,
}
/** Either an erasure that begins in one of these tenants waits until the results are stored, and reduces them, or the results wait and see it. */
const lockResults: Statement = {
  name: 'consumer-results-lock',
  text: `SELECT lock_results(tenant, false) FROM (SELECT DISTINCT unnest($1::uuid[]) AS tenant ORDER BY 1) AS tenants`,
}
/**
 * Nothing is kept about an erased version, or only the outcome (`ConsumerStore.putResults`). The statement sees the rows as they were before
 * it, and so knows which versions were not live then.
 */
const putResults: Statement = {
  name: 'consumer-results',
  text: `WITH given AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[])
      AS r (tenant, subject, key_id, name, sequence, outcome, code, message, url, result_ms)
  ), said AS (
    SELECT r.tenant, r.subject, r.key_id, r.name, r.sequence, r.outcome,
      CASE WHEN v.state = 'erased' THEN NULL ELSE r.code END AS code, CASE WHEN v.state = 'erased' THEN NULL ELSE r.message END AS message,
      CASE WHEN v.state = 'erased' THEN NULL ELSE r.url END AS url, r.result_ms
    FROM given AS r
    LEFT JOIN LATERAL (SELECT e.state, e.position FROM event e
      WHERE e.tenant = r.tenant AND e.feed = ${feedNumbers.property} AND e.subject = r.subject AND e.sequence > 0 AND e.sequence <= r.sequence
      ORDER BY e.tenant DESC, e.feed DESC, e.subject DESC, e.position DESC LIMIT 1) AS v ON true
    WHERE NOT EXISTS (SELECT FROM erasure e
      WHERE e.tenant = r.tenant AND e.feed = ${feedNumbers.property} AND e.subject = r.subject AND e.closing_sequence > r.sequence)
    AND (v.state IS DISTINCT FROM 'erased' OR v.position = (SELECT s.position FROM subject s
      WHERE s.tenant = r.tenant AND s.feed = ${feedNumbers.property} AND s.subject = r.subject))
  ), put AS (
    INSERT INTO consumer_result AS held (tenant, subject, key_id, name, sequence, outcome, code, message, url, result_ms)
    SELECT * FROM said
    ORDER BY tenant, subject, key_id COLLATE "C", name COLLATE "C"
    ON CONFLICT (tenant, subject, key_id, name) DO UPDATE SET sequence = excluded.sequence, outcome = excluded.outcome,
      code = excluded.code, message = excluded.message, url = excluded.url, result_ms = excluded.result_ms
      WHERE (excluded.sequence, excluded.result_ms) >= (held.sequence, held.result_ms)
    RETURNING held.*
  )
  SELECT key_id, name, result_ms - published_ms AS after_ms FROM (
    SELECT *, (SELECT e.created / ${ticksPerMillisecond} FROM subject s
      JOIN event e ON (e.tenant, e.feed, e.position) = (s.tenant, s.feed, s.position)
      WHERE s.tenant = put.tenant AND s.feed = ${feedNumbers.property} AND s.subject = put.subject AND e.sequence = put.sequence) AS published_ms
    FROM put WHERE outcome = 'live' AND NOT EXISTS (SELECT FROM consumer_result AS before
      WHERE (before.tenant, before.subject, before.key_id, before.name) = (put.tenant, put.subject, put.key_id, put.name)
        AND before.sequence = put.sequence AND before.outcome = 'live')
  ) AS anew WHERE published_ms IS NOT NULL`,
}
/** Skips rows that another node is removing, and so never waits. */
const removeOld: Statement = {
  name: 'consumer-remove-old',
  text: `DELETE FROM consumer_sent WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM consumer_sent WHERE minute < $1 LIMIT 5000 FOR UPDATE SKIP LOCKED))`,
}
const removeMany: Statement = {
  name: 'consumer-remove-many',
  text: `DELETE FROM consumer_sent WHERE ctid = ANY (ARRAY(SELECT old.ctid FROM consumer_sent AS old WHERE old.ctid = ANY (ARRAY(
    SELECT sent.ctid FROM unnest(${consumerColumns}) AS r (tenant, feed, key_id, name), LATERAL (
      SELECT ctid FROM consumer_sent AS s WHERE (s.tenant, s.feed, s.key_id, s.name) = (r.tenant, r.feed, r.key_id COLLATE "C", r.name COLLATE "C")
        ORDER BY s.tenant DESC, s.feed DESC, s.key_id DESC, s.name DESC, s.minute DESC, s.view DESC, s.space DESC, s.epoch DESC, s.route DESC OFFSET $5
    ) AS sent)) FOR UPDATE SKIP LOCKED))`,
}

export function databaseConsumers(database: Database): ConsumerStore {
  return {
    ...consumerReads(database),
    add: (readings) => database.transaction((session) => addReadings(session, readings), noteLockWaitMs),
    addRefusals: async (refusals) =>
      void (await database.write(
        (session) => session.query(putRefusals, refusalValues(refusals)),
        noteLockWaitMs,
      )),
    acknowledge: (acknowledgements) =>
      database.transaction(async (session) => {
        const consumers = consumerValues(acknowledgements)
        await session.query(register, consumers)
        await session.query(lockConsumers, consumers)
        await session.query(acknowledge, [
          ...consumers,
          bigints(acknowledgements.map((one: Acknowledgement) => one.sequenceNumber)),
          texts(acknowledgements.map(({ epoch }) => epoch)),
          bigints(acknowledgements.map(({ acknowledgedMs }) => acknowledgedMs)),
        ])
      }, noteLockWaitMs),
    putResults: (results) => database.transaction((session) => putKnown(session, results)),
    tidy: (request) => database.write((session) => tidy(session, request)),
  }
}

function consumerValues(consumers: readonly ConsumerName[]) {
  return [
    uuids(consumers.map(({ key }) => key.tenantId)),
    smallints(consumers.map(({ key }) => feedNumbers[key.feed])),
    texts(consumers.map(({ keyId }) => keyId)),
    texts(consumers.map(({ name }) => name)),
  ]
}

async function addReadings(session: Session, readings: readonly NotedReading[]): Promise<void> {
  const consumers = consumerValues(readings)
  await session.query(register, consumers)
  await session.query(putReadings, [
    ...consumers,
    texts(readings.map(({ view }) => view)),
    texts(readings.map(({ space }) => space)),
    texts(readings.map(({ epoch }) => epoch)),
    texts(readings.map(addedText)),
    bigints(readings.map(({ askedMs }) => askedMs)),
    bigints(readings.map(({ quietMs }) => quietMs ?? null)),
    smallints(readings.map(({ status }) => status)),
    texts(readings.map(({ route }) => route)),
  ])
  const rows = readings.flatMap((reading) => reading.minutes.map((sent) => ({ reading, sent })))
  if (rows.length === 0) return
  await session.query(putMinutes, [
    ...consumerValues(rows.map(({ reading }) => reading)),
    integers(rows.map(({ sent }) => sent.minute)),
    texts(rows.map(({ reading }) => reading.view)),
    texts(rows.map(({ reading }) => reading.space)),
    texts(rows.map(({ reading }) => reading.epoch)),
    texts(rows.map(({ sent }) => sent.route)),
    texts(rows.map(({ sent }) => multirangeText(sent.ranges))),
  ])
}

function addedText(reading: NotedReading): string {
  return multirangeText(joinRanges([], addedRanges(reading)))
}

function refusalValues(refusals: readonly ConsumerRefusal[]) {
  return [
    texts(refusals.map(({ keyId }) => keyId)),
    texts(refusals.map(({ name }) => name)),
    texts(refusals.map(({ tenantId }) => tenantId ?? '')),
    texts(refusals.map(({ code }) => code)),
    smallints(refusals.map(({ status }) => status)),
    bigints(refusals.map(({ sinceMs }) => sinceMs)),
    bigints(refusals.map(({ lastMs }) => lastMs)),
    bigints(refusals.map(({ count }) => count)),
  ]
}

/** Most results are from consumers that are registered already. */
async function putKnown(session: Session, results: readonly ConsumerResult[]): Promise<PutResults> {
  const consumers = consumerValues(
    results.map(({ tenantId, keyId, name }) => ({ key: { tenantId, feed: 'property' }, keyId, name })),
  )
  await session.query(register, consumers)
  const rows = await session.query<{ tenant: string; key_id: string; name: string }>(registered, consumers)
  const names = new Set(rows.map((row) => `${row.tenant} ${row.key_id} ${row.name}`))
  const kept = results.filter(({ tenantId, keyId, name }) => names.has(`${tenantId} ${keyId} ${name}`))
  await session.query(lockResults, [uuids(kept.map(({ tenantId }) => tenantId))])
  const live = await session.query<{ key_id: string; name: string; after_ms: string }>(
    putResults,
    resultValues(kept),
  )
  return {
    live: live.map((row) => ({ keyId: row.key_id, name: row.name, afterMs: Number(row.after_ms) })),
    leftOut: results.length - kept.length,
  }
}

/** Of two results for one property and consumer, the later one: a statement changes a row only once. */
function resultValues(given: readonly ConsumerResult[]) {
  const byPlace = new Map<string, ConsumerResult>()
  for (const result of given) {
    const place = [result.tenantId, result.subjectId, result.keyId, result.name].join(' ')
    const before = byPlace.get(place)
    if (isLater(result, before)) byPlace.set(place, result)
  }
  const results = [...byPlace.values()]
  return [
    uuids(results.map(({ tenantId }) => tenantId)),
    uuids(results.map(({ subjectId }) => subjectId)),
    texts(results.map(({ keyId }) => keyId)),
    texts(results.map(({ name }) => name)),
    bigints(results.map(({ sequenceNumber }) => sequenceNumber)),
    texts(results.map(({ outcome }) => outcome)),
    texts(results.map(({ code }) => code ?? null)),
    texts(results.map(({ message }) => message ?? null)),
    texts(results.map(({ url }) => url ?? null)),
    bigints(results.map(({ resultMs }) => resultMs)),
  ]
}

async function tidy(session: Session, { consumers, mostRows, beforeMinute }: TidyRequest): Promise<void> {
  await session.query(removeOld, [beforeMinute])
  if (consumers.length > 0) await session.query(removeMany, [...consumerValues(consumers), mostRows])
}
