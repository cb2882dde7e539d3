/** What was published, in a database. */
import {
  defineWrite,
  feedNumbers,
  feedOfNumber,
  noteLockWaitMs,
  removal,
  rowsFrom,
  statement,
} from '../../sql/database.ts'
import type { Sql, StoreAccess, Transaction } from '../../sql/database.ts'
import {
  firstKeptMinute,
  hourOfMinute,
  joinWarnings,
  publicationsPerCommit,
  refusalsPerHour,
} from './publication.ts'
import type {
  KeptMinute,
  PublicationFault,
  PublicationQuery,
  PublicationRefusal,
  PublicationStore,
  PublishedMinute,
  PublishedMinuteName,
  WarningPlaces,
  Warnings,
} from './publication.ts'

const name = { tenant: 'uuid', minute: 'integer', feed: 'integer', key_id: 'text' } as const
const nameColumns = 'tenant, minute, feed, key_id'
const summed = {
  requests: 'bigint',
  stored: 'bigint',
  repeated: 'bigint',
  unchanged: 'bigint',
  first_sequence: 'bigint',
  last_sequence: 'bigint',
  refused: 'bigint',
} as const
const summedColumns = Object.keys(summed).join(', ')

/**
 * In order of the key, like everything below, so that two nodes that add to the same rows never wait in a circle. Answers the warnings
 * from before; the rows are this commit's own from here on.
 */
const addMinutes = statement<WarnedRow>(
  'published-add',
  (dialect) => `INSERT INTO published AS kept (${nameColumns}, ${summedColumns}, warnings, warning_places)
    SELECT ${nameColumns}, ${summedColumns}, '{}', '{}' FROM ${rowsFrom('$1', { ...name, ...summed })(dialect)}
    ORDER BY ${nameColumns}
    ON CONFLICT (${nameColumns}) DO UPDATE SET
      requests = kept.requests + excluded.requests, stored = kept.stored + excluded.stored,
      repeated = kept.repeated + excluded.repeated, unchanged = kept.unchanged + excluded.unchanged,
      first_sequence = CASE WHEN kept.first_sequence < excluded.first_sequence THEN kept.first_sequence
        ELSE coalesce(excluded.first_sequence, kept.first_sequence) END,
      last_sequence = CASE WHEN kept.last_sequence > excluded.last_sequence THEN kept.last_sequence
        ELSE coalesce(excluded.last_sequence, kept.last_sequence) END,
      refused = kept.refused + excluded.refused
    RETURNING ${nameColumns}, warnings, warning_places`,
)
/** The rows are there: so they are found by their key, and not by their minute. */
const putWarnings = statement(
  'published-warn',
  (dialect) => `INSERT INTO published (${nameColumns}, ${summedColumns}, warnings, warning_places)
    SELECT ${nameColumns}, 0, 0, 0, 0, NULL, NULL, 0, warnings, warning_places
    FROM ${rowsFrom('$1', { ...name, warnings: 'text', warning_places: 'text' })(dialect)} ORDER BY ${nameColumns}
    ON CONFLICT (${nameColumns}) DO UPDATE
      SET warnings = excluded.warnings, warning_places = excluded.warning_places`,
)
const countRefusals = statement<HourRow>(
  'refusal-count',
  (dialect) => `INSERT INTO refusal_hour AS kept (hour, key_id, refusals)
    SELECT hour, key_id, count(*) FROM ${rowsFrom('$1', { hour: 'integer', key_id: 'text' })(dialect)}
    GROUP BY hour, key_id ORDER BY hour, key_id
    ON CONFLICT (hour, key_id) DO UPDATE SET refusals = kept.refusals + excluded.refusals
    RETURNING hour, key_id, refusals`,
)
const refusalColumns = `${nameColumns}, place, at_ms, request_id, code, faults`
const addRefusals = statement('refusal-add', (dialect) => {
  const details = { at_ms: 'bigint', request_id: 'text', code: 'text', faults: 'text' } as const
  return `INSERT INTO refusal (${refusalColumns})
    SELECT ${refusalColumns} FROM ${rowsFrom('$1', { ...name, place: 'integer', ...details })(dialect)}`
})

