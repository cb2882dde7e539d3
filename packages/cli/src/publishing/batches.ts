import { placeNumber } from './read-entry.ts'
import type { Entry, EntryReading, RefusedEntry } from './read-entry.ts'

/** A request takes 1,000 events and 16 MiB: half of both leaves room and keeps an answer quick. */
const maxBatchEvents = 500
const maxBatchBytes = 8 * 2 ** 20

export interface Batch {
  readonly entries: readonly Entry[]
  /** Events on the way that were refused without asking the service. */
  readonly refused: readonly RefusedEntry[]
  /** Place of its last event, refused ones included: all up to it are in this batch or in one before. */
  readonly lastPlace: number
  /** How far into the file it reaches, in bytes. */
  readonly endOffset: number
}

/**
 * Gathers events into requests, in the order of the file. An id that comes a second time begins a new batch: whether
 * it is a repeat or a conflict is then decided as if it had come from another file, and not by where batches end.
 */
export async function* gatherBatches(readings: AsyncIterable<EntryReading>): AsyncGenerator<Batch> {
  let entries: Entry[] = []
  let refused: RefusedEntry[] = []
  let ids = new Set<string>()
  let bytes = 0
  let endOffset = 0
  let lastPlace = 0
  const take = (): Batch => {
    const batch = { entries, refused, lastPlace, endOffset }
    entries = []
    refused = []
    ids = new Set()
    bytes = 0
    return batch
  }
  for await (const reading of readings) {
    if (reading.kind === 'refused') {
      refused.push(reading.refused)
      lastPlace = placeNumber(reading.refused)
      if (refused.length >= maxBatchEvents) yield take()
      continue
    }
    const { entry } = reading
    const full = entries.length >= maxBatchEvents || bytes + entry.bytes + 1 > maxBatchBytes
    if (entries.length > 0 && (full || ids.has(entry.id))) yield take()
    entries.push(entry)
    lastPlace = placeNumber(entry)
    ids.add(entry.id)
    bytes += entry.bytes + 1
    endOffset = entry.endOffset
  }
  if (entries.length > 0 || refused.length > 0) yield take()
}
