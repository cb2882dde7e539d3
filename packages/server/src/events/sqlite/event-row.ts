/** The columns that every statement for single events selects. */
import type { StoredEvent } from '../event-log.ts'
import { assertUndamaged } from './event-checksum.ts'
import type { CheckedRow } from './event-checksum.ts'

export interface EventRow extends CheckedRow {
  readonly sequence: number
  readonly json: Buffer
}

/** The columns of an `EventRow`. */
export const eventColumns =
  'event.place & 0xffffffffff AS position, event.sequence, event.json, event.checksum'

/** The event in the port's form. Throws a `StorageFailure` if its bytes are not those that were stored. */
export function storedEventOf(row: EventRow): StoredEvent {
  assertUndamaged(row, row.json)
  return { sequenceNumber: row.sequence, json: row.json }
}
