/** The newest events of a view, kept for the readers that wait for them. */
import type { StoredEvent } from '../events/event-log.ts'
import { lengthOf } from '../reading/run.ts'

/** Events in ascending order, with nothing left out between `after` and `through`. */
export interface BroadcastBuffer {
  /** Takes the events up to `through`, which follow those it has. */
  add(events: readonly StoredEvent[], through: number): void
  /**
   * The events after a number, of at most `mostBytes` together but at least one, and the number up to which nothing is missing.
   * `undefined`: the buffer does not reach back that far, or has not reached that number yet. A caller that asks for the same as the one
   * before gets the same object, so that anything made from it can be made once for all of them.
   */
  after(number: number, mostBytes: number): BufferedRead | undefined
  /** Everything up to this number has been read. */
  readonly through: number
  readonly bytes: number
  /** Drops its oldest event; returns its size in bytes. */
  dropOldest(): number
}

export interface BufferedRead {
  readonly events: readonly StoredEvent[]
  readonly through: number
}

interface LastReading {
  readonly number: number
  readonly mostBytes: number
  readonly reading: BufferedRead
}

/** Long-polls and streams ask for two lengths, at the head and a little before it. */
const mostReadings = 4

/** An empty buffer for a view that has been read up to `start`. */
export function broadcastBuffer(start: number): BroadcastBuffer {
  let events: StoredEvent[] = []
  /** Events before this index have been dropped. */
  let oldest = 0
  let from = start
  let through = start
  let bytes = 0
  /** What was read lately, until the buffer changes. */
  let readings: LastReading[] = []

  return {
    get through() {
      return through
    },
    get bytes() {
      return bytes
    },
    add(more, upTo) {
      events.push(...more)
      bytes += lengthOf(more)
      through = upTo
      readings = []
    },
    after(number, mostBytes) {
      if (number < from || number > through) return undefined
      const known = readings.find((one) => one.number === number && one.mostBytes === mostBytes)
      if (known !== undefined) return known.reading
      const first = firstAfter(events, number, oldest)
      let end = first
      let bytes = 0
      while (end < events.length) {
        const length = events[end]?.json.byteLength ?? 0
        if (end > first && bytes + length > mostBytes) break
        bytes += length
        end += 1
      }
      const found = events.slice(first, end)
      const isAll = end === events.length
      const reading = { events: found, through: isAll ? through : (found.at(-1)?.sequenceNumber ?? number) }
      if (readings.length === mostReadings) readings.shift()
      readings.push({ number, mostBytes, reading })
      return reading
    },
    dropOldest() {
      const dropped = events[oldest]
      if (dropped === undefined) return 0
      readings = []
      oldest += 1
      // Drops many at once: moving the rest of the list for each would take longer than reading it again.
      if (oldest * 2 > events.length) {
        events = events.slice(oldest)
        oldest = 0
      }
      from = dropped.sequenceNumber
      bytes -= dropped.json.byteLength
      return dropped.json.byteLength
    },
  }
}

/** The index of the first event with a greater number. */
function firstAfter(events: readonly StoredEvent[], number: number, from: number): number {
  let [low, high] = [from, events.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((events[middle]?.sequenceNumber ?? 0) > number) high = middle
    else low = middle + 1
  }
  return low
}
