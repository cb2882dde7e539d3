import type { ViewRange } from '../storage.ts'
import type { Database, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

/** A run through one index; a view's entries lead to the events by their own key. */
export const readRangeStatements = {
  all: {
    name: 'read-range-all',
    text: `SELECT json FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.position BETWEEN $3 AND $4
      ORDER BY e.tenant, e.feed, e.position`,
  },
  view: {
    name: 'read-range-view',
    text: `SELECT e.json FROM view_entry v
      JOIN event e ON e.tenant = v.tenant AND e.feed = v.feed AND e.position = v.position
      WHERE v.tenant = $1 AND v.feed = $2 AND v.view = $5 AND v.ordinal BETWEEN $3 AND $4
      ORDER BY v.ordinal`,
  },
} as const satisfies Record<string, Statement>

/** Events in one question: the largest are some 500 kB each. */
const eventsPerPiece = 100

/** Shares its memory with other short bytes, so `freeBytes` leaves it alone. */
const comma = Buffer.from(',')

export async function readRange(database: Database, range: ViewRange): Promise<readonly Uint8Array[]> {
  const { key, view, first, count } = range
  const pieces: Uint8Array[] = []
  const end = first + count
  for (let from = first; from < end; from += eventsPerPiece) {
    const last = Math.min(end, from + eventsPerPiece) - 1
    const bounds = [key.tenantId, feedNumbers[key.feed], from, last]
    const rows =
      view === 'all'
        ? await database.read<{ json: string }>(readRangeStatements.all, bounds)
        : await database.read<{ json: string }>(readRangeStatements.view, [...bounds, view])
    if (rows.length === 0) break
    if (pieces.length > 0) pieces.push(comma)
    pieces.push(Buffer.from(rows.map(({ json }) => json).join(',')))
  }
  return pieces
}
