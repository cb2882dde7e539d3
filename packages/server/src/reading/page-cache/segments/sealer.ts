/** Seals segments in the background, one at a time, so that no answer waits for it. */
import { reported, unreported } from '../../../runtime/background-task.ts'
import type { TaskReport } from '../../../runtime/background-task.ts'
import type { PageRange } from '../../list.ts'
import { represent } from '../../representation/representation.ts'
import { freeBytes } from '../../../runtime/memory/free-bytes.ts'
import type { EventStore } from '../../../events/event-log.ts'
import { sumOf } from '../page-bytes.ts'
import { eventsPerSegment, sealSegment } from './segment.ts'
import type { Segment } from './segment.ts'
import { keyOfSegment } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import { longestSegment } from './segment-store.ts'
import type { SegmentStore } from './segment-store.ts'

interface SegmentRequest {
  readonly segment: SegmentId
  /** The ordinals of the whole segment. */
  readonly range: PageRange
}

export interface Sealer {
  /**
   * Asks for a segment. It has no effect if the segment is known or asked for already, was found incomplete a moment ago, or could not be
   * kept.
   */
  want(request: SegmentRequest): void
  /** Forgets the requests that have not begun, and does not keep the segment under way. */
  forgetAll(): void
  /** Like `forgetAll`, for the series with this prefix. */
  forget(prefix: string): void
  /** Resolves when no request is left. For tests and an orderly end. */
  idle(): Promise<void>
}

/** The most requests that may wait. Readers who cause more of them will ask again. */
const maxWaiting = 64
/** A segment at the head of a view fills slowly: it is examined again after this long. */
const incompleteForMs = 2_000
/** A segment that is too long stays too long, unless its payloads are reduced. */
const tooLongForMs = 600_000
/** If segments do not fit, making them is of no use. A disk that was full may have room again after this long. */
const fullForMs = 60_000

export function createSealer(
  events: Pick<EventStore, 'readRange' | 'measureRange'>,
  store: SegmentStore,
  /** Milliseconds; never set back. */
  clock: () => number,
  report: TaskReport = unreported,
): Sealer {
  const waiting = new Map<string, SegmentRequest>()
  const left = leftSegments(clock)
  let working: Promise<void> | undefined
  let generation = 0
  /** The segment that is being sealed, until it is forgotten. */
  let current: SegmentId | undefined
  const fullness = watchFullness(store, clock)

  async function seal({ segment: id, range }: SegmentRequest): Promise<void> {
    fullness.tryAgain()
    const began = generation
    current = id
    const lengths = await events.measureRange(range)
    if (sumOf(lengths) + lengths.length > longestSegment) return left.add(id, tooLongForMs)
    const joined = await readJoined(events, range)
    const segment = await sealSegment(joined)
    if (began === generation && current === id) keep(id, segment)
    freeBytes(joined)
    if (segment !== undefined) freeBytes(segment.deflated)
  }

  function keep(id: SegmentId, segment: Segment | undefined): void {
    if (segment !== undefined) store.put(id, segment)
    else left.add(id, incompleteForMs)
  }

  async function sealAll(): Promise<void> {
    for (const [key, request] of waiting) {
      // A failure only means that this segment is not sealed now.
      if (!fullness.isForNothing()) await reported(report, 'seal_pages', seal(request))
      waiting.delete(key)
    }
    working = undefined
  }

  return {
    want(request) {
      if (fullness.isForNothing()) return
      const { segment } = request
      const key = keyOfSegment(segment)
      if (waiting.size >= maxWaiting || waiting.has(key) || store.has(segment)) return
      if (left.has(key)) return
      waiting.set(key, request)
      working ??= Promise.resolve().then(sealAll)
    },
    forgetAll() {
      generation += 1
      waiting.clear()
      left.clear()
    },
    forget(prefix) {
      for (const [key, { segment }] of waiting) if (segment.series.startsWith(prefix)) waiting.delete(key)
      if (current?.series.startsWith(prefix) === true) current = undefined
    },
    async idle() {
      await working
    },
  }
}

/** Segments that cannot be sealed, and until when they are not examined again. */
function leftSegments(clock: () => number) {
  const untilMs = new Map<string, number>()
  return {
    has: (key: string): boolean => (untilMs.get(key) ?? 0) > clock(),
    add(id: SegmentId, forMs: number): void {
      if (untilMs.size > 1_000) untilMs.clear()
      untilMs.set(keyOfSegment(id), clock() + forMs)
    },
    clear: () => untilMs.clear(),
  }
}

function watchFullness(store: SegmentStore, clock: () => number) {
  let fullUntil: number | undefined
  return {
    /** True if segments would not fit, so that making them is of no use. */
    isForNothing(): boolean {
      if (!store.isFull()) {
        fullUntil = undefined
        return false
      }
      fullUntil ??= clock() + fullForMs
      return clock() < fullUntil
    },
    /** Tries the next segment, to see whether segments fit again. */
    tryAgain(): void {
      fullUntil = undefined
    },
  }
}

/** To be freed after use. */
async function readJoined(events: Pick<EventStore, 'readRange'>, range: PageRange): Promise<Uint8Array> {
  const pieces = await events.readRange(range)
  const joined = Buffer.concat(pieces)
  pieces.forEach(freeBytes)
  return represent(joined, range.form)
}

/** The ordinals of segment `number`. */
export function segmentRange(range: PageRange, number: number): PageRange {
  return { ...range, first: number * eventsPerSegment + 1, count: eventsPerSegment }
}
