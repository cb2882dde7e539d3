/** A feed's counter row as the port's `Head`. */
import type { Head } from '../event-log.ts'

/** The columns of `headOf`, of a table named `f`. */
export const headColumns =
  'f.epoch, f.number_offset, f.revision, f.thinned, f.last_position, f.last_sequence, f.last_created'

export interface HeadRow {
  readonly epoch: string
  readonly number_offset: string
  readonly revision: string
  readonly thinned: string
  readonly last_position: string
  readonly last_sequence: string | null
  readonly last_created: string | null
}

export function headOf(row: HeadRow): Head {
  return {
    position: Number(row.last_position),
    sequenceNumber: Number(row.last_sequence ?? row.number_offset),
    created: row.last_created === null ? undefined : BigInt(row.last_created),
    epoch: row.epoch,
    revision: Number(row.revision),
    thinned: Number(row.thinned),
  }
}
