/** Adds checksums to the events of a build that made none, a few at a time, while the service runs. */
import type { Connection } from './connection.ts'
import { eventChecksum } from './event-checksum.ts'
import { metaOf } from './meta.ts'

/** Events in one commit: some 5 ms, for which a publication may have to wait. */
const eventsPerStep = 50

/** After a step that took t, the next one waits 9 t, so this uses at most a tenth of the disk's time. */
const restPerStep = 9

/** No CRC-32 is negative, so the event is refused from now on. */
const damaged = -1

interface Row {
  readonly place: bigint
  readonly sequence: bigint
  readonly json: Buffer
  readonly checksum: bigint | null
}

/** Begins where the last process stopped; ends by itself. Returns a function that stops it. */
export function fillChecksums(db: Connection, clock: () => number = () => performance.now()): () => void {
  const step = filler(db)
  let timer: NodeJS.Timeout | undefined
  const next = (waitMs: number): void => {
    timer = setTimeout(() => {
      const startedMs = clock()
      if (step() === 'more') next(restPerStep * (clock() - startedMs))
    }, waitMs).unref()
  }
  if (metaOf(db).find('checksums_filled_through') !== undefined) next(0)
  return () => clearTimeout(timer)
}

/** One commit of the work. */
export function filler(db: Connection): () => 'more' | 'done' {
  const meta = metaOf(db)
  const select = db
    .prepare<[bigint, number], Row>(
      // Without a condition on the checksum: a step that skipped a million newer events would hold up publishing.
      'SELECT place, sequence, json, checksum FROM event WHERE place > ? ORDER BY place LIMIT ?',
    )
    .safeIntegers()
  const update = db.prepare('UPDATE event SET checksum = ? WHERE place = ?')
  const step = db.transaction((): 'more' | 'done' => {
    const through = meta.find('checksums_filled_through')
    if (through === undefined) return 'done'
    const rows = select.all(BigInt(through), eventsPerStep)
    for (const row of rows) if (row.checksum === null) update.run(checksumOf(row), row.place)
    const last = rows.at(-1)
    if (last === undefined) {
      meta.remove('checksums_filled_through')
      return 'done'
    }
    meta.set('checksums_filled_through', String(last.place))
    return 'more'
  })
  return () => {
    try {
      return step.immediate()
    } catch {
      // A full disk, or a file that another process holds: the next start continues.
      return 'done'
    }
  }
}

function checksumOf({ place, sequence, json }: Row): number {
  return isEvent(json, Number(sequence)) ? eventChecksum(Number(place & 0xffffffffffn), json) : damaged
}

/** What can be checked without a checksum: the bytes are JSON, and of the event that the row names. */
function isEvent(json: Buffer, sequenceNumber: number): boolean {
  try {
    const event: unknown = JSON.parse(json.toString('utf8'))
    return (
      typeof event === 'object' &&
      event !== null &&
      'sequenceNumber' in event &&
      event.sequenceNumber === sequenceNumber
    )
  } catch {
    return false
  }
}
