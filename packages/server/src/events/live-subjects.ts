/** The port's part for what a feed shows now: its live subjects, by their references (PROTOCOL §14.3). */
import type { FeedView } from './branches/branch-view.ts'
import type { FeedKey } from './feed-key.ts'

export interface LiveQuery {
  readonly key: FeedKey
  readonly view: FeedView
  /** Lower-case UUIDs; both are included. */
  readonly first: string
  readonly last: string
  /** Continues after this one. */
  readonly after: string | undefined
  /** How many subjects to look at, shown or not, so that a step costs the same if few of them are in the view. */
  readonly limit: number
}

/** A subject, and the position of its latest event. */
interface PlacedSubject {
  /** Lower-case UUID. */
  readonly subjectId: string
  readonly position: number
}

/** A subject whose latest event is in the view and is not its removal. */
export interface LiveSubject extends PlacedSubject {
  /** The number of its latest event. */
  readonly sequenceNumber: number
}

export interface LiveStep {
  /** Ascending by reference. */
  readonly subjects: readonly LiveSubject[]
  /** The next step is after this one; `undefined`: this was the last. */
  readonly next: string | undefined
}

/**
 * The numbers of events from their positions, without looking at each: within an epoch, a number is the position plus the epoch's offset,
 * and offsets never fall. So if the first and the last position have the same offset, all have it. `undefined`: they differ.
 */
export function numbersOf(
  subjects: readonly PlacedSubject[],
  ends: ReadonlyMap<number, number>,
): readonly LiveSubject[] | undefined {
  const distances = [...ends].map(([position, number]) => number - position)
  const [distance = 0] = distances
  if (distances.some((one) => one !== distance)) return undefined
  return subjects.map((subject) => ({ ...subject, sequenceNumber: subject.position + distance }))
}

/** The first and the last position. */
export function endsOf(subjects: readonly PlacedSubject[]): readonly number[] {
  let [first, last] = [Infinity, 0]
  for (const { position } of subjects) {
    first = Math.min(first, position)
    last = Math.max(last, position)
  }
  return first > last ? [] : [...new Set([first, last])]
}
