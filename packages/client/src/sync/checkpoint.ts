/** The progress of a copy. Plain JSON, meant to be kept with the copy, best in the same transaction. */
import { isObject, isWhole } from '../decode.ts'
import type { JsonObject } from '../decode.ts'
import { CheckpointError } from '../errors.ts'
import type { FeedEvent, FeedName } from '../wire.ts'
import type { RemovalWindow } from './breaker.ts'
import { beginningOf, isTied } from './reading.ts'
import type { Reading } from './reading.ts'

const format = 'property-events-checkpoint/1'

/**
 * Treat it as opaque: keep it and return it. With the service's own reads it has about 200 bytes. With the contract's
 * pages alone it also holds a number for each subject that changed in the last two overlaps or, while the whole feed is
 * walked for the first time, for every subject seen so far (about 60 bytes each).
 */
export interface Checkpoint {
  readonly format: typeof format
  readonly feed: FeedName
  readonly apiEventType: string | null
  /** Null until the first event. */
  readonly tenantId: string | null
  readonly reading: Reading
  /**
   * The copy holds subjects from before this read of the whole feed; at its end, those that the feed does not have are
   * removed.
   */
  readonly sweep: boolean
  /** The next batch is the first of a read of the whole feed. */
  readonly opens: boolean
  /** Subjects whose number must be known: see `KnownNumbers`. */
  readonly applied: Readonly<Record<string, AppliedNumber>>
  readonly pending: Readonly<Record<string, number>>
  readonly removals: RemovalWindow | null
}

/** Where checkpoints are kept. */
export interface CheckpointStore {
  /** The last saved checkpoint; `undefined` or null: none yet. It may come back as parsed JSON. */
  load(): unknown
  /**
   * Resolves when it is kept. Leave it out if `apply` keeps `batch.checkpoint` itself, in the transaction that changes
   * the copy: then the two can never disagree.
   */
  save?(checkpoint: Checkpoint): void | Promise<void>
}

/** Keeps the checkpoint as long as the object lives: for tests, and for copies that live in memory as well. */
export function memoryCheckpoint(
  initial?: Checkpoint,
): CheckpointStore & { current(): Checkpoint | undefined } {
  let text = initial === undefined ? undefined : JSON.stringify(initial)
  const current = () => (text === undefined ? undefined : readCheckpoint(JSON.parse(text)))
  return {
    load: current,
    save: (checkpoint) => {
      text = JSON.stringify(checkpoint)
    },
    current,
  }
}

interface CheckpointSource {
  readonly feed: FeedName
  readonly apiEventType: string | null
}

export function newCheckpoint(source: CheckpointSource): Checkpoint {
  return {
    format,
    ...source,
    tenantId: null,
    reading: { kind: 'start' },
    sweep: false,
    opens: true,
    applied: {},
    pending: {},
    removals: null,
  }
}

/**
 * The numbers to keep while a batch is being applied, together with those already kept. Numbers have a meaning in one
 * feed only. Before the first batch no kept checkpoint names the feed, so the present reading does.
 */
export function withPending(
  kept: Checkpoint,
  now: Pick<Checkpoint, 'reading' | 'sweep' | 'tenantId'>,
  numbers: readonly (readonly [subjectId: string, sequenceNumber: number])[],
): Checkpoint {
  const base = kept.reading.kind === 'start' ? { ...kept, ...now, reading: beginningOf(now.reading) } : kept
  if (!isTied(base.reading)) return base
  return { ...base, pending: { ...base.pending, ...Object.fromEntries(numbers) } }
}

/** Checks a checkpoint that was loaded. Throws `CheckpointError` for any other value. */
export function readCheckpoint(value: unknown): Checkpoint {
  const version = isObject(value) ? value['format'] : undefined
  if (!isObject(value) || typeof version !== 'string') {
    throw new CheckpointError('The checkpoint store returned something that is not a checkpoint.')
  }
  if (version !== format) {
    throw new CheckpointError(
      `The checkpoint has the format ${version}; this version reads ${format}. Use the version that wrote it, or start with an empty copy and no checkpoint.`,
    )
  }
  if (!isCheckpoint(value))
    throw new CheckpointError('The checkpoint is damaged: a member is missing or wrong.')
  return value
}

