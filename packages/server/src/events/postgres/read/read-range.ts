import { freeBytes } from '../../../runtime/memory/free-bytes.ts'
import type { ViewRange } from '../../event-log.ts'
import { bigints } from '../../../sql/postgres/array.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Row, Statement, Value } from '../../../sql/postgres/session.ts'
import { eventAt } from '../../log-statements.ts'
import { feedNumbers } from '../../../sql/database.ts'
import type { TextOrBytes } from '../../../sql/postgres/long-rows.ts'

/** They are joined as bytes. */
const longTexts = 'bytes'

/** A run through one index; a view's entries lead to the events by their own key. */
export const readRangeStatements = {
  all: {
    name: 'read-range-all',
    longTexts,
    text: `SELECT json FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.position BETWEEN $3 AND $4
      ORDER BY e.tenant, e.feed, e.position`,
  },
  view: {
    name: 'read-range-view',
    longTexts,
    text: `SELECT e.json FROM view_entry v
      ${eventAt('v.position', 'json')}
      WHERE v.tenant = $1 AND v.feed = $2 AND v.view = $5 AND v.ordinal BETWEEN $3 AND $4
      ORDER BY v.ordinal`,
  },
  positions: {
    name: 'read-range-positions',
    longTexts,
    text: `SELECT e.json FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.position = ANY ($3::bigint[])
      ORDER BY e.tenant, e.feed, e.position`,
  },
} as const satisfies Record<string, Statement>

/**
 * The same with the length of all of them in front of each, which is known without reading them. None is read if that is too much: a
 * value that is not selected is not decompressed.
 */
export const readWithinStatements = {
  all: {
    name: 'read-range-within-all',
    longTexts,
    text: `SELECT CASE WHEN sum(octet_length(e.json)) OVER () <= $5 THEN e.json END AS json
      FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.position BETWEEN $3 AND $4
      ORDER BY e.tenant, e.feed, e.position`,
  },
  view: {
    name: 'read-range-within-view',
    longTexts,
    text: `SELECT CASE WHEN sum(octet_length(e.json)) OVER () <= $6 THEN e.json END AS json FROM view_entry v
      ${eventAt('v.position', 'json')}
      WHERE v.tenant = $1 AND v.feed = $2 AND v.view = $5 AND v.ordinal BETWEEN $3 AND $4
      ORDER BY v.ordinal`,
  },
  positions: {
    name: 'read-range-within-positions',
    longTexts,
    text: `SELECT CASE WHEN sum(octet_length(e.json)) OVER () <= $4 THEN e.json END AS json
      FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.position = ANY ($3::bigint[])
      ORDER BY e.tenant, e.feed, e.position`,
  },
} as const satisfies Record<string, Statement>

export const measureStatements = {
  all: {
    name: 'measure-range-all',
    text: `SELECT octet_length(e.json) AS bytes FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.position BETWEEN $3 AND $4
      ORDER BY e.tenant, e.feed, e.position`,
  },
  view: {
    name: 'measure-range-view',
    text: `SELECT octet_length(e.json) AS bytes FROM view_entry v
      ${eventAt('v.position', 'json')}
      WHERE v.tenant = $1 AND v.feed = $2 AND v.view = $5 AND v.ordinal BETWEEN $3 AND $4
      ORDER BY v.ordinal`,
  },
  positions: {
    name: 'measure-range-positions',
    text: `SELECT octet_length(e.json) AS bytes FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.position = ANY ($3::bigint[])
      ORDER BY e.tenant, e.feed, e.position`,
  },
} as const satisfies Record<string, Statement>

/** Events in one query: the largest are some 500 kB each. */
const eventsPerPiece = 100

/** Shares its memory with other short bytes, so `freeBytes` leaves it alone. */
const comma = Buffer.from(',')
const commaByte = 0x2c

export async function readRange(database: Reads, range: ViewRange): Promise<readonly Uint8Array[]> {
  const { first, count } = range
  const pieces: Uint8Array[] = []
  const end = first + count
  for (let from = first; from < end; from += eventsPerPiece) {
    const piece = { ...range, first: from, count: Math.min(eventsPerPiece, end - from) }
    const rows = await ask<{ json: TextOrBytes }>(database, readRangeStatements, piece)
    if (rows.length === 0) break
    if (pieces.length > 0) pieces.push(comma)
    pieces.push(joinedBytes(rows.map(({ json }) => json)))
  }
  return pieces
}

/** At most 100 events. `undefined`: they have more than `maxBytes` together. */
export async function readRangeWithin(
  database: Reads,
  range: ViewRange,
  maxBytes: number,
): Promise<readonly Uint8Array[] | undefined> {
  const rows = await ask<{ json: TextOrBytes | null }>(database, readWithinStatements, range, maxBytes)
  const texts: TextOrBytes[] = []
  for (const { json } of rows) {
    if (json === null) return undefined
    texts.push(json)
  }
  return texts.length === 0 ? [] : [joinedBytes(texts)]
}

/**
 * The texts with commas between them, each written straight into its place: a joined text would be in memory beside them until V8's next
 * collection of old objects. A page of 6 MB left 12 MB behind so. Consumes them: the memory of long ones is released.
 */
function joinedBytes(texts: readonly TextOrBytes[]): Uint8Array {
  const [first] = texts
  if (first instanceof Uint8Array && texts.length === 1) return first
  const byteLength = texts.reduce((sum, text) => sum + lengthOf(text) + 1, -1)
  const bytes = Buffer.allocUnsafeSlow(byteLength)
  let at = 0
  for (const text of texts) {
    if (at > 0) at = bytes.writeUInt8(commaByte, at)
    if (typeof text === 'string') at += bytes.write(text, at)
    else {
      bytes.set(text, at)
      at += text.byteLength
      freeBytes(text)
    }
  }
  return bytes
}

function lengthOf(text: TextOrBytes): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength
}

export async function measureRange(database: Reads, range: ViewRange): Promise<readonly number[]> {
  const rows = await ask<{ bytes: number }>(database, measureStatements, range)
  return rows.map(({ bytes }) => bytes)
}

/** `more`: the last value of the statement. */
function ask<R extends Row>(
  database: Reads,
  statements: Readonly<Record<'all' | 'view' | 'positions', Statement>>,
  { key, view, first, count, positions }: ViewRange,
  ...more: readonly Value[]
): Promise<readonly R[]> {
  const feed = [key.tenantId, feedNumbers[key.feed]]
  const last = first + count - 1
  if (positions !== undefined) {
    const listed = bigints([...positions.subarray(first - 1, last)])
    return database.read<R>(statements.positions, [...feed, listed, ...more])
  }
  if (view === 'all') return database.read<R>(statements.all, [...feed, first, last, ...more])
  return database.read<R>(statements.view, [...feed, first, last, view, ...more])
}
