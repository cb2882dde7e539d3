import type { ViewRange } from '../../event-log.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { assertUndamaged } from '../event-checksum.ts'
import { feedNumbers } from '../feed-row.ts'

/**
 * A piece is one value, joined inside SQLite: 5,500 pages of 100 events of 4.6 kB a second, against 3,400 with a
 * buffer per row. 100 events at most: the largest are some 500 kB, and SQLite's values end at 1 GB.
 */
const eventsPerPiece = 100

/** The joined events, and for each its position, its bytes and its checksum, as JSON arrays of numbers. */
const joined = `SELECT CAST(group_concat(CAST(json AS TEXT), ',') AS BLOB) AS json,
    json_group_array(position) AS positions, json_group_array(bytes) AS lengths, json_group_array(checksum) AS checksums`

const columns =
  'event.place & 0xffffffffff AS position, event.json, length(event.json) AS bytes, event.checksum'

/** Each piece is a run through one tree; a view's entries lead into the event tree by its own key. */
const readRangeStatements = {
  all: `${joined} FROM (
    SELECT ${columns} FROM event WHERE place BETWEEN (@feed << 40) | @first AND (@feed << 40) | @last ORDER BY place)`,
  view: `${joined} FROM (
    SELECT ${columns} FROM view_entry CROSS JOIN event ON event.place = (view_entry.feed_no << 40) | view_entry.position
    WHERE view_entry.feed_no = CAST(@feed AS INTEGER) AND view = CAST(@view AS TEXT) AND ordinal BETWEEN @first AND @last ORDER BY ordinal)`,
  positions: `${joined} FROM (
    SELECT ${columns} FROM json_each(@positions) AS wanted CROSS JOIN event ON event.place = (@feed << 40) | wanted.value ORDER BY wanted.key)`,
} as const

/** The length of a value is stored before it, so no event is read for it. */
const measureStatements = {
  all: `SELECT length(json) AS bytes FROM event WHERE place BETWEEN (@feed << 40) | @first AND (@feed << 40) | @last ORDER BY place`,
  view: `SELECT length(event.json) AS bytes
    FROM view_entry CROSS JOIN event ON event.place = (view_entry.feed_no << 40) | view_entry.position
    WHERE view_entry.feed_no = CAST(@feed AS INTEGER) AND view = CAST(@view AS TEXT) AND ordinal BETWEEN @first AND @last ORDER BY ordinal`,
  positions: `SELECT length(event.json) AS bytes
    FROM json_each(@positions) AS wanted CROSS JOIN event ON event.place = (@feed << 40) | wanted.value ORDER BY wanted.key`,
} as const

interface JoinedRow {
  readonly json: Buffer | null
  readonly positions: string
  readonly lengths: string
  readonly checksums: string
}

interface Piece {
  readonly feed: number
  readonly first: number
  readonly last: number
}

/** Identifies events in a list of positions, by its ordinals. */
interface ListedPiece {
  readonly feed: number
  /** A JSON array. */
  readonly positions: string
}

function listedPiece(feed: number, positions: Float64Array, first: number, last: number): ListedPiece {
  return { feed, positions: `[${positions.subarray(first - 1, last).join()}]` }
}

/** Shares its memory with other short bytes, so `freeBytes` leaves it alone. */
const comma = Buffer.from(',')

export function rangeReader(db: Connection): (range: ViewRange) => readonly Uint8Array[] {
  const feedNoOf = feedNumbers(db)
  const readAll = db.prepare<Piece, JoinedRow>(readRangeStatements.all)
  const readView = db.prepare<Piece & { view: string }, JoinedRow>(readRangeStatements.view)
  const readPositions = db.prepare<ListedPiece, JoinedRow>(readRangeStatements.positions)
  const read = (feed: number, { view, positions }: ViewRange, first: number, last: number) => {
    if (positions !== undefined) return readPositions.get(listedPiece(feed, positions, first, last))
    return view === 'all' ? readAll.get({ feed, first, last }) : readView.get({ feed, first, last, view })
  }

  return (range) => {
    const feedNo = feedNoOf(range.key)
    if (feedNo === undefined) return []
    const pieces: Uint8Array[] = []
    const end = range.first + range.count
    for (let first = range.first; first < end; first += eventsPerPiece) {
      const last = Math.min(end, first + eventsPerPiece) - 1
      const row = read(feedNo, range, first, last)
      if (row === undefined || row.json === null) break
      assertJoinedUndamaged(row, row.json)
      if (pieces.length > 0) pieces.push(comma)
      pieces.push(row.json)
    }
    return pieces
  }
}

/** The length of each event of a range. */
export function rangeMeasurer(db: Connection): (range: ViewRange) => readonly number[] {
  const feedNoOf = feedNumbers(db)
  const measureAll = db.prepare<Piece, number>(measureStatements.all).pluck()
  const measureView = db.prepare<Piece & { view: string }, number>(measureStatements.view).pluck()
  const measurePositions = db.prepare<ListedPiece, number>(measureStatements.positions).pluck()

  return ({ key, view, first, count, positions }) => {
    const feed = feedNoOf(key)
    if (feed === undefined) return []
    if (positions !== undefined)
      return measurePositions.all(listedPiece(feed, positions, first, first + count - 1))
    const bounds = { feed, first, last: first + count - 1 }
    return view === 'all' ? measureAll.all(bounds) : measureView.all({ ...bounds, view })
  }
}

/**
 * Measured with pages of 100 events of 4 kB: 3,100 a second unchecked, 2,300 checked, half of the difference being the CRC itself. A page
 * is read from here once and then kept ready-made (decision 0006).
 */
function assertJoinedUndamaged({ positions, lengths, checksums }: JoinedRow, json: Buffer): void {
  const lengthOf = numbersOf(lengths)
  const checksumOf = numbersOf(checksums)
  let start = 0
  for (const [index, position] of numbersOf(positions).entries()) {
    const end = start + (lengthOf[index] ?? 0)
    assertUndamaged({ position: position ?? 0, checksum: checksumOf[index] ?? -1 }, json.subarray(start, end))
    start = end + comma.length
  }
}

function numbersOf(text: string): readonly (number | null)[] {
  const numbers: (number | null)[] = JSON.parse(text)
  return numbers
}