/** Throws `CheckpointError` when the checkpoint is of another feed or filter: numbers would mean other events. */
export function checkSource(checkpoint: Checkpoint, source: CheckpointSource): void {
  const given = `${source.feed} feed, apiEventType ${source.apiEventType ?? '(all)'}`
  const kept = `${checkpoint.feed} feed, apiEventType ${checkpoint.apiEventType ?? '(all)'}`
  if (given !== kept) {
    throw new CheckpointError(
      `The checkpoint belongs to the ${kept}, this sync reads the ${given}. Use one checkpoint and one copy for each.`,
    )
  }
}

function isCheckpoint(value: JsonObject): value is JsonObject & Checkpoint {
  const { feed, apiEventType, tenantId, reading, sweep, opens, applied, pending, removals } = value
  return (
    (feed === 'property' || feed === 'contact') &&
    (apiEventType === null || typeof apiEventType === 'string') &&
    (tenantId === null || typeof tenantId === 'string') &&
    isReading(reading) &&
    typeof sweep === 'boolean' &&
    typeof opens === 'boolean' &&
    isObject(applied) &&
    Object.values(applied).every((entry) => Array.isArray(entry) && isWhole(entry[0])) &&
    isObject(pending) &&
    Object.values(pending).every(isWhole) &&
    (removals === null || isRemovalWindow(removals))
  )
}

function isRemovalWindow(value: unknown): value is RemovalWindow {
  return (
    Array.isArray(value) &&
    value.every((slice) => Array.isArray(slice) && slice.length === 2 && slice.every(isWhole))
  )
}

function isReading(value: unknown): value is Reading {
  if (!isObject(value)) return false
  const { kind, epoch, revision, after, head, page, pageSize, sawNewest } = value
  if (kind === 'start') return true
  if (kind === 'pages') {
    const isSize = isWhole(pageSize) || (pageSize === undefined && page === 1)
    return isWhole(page) && page > 0 && isSize && typeof sawNewest === 'boolean'
  }
  if (typeof epoch !== 'string' || !isWhole(revision) || !isWhole(after)) return false
  return kind === 'numbers' || (kind === 'snapshot' && isWhole(head))
}

/**
 * Rule 1 of the contract: only the event with the highest number of a subject counts (spec §1). Collects events in any
 * order, with repeats, and gives each subject's latest, unless the copy already has it or a later one.
 */

/** The state of the copy, as far as it must be known: number and time of the subject's event. */
export type AppliedNumber = readonly [sequenceNumber: number, createdMs: number]

export interface LatestPerSubject {
  add(subjectId: string, event: FeedEvent): void
  /** Subjects collected. */
  readonly size: number
  /** UTF-16 units of payload collected. */
  readonly length: number
  /** The collected events, by rising number, one for each subject; afterwards there are none. */
  take(): readonly LatestEvent[]
}

export interface LatestEvent {
  readonly subjectId: string
  readonly event: FeedEvent
}

export interface KnownNumbers {
  /** Numbers that the copy certainly has: an event is news only if its number is greater. */
  readonly applied: ReadonlyMap<string, AppliedNumber>
  /** Numbers that were being applied when the last run ended: an event with a smaller number is superseded. */
  readonly pending: ReadonlyMap<string, number>
}

export function createLatestPerSubject(known: KnownNumbers): LatestPerSubject {
  let gathered = new Map<string, FeedEvent>()
  let length = 0
  return {
    add(subjectId, event) {
      const number = event.sequenceNumber
      if (number <= (known.applied.get(subjectId)?.[0] ?? -1)) return
      if (number < (known.pending.get(subjectId) ?? -1)) return
      const earlier = gathered.get(subjectId)
      if (earlier !== undefined && earlier.sequenceNumber >= number) return
      gathered.set(subjectId, event)
      length += event.payload.length - (earlier?.payload.length ?? 0)
    },
    get size() {
      return gathered.size
    },
    get length() {
      return length
    },
    take() {
      const events = [...gathered].map(([subjectId, event]) => ({ subjectId, event }))
      gathered = new Map()
      length = 0
      return events.sort((one, other) => one.event.sequenceNumber - other.event.sequenceNumber)
    },
  }
}
