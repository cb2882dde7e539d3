/** Reads every event of a store's file and compares it with its checksum, to be sure of a disk or a backup. */
import { connectForReading, storeFileOf } from '../../sql/sqlite/connection.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { eventChecksum } from '../../events/sqlite/event-checksum.ts'

export interface EventsCheck {
  /** Events that were read. */
  readonly events: number
  /** How many have changed since they were stored. */
  readonly damaged: number
  /** The places of the first of them. */
  readonly examples: readonly EventPlace[]
  /** SQLite's reason for stopping; `undefined`: everything was read. */
  readonly cutOff: string | undefined
}

interface EventPlace {
  readonly tenantId: string
  readonly feed: string
  readonly position: number
}

interface Row {
  readonly feed_no: number
  readonly position: number
  readonly json: Buffer
  readonly checksum: number
}

const maxExamples = 20
const eventsPerReport = 1_000

/**
 * Changes nothing, and may run beside the service. Reads the whole file: seconds per gigabyte. `onProgress` is called now and then with
 * the number of events read. For a missing file, or one that is not a store, it throws what SQLite throws.
 */
export function checkEvents(folder: string, onProgress: (events: number) => void): EventsCheck {
  const db = connectForReading(storeFileOf(folder))
  try {
    return checkAll(db, onProgress)
  } finally {
    db.close()
  }
}

function checkAll(db: Connection, onProgress: (events: number) => void): EventsCheck {
  let [events, damaged] = [0, 0]
  const examples: EventPlace[] = []
  const placeOf = db.prepare<[number], { tenant: string; feed: string }>(
    'SELECT tenant, feed FROM feed WHERE feed_no = ?',
  )
  const select = db.prepare<[], Row>(
    'SELECT feed_no, place & 0xffffffffff AS position, json, checksum FROM event ORDER BY place',
  )
  try {
    for (const { feed_no: feedNo, position, json, checksum } of select.iterate()) {
      events += 1
      if (events % eventsPerReport === 0) onProgress(events)
      if (checksum !== eventChecksum(position, json)) {
        damaged += 1
        const feed = examples.length < maxExamples ? placeOf.get(feedNo) : undefined
        if (feed !== undefined) examples.push({ tenantId: feed.tenant, feed: feed.feed, position })
      }
    }
  } catch (error) {
    const cutOff = error instanceof Error ? error.message : String(error)
    return { events, damaged, examples, cutOff }
  }
  return { events, damaged, examples, cutOff: undefined }
}
