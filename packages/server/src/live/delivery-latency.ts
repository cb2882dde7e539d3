/** How late events reach waiting readers. */
import type { StoredEvent } from '../events/event-log.ts'

/** `2026-01-31T09:30:00.0000000"}` ends every event (events/event-json.ts). */
const endLength = '2026-01-31T09:30:00.0000000"}'.length
const millisecondLength = '2026-01-31T09:30:00.000'.length

/**
 * When the oldest of these events was committed, in milliseconds since 1970, according to its `createdDate`. That may be ahead of the clock
 * after a crash, and comes from another clock if another node stamped the event. `undefined` without events.
 */
export function committedMs(events: readonly Pick<StoredEvent, 'json'>[]): number | undefined {
  const [oldest] = events
  if (oldest === undefined) return undefined
  const { buffer, byteOffset, byteLength } = oldest.json
  const start = byteLength - endLength
  const created = Buffer.from(buffer, byteOffset, byteLength).toString(
    'latin1',
    start,
    start + millisecondLength,
  )
  return Date.parse(`${created}Z`)
}
