/**
 * A listing: a property from an event by which it becomes published (first, or again after its removal) to its next removal. Found through an
 * index of these events alone, the newest first.
 */
import { standardCode, ticksPerMillisecond } from '@property-events/protocol/plain'
import type { Category } from '@property-events/protocol'
import { feedNumbers, statement, uuidOf } from '../sql/database.ts'
import type { Query, StoredLogId } from '../sql/database.ts'

/** Publications and removals of a tenant's properties between two positions, which are not included. */
export interface TurnsQuery {
  readonly tenantId: string
  readonly after: number
  readonly before: number
  readonly limit: number
}

/** An event by which a property may have become published, or was removed. */
export interface Turn {
  readonly position: number
  readonly sequenceNumber: number
  readonly createdMs: number
  /** Lower-case UUID. */
  readonly subjectId: string
  /** `stays`: a publication of a property that was published already. */
  readonly kind: 'published' | 'stays' | 'removed'
  readonly category: Category | null
  readonly branch: string | null
  readonly isErased: boolean
}

interface TurnRow {
  readonly position: number
  readonly sequence: number
  readonly created_ms: number
  readonly subject: StoredLogId
  readonly code: string
  readonly category: Category | null
  readonly branch: string | null
  readonly state: string
  /** The code of the property's event before it; NULL: there is none. */
  readonly earlier: string | null
}

const [appeared, gone] = [standardCode('property', 'appeared'), standardCode('property', 'gone')]
/** Word for word as in the index. */
const isTurn = `code IN ('${appeared}', '${gone}')`
const columns = `e.sequence, e.created / ${ticksPerMillisecond} AS created_ms, e.subject, e.code, e.category, e.branch, e.state`
/** SQLite's log names tenant and feed by one number, and finds an event by its place. */
const find = statement<TurnRow>('listing-turns', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT e.place - (f.feed_no << 40) AS position, ${columns},
          (SELECT p.code FROM event AS p INDEXED BY event_subject
            WHERE p.feed_no = e.feed_no AND p.subject = e.subject AND p.place < e.place ORDER BY p.place DESC LIMIT 1) AS earlier
        FROM feed_key AS f CROSS JOIN event AS e INDEXED BY event_listing
        WHERE f.tenant = $1 AND f.feed = ${feedNumbers.property} AND e.feed_no = f.feed_no AND ${isTurn}
          AND e.place > (f.feed_no << 40) + $2 AND e.place < (f.feed_no << 40) + $3
        ORDER BY e.place DESC LIMIT $4`
    : `SELECT e.position, ${columns},
          (SELECT p.code FROM event AS p
            WHERE p.tenant = e.tenant AND p.feed = e.feed AND p.subject = e.subject AND p.sequence > 0 AND p.position < e.position
            ORDER BY p.tenant DESC, p.feed DESC, p.subject DESC, p.position DESC LIMIT 1) AS earlier
        FROM event AS e
        WHERE e.tenant = $1 AND e.feed = ${feedNumbers.property} AND e.sequence > 0 AND e.${isTurn}
          AND e.position > $2 AND e.position < $3
        ORDER BY e.tenant DESC, e.position DESC LIMIT $4`,
)

/** The newest first. */
export function turns({ tenantId, after, before, limit }: TurnsQuery): Query<TurnRow> {
  return find(tenantId, after, before, limit)
}

export function turnOf(row: TurnRow): Turn {
  const { position, sequence, created_ms: createdMs, code, category, branch, state, earlier } = row
  const wasThere = earlier !== null && earlier !== gone
  const kind = code === gone ? 'removed' : wasThere ? 'stays' : 'published'
  const subjectId = uuidOf(row.subject)
  return {
    position,
    sequenceNumber: sequence,
    createdMs,
    subjectId,
    kind,
    category,
    branch,
    isErased: state === 'erased',
  }
}
