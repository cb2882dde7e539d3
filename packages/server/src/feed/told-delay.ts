/** How late events are told. */
import type { StoredEvent } from '../storage/storage.ts'

/** `2026-01-31T09:30:00.0000000"}` ends every event (storage/event-json.ts). */
const endLength = '2026-01-31T09:30:00.0000000"}'.length
const millisecondLength = '2026-01-31T09:30:00.000'.length

/**
 * Seconds since the oldest of these was committed, by its `createdDate`, which may be ahead of the clock after a crash, and is of another
 * clock where another node has stamped it. 0 without events.
 */
export function secondsSince(
  events: readonly Pick<StoredEvent, 'json'>[],
  nowMs: number = Date.now(),
): number {
  const [oldest] = events
  if (oldest === undefined) return 0
  const { buffer, byteOffset, byteLength } = oldest.json
  const start = byteLength - endLength
  const created = Buffer.from(buffer, byteOffset, byteLength).toString(
    'latin1',
    start,
    start + millisecondLength,
  )
  return Math.max(0, nowMs - Date.parse(`${created}Z`)) / 1_000
}