const within = 'tenant = $1 AND minute BETWEEN $2 AND $3 AND (CAST($4 AS text) IS NULL OR key_id = $4)'
const listMinutes = statement<MinuteRow>(
  'published-list',
  `SELECT * FROM published WHERE ${within} AND (minute, feed, key_id) < ($5, $6, $7)
    ORDER BY tenant DESC, minute DESC, feed DESC, key_id DESC LIMIT $8`,
)
const listRefusals = statement<RefusalRow>(
  'refusal-list',
  `SELECT * FROM refusal WHERE ${within} ORDER BY at_ms, place`,
)
export const refusedSinceText =
  'SELECT tenant, feed, key_id, at_ms, code FROM refusal WHERE minute >= $1 ORDER BY minute DESC LIMIT $2'
const refusedSince = statement<RefusedRow>('refusal-since', refusedSinceText)

const old = (column: string): string => `${column} < $1 LIMIT ${publicationsPerCommit}`
const removeMinutes = statement('published-age', removal('published', nameColumns, old('minute')))
const removeRefusals = statement('refusal-age', removal('refusal', `${nameColumns}, place`, old('minute')))
const removeHours = statement('refusal-hour-age', removal('refusal_hour', 'hour, key_id', old('hour')))

const addPublications = defineWrite(
  'publications-add',
  async (tx, minutes: readonly PublishedMinute[], refusals: readonly PublicationRefusal[]): Promise<void> => {
    const kept = await keptSingly(tx, refusals)
    const before = await tx.rows(addMinutes(JSON.stringify(minutes.map(summedRow))))
    const warned = warnedRows(minutes, before)
    if (warned.length > 0) await tx.rows(putWarnings(JSON.stringify(warned)))
    if (kept.length > 0) await tx.rows(addRefusals(JSON.stringify(kept)))
  },
  { lockWaitMs: noteLockWaitMs },
)

const agePublications = defineWrite('publications-age', async (tx, nowMs: number): Promise<number> => {
  const first = firstKeptMinute(nowMs)
  let removed = 0
  for (const step of [removeMinutes(first), removeRefusals(first), removeHours(hourOfMinute(first))]) {
    removed += (await tx.rows(step)).length
  }
  return removed
})

export function publicationStore({ read, write }: StoreAccess): PublicationStore {
  return {
    add: (minutes, refusals) => write(addPublications, minutes, refusals),
    age: (nowMs) => write(agePublications, nowMs),
    list: (query) => listKept(read, query),
    async refusedSince(minute, limit) {
      const rows = await read.rows(refusedSince(minute, limit))
      return rows.map((row) => ({ ...publisherOf(row), atMs: row.at_ms, code: row.code }))
    },
  }
}

/** The rows of those that are among the first of their key and hour, on any node. */
async function keptSingly(
  tx: Transaction,
  refusals: readonly PublicationRefusal[],
): Promise<readonly RefusalRow[]> {
  if (refusals.length === 0) return []
  const hours = refusals.map(({ minute, keyId }) => ({ hour: hourOfMinute(minute), key_id: keyId }))
  const counted = await tx.rows(countRefusals(JSON.stringify(hours)))
  return counted.flatMap(({ hour, key_id, refusals: total }) => {
    const own = refusals.filter(({ minute, keyId }) => hourOfMinute(minute) === hour && keyId === key_id)
    return own
      .map((refusal, index) => refusalRow(refusal, total - own.length + index))
      .filter(({ place }) => place < refusalsPerHour)
  })
}

/** What the warnings of some minutes are from now on. */
function warnedRows(minutes: readonly PublishedMinute[], before: readonly WarnedRow[]): readonly WarnedRow[] {
  const kept = new Map(before.map((row) => [textOf(row), warningsOf(row)]))
  return minutes
    .filter(({ warnings }) => Object.keys(warnings).length > 0)
    .map((minute) => {
      const row = nameRow(minute)
      const { warnings, warningPlaces } = joinWarnings(kept.get(textOf(row)) ?? noWarnings, minute)
      return { ...row, warnings: JSON.stringify(warnings), warning_places: JSON.stringify(warningPlaces) }
    })
}

