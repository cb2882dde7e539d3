/** What was published, by whom and how successfully. */
import {
  firstKeptMinute,
  hourOfMinute,
  placesPerWarning,
  publicationsPerCommit,
  refusalsPerHour,
} from '../publication-store.ts'
import type {
  KeptMinute,
  PublicationFault,
  PublicationQuery,
  PublicationRefusal,
  PublicationStore,
  PublishedMinute,
  PublishedMinuteName,
  WarningPlaces,
} from '../publication-store.ts'
import { bigints, integers, smallints, texts, uuids } from './array.ts'
import type { Database, Row, Session, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import { noteLockWaitMs } from '../../sql/database.ts'

/** In order of the key, like everything below, so that two nodes that add to the same rows never wait in a circle. */
const addMinutes: Statement = {
  name: 'published-add',
  text: `INSERT INTO published AS kept (tenant, minute, feed, key_id, requests, stored, repeated, unchanged,
      first_sequence, last_sequence, warnings, warning_places, refused)
    SELECT tenant, minute, feed, key_id, requests, stored, repeated, unchanged, first_sequence, last_sequence, warnings::jsonb,
      warning_places::jsonb, refused
    FROM unnest($1::uuid[], $2::integer[], $3::smallint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
      $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[])
      AS r (tenant, minute, feed, key_id, requests, stored, repeated, unchanged, first_sequence, last_sequence, warnings,
        warning_places, refused)
    ORDER BY tenant, minute, feed, key_id COLLATE "C"
    ON CONFLICT (tenant, minute, feed, key_id) DO UPDATE SET
      requests = kept.requests + excluded.requests, stored = kept.stored + excluded.stored,
      repeated = kept.repeated + excluded.repeated, unchanged = kept.unchanged + excluded.unchanged,
      first_sequence = least(kept.first_sequence, excluded.first_sequence),
      last_sequence = greatest(kept.last_sequence, excluded.last_sequence),
      warnings = CASE WHEN excluded.warnings = '{}' THEN kept.warnings ELSE (
        SELECT jsonb_object_agg(code, number) FROM (
          SELECT code, sum(count::bigint) AS number FROM (
            SELECT * FROM jsonb_each_text(kept.warnings) UNION ALL SELECT * FROM jsonb_each_text(excluded.warnings)
          ) AS both_of_them (code, count) GROUP BY code
        ) AS summed
      ) END,
      warning_places = CASE WHEN excluded.warning_places = '{}' THEN kept.warning_places ELSE (
        SELECT jsonb_object_agg(code, places) FROM (
          SELECT code, jsonb_agg(place ORDER BY place COLLATE "C") AS places FROM (
            SELECT code, place, row_number() OVER (PARTITION BY code ORDER BY place COLLATE "C") AS nth FROM (
              SELECT k.key, p.place FROM jsonb_each(kept.warning_places) AS k, jsonb_array_elements_text(k.value) AS p (place)
              UNION
              SELECT k.key, p.place FROM jsonb_each(excluded.warning_places) AS k, jsonb_array_elements_text(k.value) AS p (place)
            ) AS both_of_them (code, place)
          ) AS ordered WHERE nth <= ${placesPerWarning} GROUP BY code
        ) AS joined
      ) END,
      refused = kept.refused + excluded.refused`,
}
const countRefusals: Statement = {
  name: 'refusal-count',
  text: `INSERT INTO refusal_hour AS kept (hour, key_id, refusals)
    SELECT hour, key_id, count(*) FROM unnest($1::integer[], $2::text[]) AS r (hour, key_id)
    GROUP BY hour, key_id ORDER BY hour, key_id COLLATE "C"
    ON CONFLICT (hour, key_id) DO UPDATE SET refusals = kept.refusals + excluded.refusals
    RETURNING hour, key_id, refusals`,
}
const addRefusals: Statement = {
  name: 'refusal-add',
  text: `INSERT INTO refusal (tenant, minute, feed, key_id, place, at_ms, request_id, code, faults)
    SELECT tenant, minute, feed, key_id, place, at_ms, request_id, code, faults::jsonb
    FROM unnest($1::uuid[], $2::integer[], $3::smallint[], $4::text[], $5::integer[], $6::bigint[], $7::text[], $8::text[], $9::text[])
      AS r (tenant, minute, feed, key_id, place, at_ms, request_id, code, faults)`,
}
const removeOld = (table: string, column: string): Statement => ({
  name: `${table.replace('_', '-')}-age`,
  text: `WITH removed AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE ${column} < $1 ORDER BY ${column} LIMIT ${publicationsPerCommit} FOR UPDATE SKIP LOCKED
      )) RETURNING 1
    )
    SELECT count(*)::integer AS rows FROM removed`,
})
const removals = {
  minutes: removeOld('published', 'minute'),
  refusals: removeOld('refusal', 'minute'),
  hours: removeOld('refusal_hour', 'hour'),
} as const

const within = 'tenant = $1 AND minute BETWEEN $2 AND $3 AND ($4::text IS NULL OR key_id = $4)'
const listMinutes: Statement = {
  name: 'published-list',
  text: `SELECT minute, feed, key_id, requests, stored, repeated, unchanged, first_sequence, last_sequence,
      warnings, warning_places, refused
    FROM published WHERE ${within} AND (minute, feed, key_id) < ($5::integer, $6::smallint, $7::text)
    ORDER BY tenant DESC, minute DESC, feed DESC, key_id DESC LIMIT $8`,
}
const listRefusals: Statement = {
  name: 'refusal-list',
  text: `SELECT minute, feed, key_id, at_ms, request_id, code, faults FROM refusal WHERE ${within} ORDER BY at_ms, place`,
}

export const refusedSince: Statement = {
  name: 'refusal-since',
  text: 'SELECT tenant::text AS tenant, feed, key_id, at_ms, code FROM refusal WHERE minute >= $1 ORDER BY minute DESC LIMIT $2',
}

export function databasePublications(database: Database): PublicationStore {
  return {
    add: (minutes, refusals) =>
      database.transaction(async (session) => {
        const kept = await keptSingly(session, refusals)
        await session.query(addMinutes, minuteValues(minutes))
        if (kept.length > 0) await session.query(addRefusals, refusalValues(kept))
      }, noteLockWaitMs),
    list: (query) => listKept(database, query),
    async refusedSince(minute, limit) {
      const rows = await database.read<RefusedRow>(refusedSince, [minute, limit])
      return rows.map(({ tenant: tenantId, feed, key_id: keyId, at_ms, code }) => {
        const key = { tenantId, feed: feed === feedNumbers.property ? 'property' : 'contact' } as const
        return { key, keyId, atMs: Number(at_ms), code }
      })
    },
    age: (nowMs) =>
      database.write(async (session) => {
        const first = firstKeptMinute(nowMs)
        let removed = 0
        for (const [statement, before] of [
          [removals.minutes, first],
          [removals.refusals, first],
          [removals.hours, hourOfMinute(first)],
        ] as const) {
          const [row] = await session.query<RemovedRow>(statement, [before])
          removed += row?.rows ?? 0
        }
        return removed
      }),
  }
}

interface RemovedRow extends Row {
  readonly rows: number
}

interface Placed {
  readonly refusal: PublicationRefusal
  readonly place: number
}

interface HourRow extends Row {
  readonly hour: number
  readonly key_id: string
  readonly refusals: string
}

/** Those that are among the first of their key and hour, on any node. */
async function keptSingly(
  session: Session,
  refusals: readonly PublicationRefusal[],
): Promise<readonly Placed[]> {
  if (refusals.length === 0) return []
  const values = [
    integers(refusals.map(({ minute }) => hourOfMinute(minute))),
    texts(refusals.map(({ keyId }) => keyId)),
  ]
  const counted = await session.query<HourRow>(countRefusals, values)
  return counted.flatMap(({ hour, key_id, refusals: total }) => {
    const own = refusals.filter(({ minute, keyId }) => hourOfMinute(minute) === hour && keyId === key_id)
    const first = Number(total) - own.length
    return own
      .map((refusal, index) => ({ refusal, place: first + index }))
      .filter(({ place }) => place < refusalsPerHour)
  })
}

function nameValues(names: readonly PublishedMinuteName[]) {
  return [
    uuids(names.map(({ key }) => key.tenantId)),
    integers(names.map(({ minute }) => minute)),
    smallints(names.map(({ key }) => feedNumbers[key.feed])),
    texts(names.map(({ keyId }) => keyId)),
  ]
}

function minuteValues(minutes: readonly PublishedMinute[]) {
  return [
    ...nameValues(minutes),
    bigints(minutes.map(({ requests }) => requests)),
    bigints(minutes.map(({ stored }) => stored)),
    bigints(minutes.map(({ repeated }) => repeated)),
    bigints(minutes.map(({ unchanged }) => unchanged)),
    bigints(minutes.map(({ numbers }) => numbers?.[0] ?? null)),
    bigints(minutes.map(({ numbers }) => numbers?.[1] ?? null)),
    texts(minutes.map(({ warnings }) => JSON.stringify(warnings))),
    texts(minutes.map(({ warningPlaces }) => JSON.stringify(warningPlaces))),
    bigints(minutes.map(({ refused }) => refused)),
  ]
}

function refusalValues(placed: readonly Placed[]) {
  const refusals = placed.map(({ refusal }) => refusal)
  return [
    ...nameValues(refusals),
    integers(placed.map(({ place }) => place)),
    bigints(refusals.map(({ atMs }) => atMs)),
    texts(refusals.map(({ requestId }) => requestId)),
    texts(refusals.map(({ code }) => code)),
    texts(refusals.map(({ faults }) => JSON.stringify(faults))),
  ]
}

interface MinuteRow extends Row {
  readonly minute: number
  readonly feed: number
  readonly key_id: string
  readonly requests: string
  readonly stored: string
  readonly repeated: string
  readonly unchanged: string
  readonly first_sequence: string | null
  readonly last_sequence: string | null
  readonly warnings: Readonly<Record<string, number>>
  readonly warning_places: WarningPlaces
  readonly refused: string
}

interface RefusalRow extends Row {
  readonly minute: number
  readonly feed: number
  readonly key_id: string
  readonly at_ms: string
  readonly request_id: string
  readonly code: string
  readonly faults: readonly PublicationFault[]
}

type RefusedRow = Pick<RefusalRow, 'feed' | 'key_id' | 'at_ms' | 'code'> & { readonly tenant: string } & Row

async function listKept(database: Database, query: PublicationQuery): Promise<readonly KeptMinute[]> {
  const { tenantId, keyId = null, fromMinute, toMinute, before, limit } = query
  // No feed has so large a number.
  const from = before ?? { minute: toMinute, key: undefined, keyId: '' }
  const feed = from.key === undefined ? 32_767 : feedNumbers[from.key.feed]
  const asked = [tenantId, fromMinute, toMinute, keyId, from.minute, feed, from.keyId, limit]
  const rows = await database.read<MinuteRow>(listMinutes, asked)
  const [last, first] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return []
  const refusals = rows.every(({ refused }) => refused === '0')
    ? []
    : await database.read<RefusalRow>(listRefusals, [tenantId, first.minute, last.minute, keyId])
  return rows.map((row) => {
    const minute = minuteOf(tenantId, row)
    const own = refusals.filter(
      (one) => one.minute === row.minute && one.feed === row.feed && one.key_id === row.key_id,
    )
    return { ...minute, refusals: own.map((one) => refusalOf(minute, one)) }
  })
}

function minuteOf(tenantId: string, row: MinuteRow): PublishedMinute {
  const { minute, feed, key_id, first_sequence: first, last_sequence: last, warnings } = row
  return {
    key: { tenantId, feed: feed === feedNumbers.property ? 'property' : 'contact' },
    keyId: key_id,
    minute,
    requests: Number(row.requests),
    stored: Number(row.stored),
    repeated: Number(row.repeated),
    unchanged: Number(row.unchanged),
    numbers: first === null || last === null ? undefined : [Number(first), Number(last)],
    warnings,
    warningPlaces: row.warning_places,
    refused: Number(row.refused),
  }
}

function refusalOf({ key, keyId, minute }: PublishedMinuteName, row: RefusalRow): PublicationRefusal {
  const { request_id: requestId, code, faults } = row
  return { key, keyId, minute, atMs: Number(row.at_ms), requestId, code, faults }
}
