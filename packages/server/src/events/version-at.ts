/** Which version of a property a number is about, and whether the property was withdrawn since an earlier number. */
import { standardCode, ticksPerMillisecond } from '@property-events/protocol/plain'
import { feedNumbers, rowsFrom, statement } from '../sql/database.ts'
import type { Query } from '../sql/database.ts'

/** A property, and a sequence number. */
interface VersionQuery {
  readonly tenantId: string
  /** Lower-case UUID. */
  readonly subjectId: string
  readonly sequenceNumber: number
  /** An earlier number; events before its version are not looked at. */
  readonly since: number
}

/** The property's last event up to the number; all but `at` and `erased` are NULL if there is none. */
export interface VersionRow {
  /** Which query it answers, from 0. A tenant without a feed has no row in SQLite. */
  readonly at: number
  /** An erasure of the property closes, or has closed, it with a later event. */
  readonly erased: boolean | 0 | 1
  readonly state: string | null
  readonly sequence: number | null
  readonly created_ms: number | null
  readonly latest: boolean | 0 | 1 | null
  /** The number of the last event up to `since`. */
  readonly earlier: number | null
  /** The number of the last removal from that event on. */
  readonly withdrawn: number | null
}

/** Whether the property was published or withdrawn between an earlier version of it (its number; NULL: before its first) and this. */
export function isOtherListing(
  { sequence, withdrawn }: Pick<VersionRow, 'sequence' | 'withdrawn'>,
  earlier: number | null,
): boolean {
  if (withdrawn === null) return earlier === null && sequence !== null
  return withdrawn === earlier ? sequence !== earlier : withdrawn > (earlier ?? 0)
}

const given = rowsFrom('$1', {
  at: 'integer',
  of_tenant: 'uuid',
  of_subject: 'logId',
  number: 'bigint',
  since_number: 'bigint',
})
const gone = `'${standardCode('property', 'gone')}'`
const columns = `v.state, v.sequence, v.created / ${ticksPerMillisecond} AS created_ms`
const ofSubject = `FROM event AS e
          WHERE e.tenant = of_tenant AND e.feed = ${feedNumbers.property} AND e.subject = of_subject AND e.sequence > 0`
const newestFirst = 'ORDER BY e.tenant DESC, e.feed DESC, e.subject DESC, e.position DESC LIMIT 1'
/** SQLite's log names tenant and feed by one number, and finds an event by its place. */
const find = statement<VersionRow>('version-at', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT at, ${columns}, v.place = (f.feed_no << 40) | s.position AS latest,
          EXISTS (SELECT 1 FROM erasure AS e
            WHERE e.tenant = f.tenant AND e.feed = f.feed AND e.subject = of_subject AND e.closing_sequence > number) AS erased,
          b.sequence AS earlier,
          (SELECT e.sequence FROM event AS e INDEXED BY event_subject
            WHERE e.feed_no = f.feed_no AND e.subject = of_subject AND e.place >= coalesce(b.place, f.feed_no << 40)
              AND e.sequence <= number AND e.code = ${gone}
            ORDER BY e.place DESC LIMIT 1) AS withdrawn
        FROM ${given(dialect)}
        CROSS JOIN feed_key AS f ON f.tenant = of_tenant AND f.feed = ${feedNumbers.property}
        LEFT JOIN event AS v ON v.place = (SELECT e.place FROM event AS e INDEXED BY event_subject
          WHERE e.feed_no = f.feed_no AND e.subject = of_subject AND e.sequence <= number ORDER BY e.place DESC LIMIT 1)
        LEFT JOIN event AS b ON b.place = (SELECT e.place FROM event AS e INDEXED BY event_subject
          WHERE e.feed_no = f.feed_no AND e.subject = of_subject AND e.sequence <= since_number ORDER BY e.place DESC LIMIT 1)
        LEFT JOIN subject AS s ON s.feed_no = f.feed_no AND s.subject = of_subject`
    : `SELECT at, ${columns}, v.position = s.position AS latest,
          EXISTS (SELECT FROM erasure AS e WHERE e.tenant = of_tenant AND e.feed = ${feedNumbers.property}
            AND e.subject = of_subject AND e.closing_sequence > number) AS erased,
          b.sequence AS earlier,
          (SELECT e.sequence ${ofSubject} AND e.position >= coalesce(b.position, 1) AND e.sequence <= number AND e.code = ${gone}
            ${newestFirst}) AS withdrawn
        FROM ${given(dialect)}
        LEFT JOIN LATERAL (SELECT e.state, e.sequence, e.created, e.position ${ofSubject} AND e.sequence <= number
          ${newestFirst}) AS v ON true
        LEFT JOIN LATERAL (SELECT e.sequence, e.position ${ofSubject} AND e.sequence <= since_number ${newestFirst}) AS b ON true
        LEFT JOIN subject AS s ON s.tenant = of_tenant AND s.feed = ${feedNumbers.property} AND s.subject = of_subject`,
)

export function versionsAt(queries: readonly VersionQuery[]): Query<VersionRow> {
  return find(
    JSON.stringify(
      queries.map(({ tenantId, subjectId, sequenceNumber, since }, at) => {
        const [number, since_number] = [sequenceNumber, since]
        return { at, of_tenant: tenantId, of_subject: subjectId, number, since_number }
      }),
    ),
  )
}