const noWarnings: Warnings = { warnings: {}, warningPlaces: {} }

async function listKept(read: Sql, query: PublicationQuery): Promise<readonly KeptMinute[]> {
  const { tenantId, keyId = null, fromMinute, toMinute, before, limit } = query
  // No feed has so large a number.
  const { minute, feed, key_id } = before ? nameRow(before) : { minute: toMinute, feed: 9, key_id: '' }
  const rows = await read.rows(
    listMinutes(tenantId, fromMinute, toMinute, keyId, minute, feed, key_id, limit),
  )
  const [last, first] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return []
  const refusals = rows.every(({ refused }) => refused === 0)
    ? []
    : await read.rows(listRefusals(tenantId, first.minute, last.minute, keyId))
  return rows.map((row) => {
    const own = refusals.filter((one) => textOf(one) === textOf(row))
    return { ...minuteOf(row), refusals: own.map(refusalOf) }
  })
}

interface PublisherRow {
  readonly tenant: string
  readonly feed: number
  readonly key_id: string
}

interface NameRow extends PublisherRow {
  readonly minute: number
}

interface WarnedRow extends NameRow {
  readonly warnings: string
  readonly warning_places: string
}

interface MinuteRow extends WarnedRow {
  readonly requests: number
  readonly stored: number
  readonly repeated: number
  readonly unchanged: number
  readonly first_sequence: number | null
  readonly last_sequence: number | null
  readonly refused: number
}

interface RefusalRow extends NameRow {
  readonly place: number
  readonly at_ms: number
  readonly request_id: string
  readonly code: string
  readonly faults: string
}

type RefusedRow = PublisherRow & Pick<RefusalRow, 'at_ms' | 'code'>

interface HourRow {
  readonly hour: number
  readonly key_id: string
  readonly refusals: number
}

function textOf({ tenant, minute, feed, key_id }: NameRow): string {
  return `${tenant} ${minute} ${feed} ${key_id}`
}

function nameRow({ key, minute, keyId }: PublishedMinuteName): NameRow {
  return { tenant: key.tenantId, minute, feed: feedNumbers[key.feed], key_id: keyId }
}

function summedRow(minute: PublishedMinute): Omit<MinuteRow, keyof Omit<WarnedRow, keyof NameRow>> {
  const { requests, stored, repeated, unchanged, numbers, refused } = minute
  const [first_sequence = null, last_sequence = null] = numbers ?? []
  return {
    ...nameRow(minute),
    requests,
    stored,
    repeated,
    unchanged,
    first_sequence,
    last_sequence,
    refused,
  }
}

function refusalRow(refusal: PublicationRefusal, place: number): RefusalRow {
  const { atMs, requestId, code, faults } = refusal
  const details = { at_ms: atMs, request_id: requestId, code, faults: JSON.stringify(faults) }
  return { ...nameRow(refusal), place, ...details }
}

function publisherOf(row: PublisherRow): Omit<PublishedMinuteName, 'minute'> {
  const key = { tenantId: row.tenant, feed: feedOfNumber(row.feed, 'published') }
  return { key, keyId: row.key_id }
}

function nameOf(row: NameRow): PublishedMinuteName {
  return { ...publisherOf(row), minute: row.minute }
}

function warningsOf(row: WarnedRow): Warnings {
  const warnings: Readonly<Record<string, number>> = JSON.parse(row.warnings)
  const warningPlaces: WarningPlaces = JSON.parse(row.warning_places)
  return { warnings, warningPlaces }
}

function minuteOf(row: MinuteRow): PublishedMinute {
  const { requests, stored, repeated, unchanged, refused, first_sequence: first, last_sequence: last } = row
  const numbers = first === null || last === null ? undefined : ([first, last] as const)
  return { ...nameOf(row), requests, stored, repeated, unchanged, numbers, ...warningsOf(row), refused }
}

function refusalOf(row: RefusalRow): PublicationRefusal {
  const faults: readonly PublicationFault[] = JSON.parse(row.faults)
  return { ...nameOf(row), atMs: row.at_ms, requestId: row.request_id, code: row.code, faults }
}
