import { partsOfView } from '../../branches/branch-view.ts'
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

/** Each piece is a run through one tree; entries of an index or a view lead into the event tree by its own key. */
const sources = {
  all: 'FROM event WHERE place BETWEEN (@feed << 40) | @first AND (@feed << 40) | @last ORDER BY place',
  category: `FROM event INDEXED BY event_category
    WHERE feed_no = CAST(@feed AS INTEGER) AND category = CAST(@view AS TEXT) AND ordinal BETWEEN @first AND @last ORDER BY ordinal`,
  ofSet: `FROM view_entry CROSS JOIN event ON event.place = (view_entry.feed_no << 40) | view_entry.position
    WHERE view_entry.feed_no = CAST(@feed AS INTEGER) AND view = CAST(@view AS TEXT)
      AND view_entry.ordinal BETWEEN @first AND @last ORDER BY view_entry.ordinal`,
  positions: `FROM json_each(@positions) AS wanted CROSS JOIN event ON event.place = (@feed << 40) | wanted.value ORDER BY wanted.key`,
} as const

interface JoinedRow {
  readonly json: Buffer | null
  readonly positions: string
  readonly lengths: string
  readonly checksums: string
}

/** Runs a statement made for each source, on the part of a range from its first ordinal to its last. */
function onRange<Row>(
  prepare: (source: string) => { all(values: object): readonly Row[] },
): (feed: number, range: ViewRange, first: number, last: number) => readonly Row[] {
  const [all, category, ofSet] = [prepare(sources.all), prepare(sources.category), prepare(sources.ofSet)]
  const listed = prepare(sources.positions)
  return (feed, { view, positions }, first, last) => {
    if (positions !== undefined) {
      return listed.all({ feed, positions: `[${positions.subarray(first - 1, last).join()}]` })
    }
    if (view === 'all') return all.all({ feed, first, last })
    return (partsOfView(view).set === undefined ? category : ofSet).all({ feed, view, first, last })
  }
}

/** Shares its memory with other short bytes, so `freeBytes` leaves it alone. */
const comma = Buffer.from(',')

export function rangeReader(db: Connection): (range: ViewRange) => readonly Uint8Array[] {
  const feedNoOf = feedNumbers(db)
  const read = onRange((source) =>
    db.prepare<[object], JoinedRow>(`${joined} FROM (SELECT ${columns} ${source})`),
  )

  return (range) => {
    const feedNo = feedNoOf(range.key)
    if (feedNo === undefined) return []
    const pieces: Uint8Array[] = []
    const end = range.first + range.count
    for (let first = range.first; first < end; first += eventsPerPiece) {
      const last = Math.min(end, first + eventsPerPiece) - 1
      const [row] = read(feedNo, range, first, last)
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
  // The length of a value is stored before it, so no event is read for it.
  const measure = onRange((source) =>
    db.prepare<[object], { bytes: number }>(`SELECT length(event.json) AS bytes ${source}`),
  )
  return (range) => {
    const feed = feedNoOf(range.key)
    if (feed === undefined) return []
    return measure(feed, range, range.first, range.first + range.count - 1).map(({ bytes }) => bytes)
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
