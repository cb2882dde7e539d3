/**
 * The checksum of a stored event shows whether a bit has changed on the disk. SQLite's pages have none, so without it a flipped bit would
 * be served as part of the event (P9).
 */
import { crc32 } from 'node:zlib'
import { StorageFailure } from '../../sql/storage-errors.ts'
import type { StoredEvent } from '../event-log.ts'

/** The CRC-32 of an event's bytes, seeded with its position, so that bytes in the wrong place do not pass either. */
export function eventChecksum(position: number, json: Uint8Array): number {
  // A position has up to 40 bits, and a CRC begins with 32.
  return crc32(json, position % 2 ** 32)
}

/** An event as it was read. */
interface CheckedRow {
  readonly position: number
  readonly checksum: number
}

/** Throws the `StorageFailure` `storage_damaged` if the bytes are not those that were stored. */
export function assertUndamaged({ position, checksum }: CheckedRow, json: Uint8Array): void {
  if (checksum !== eventChecksum(position, json)) throw damagedAt(position)
}

/** `position`: the first one at which the store does not hold what was written there. */
export function damagedAt(position: number): StorageFailure {
  return new StorageFailure(
    'storage_damaged',
    new Error(
      `the event at position ${position} is not what was stored; stop the service, keep the folder, ` +
        'restore the last backup, and check the disk',
    ),
  )
}

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
