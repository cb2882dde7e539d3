/**
 * The event at a position of the feed ($1, $2), for each row before it, by its key alone. A plain join leaves PostgreSQL a choice, and
 * without statistics on the table, as after a first fill, it takes a feed for one row: then it goes through all events of the feed for
 * each row (a page of 100 among 20,000 read 50,000 pages of the table).
 */
export function eventAt(position: string, columns: string): string {
  return `CROSS JOIN LATERAL (SELECT ${columns} FROM event
        WHERE tenant = $1 AND feed = $2 AND position = ${position} LIMIT 1) AS e`
}
