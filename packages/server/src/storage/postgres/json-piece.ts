import { formatTicks } from '@property-events/protocol'
import type { EventRow } from '../decide-append.ts'
import { eventJsonEnd, eventJsonStart } from '../event-json.ts'
import type { FeedKey } from '../storage.ts'

const createdLength = formatTicks(0n).length

/** What stands between the number and the time, which the database puts in. */
export function jsonPiece(key: FeedKey, { sequenceNumber, json }: EventRow): string {
  const from = eventJsonStart(key).length + String(sequenceNumber).length
  return json.slice(from, -createdLength - eventJsonEnd.length)
}
