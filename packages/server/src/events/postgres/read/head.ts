/** The head of a feed, from the columns of its counter. */
import type { Head } from '../../event-log.ts'

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
