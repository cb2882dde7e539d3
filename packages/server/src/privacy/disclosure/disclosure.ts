/** The port's part for what was sent to whom: for each key, which events of a feed its answers contained (D28). */
import type { FeedName } from '@property-events/protocol'
import type { FeedView } from '../../events/branches/branch-view.ts'
import type { StoredEvent, ViewRange } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { NumberRange } from '../../runtime/number-ranges.ts'

export type { NumberRange }

/** What the numbers of a range are: ordinals of a view (positions, for `all`), or sequence numbers, for reads that go by those. */
export type DisclosureView = FeedView | 'numbers'

declare module '../../http/exchange.ts' {
  interface AnswerRecords {
    /** The events in the answer, to be recorded as sent to the key; `undefined` if none are, or they are recorded as they are sent. */
    readonly sent?: Disclosure | undefined
  }
}

/** Ranges are stored in blocks of this many numbers, so that a row stays small however much a key has read. */
export const numbersPerBlock = 16_384

/** What a key was sent within one hour, from one block of numbers. */
export interface DisclosurePiece {
  readonly key: FeedKey
  readonly keyId: string
  readonly view: DisclosureView
  /** Hours since 1970, UTC. */
  readonly hour: number
  /** The block of the number n is n / `numbersPerBlock`, rounded down. */
  readonly block: number
  readonly ranges: readonly NumberRange[]
}

/**
 * A thread that sends, from its start to its end. It first keeps what it has sent in its memory: after `throughMs` it may have sent more
 * than the pieces show.
 */
export interface DisclosureRun {
  /** A UUID, new with each start. */
  readonly runId: string
  readonly beganMs: number
  readonly throughMs: number
  /** The run was found silent at that time, and may have ended without a word. */
  readonly lostMs: number | undefined
}

/** A run that has reported nothing for this long is found silent. */
export const runSilenceMs = 120_000

/** A run that can reach the store has reported its progress within this time: it does so every 35 s at the latest. */
export const runLagMs = 40_000

interface PiecesQuery {
  readonly fromHour: number
  /** Included. */
  readonly toHour: number
  /** Continues after this piece. */
  readonly after?: DisclosurePiece | undefined
  readonly limit: number
}

export interface PiecesOfKeyQuery extends PiecesQuery {
  readonly keyId: string
}

/** What all keys were sent from one block of a feed. */
export interface PiecesOfBlockQuery extends PiecesQuery {
  readonly key: FeedKey
  readonly block: number
}

export interface DisclosureStore {
  /** Joins pieces to the stored ones, in one commit. Two nodes that add to the same pieces lose nothing. At most 500. */
  add(pieces: readonly DisclosurePiece[]): Promise<void>
  /**
   * Reports the progress of a run: everything it sent up to `throughMs` has been added. Marks runs as lost that have reported nothing for
   * `runSilenceMs`; a lost run that reports again is no longer lost.
   */
  mark(run: Omit<DisclosureRun, 'lostMs'> & { readonly ended: boolean }): Promise<void>
  /** Runs that have not ended properly. */
  openRuns(): Promise<readonly DisclosureRun[]>
  /** Pieces of a key, in an order of their own. */
  sent(query: PiecesOfKeyQuery): Promise<readonly DisclosurePiece[]>
  /**
   * Pieces of one block of a feed, by hour. The cost depends only on that block, however many keys the store has and whatever they were
   * sent of other feeds.
   */
  sentOf(query: PiecesOfBlockQuery): Promise<readonly DisclosurePiece[]>
}

/** The events in an answer. */
export interface Disclosure {
  readonly key: FeedKey
  readonly view: DisclosureView
  readonly ranges: readonly NumberRange[]
}

/** Feeds whose reads are noted: those with personal data. */
const disclosingFeeds: Readonly<Record<FeedName, boolean>> = { contact: true, property: false }

export function isDisclosure(feed: FeedName): boolean {
  return disclosingFeeds[feed]
}

/** `undefined`: nothing to note. */
export function disclosedRange({ key, view, first, count, positions }: ViewRange): Disclosure | undefined {
  if (count === 0 || !isDisclosure(key.feed)) return undefined
  if (positions === undefined) return { key, view, ranges: [[first, first + count - 1]] }
  const listed = [...positions.subarray(first - 1, first - 1 + count)]
  return { key, view: 'all', ranges: listed.map((position): NumberRange => [position, position]) }
}

export function disclosedEvents(
  key: FeedKey,
  events: readonly Pick<StoredEvent, 'sequenceNumber'>[],
): Disclosure | undefined {
  if (events.length === 0 || !isDisclosure(key.feed)) return undefined
  const ranges = events.map(({ sequenceNumber }): NumberRange => [sequenceNumber, sequenceNumber])
  return { key, view: 'numbers', ranges }
}
