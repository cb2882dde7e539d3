/**
 * The current events of a feed as of a position: the positions of the last event of each subject up to it (PROTOCOL §3.5). Events never
 * leave a feed, so within an epoch such a list never changes, and every thread that makes it makes the same.
 */
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import { feedName } from '../../events/feed-key.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { FeedView } from '../../events/branches/branch-view.ts'

interface CurrentListQuery {
  readonly key: FeedKey
  /** For a category: subjects that were in it as of the position. */
  readonly view: FeedView
  readonly epoch: string
  /** 0: the feed was empty. */
  readonly through: number
}

/** Ascending. */
type CurrentList = Float64Array

interface CurrentLists {
  /** Simultaneous requests for the same list share its making. Rejects as the store does. */
  of(query: CurrentListQuery): Promise<CurrentList | 'tooMany'>
}

/** Subjects of a list: 800 kB. */
export const currentAtMost = 100_000

/** Subjects in one query to the store, 1 ms or so in SQLite; each that has a later event is looked up separately, in 5 µs. */
const stepSize = 2_000
const earlierStepSize = 500

/** For all lists that a thread keeps, 16 MB. */
const keptPositions = 2_000_000
const keptLists = 1_000

type Reads = Pick<EventStore, 'latestPositions' | 'earlierPositions'>

export function createCurrentLists(events: Reads): CurrentLists {
  // In the order in which they were last requested.
  const lists = new Map<string, Promise<CurrentList | 'tooMany'>>()
  const sizes = new Map<string, number>()
  let total = 0

  const forget = (name: string): void => {
    lists.delete(name)
    total -= sizes.get(name) ?? 0
    sizes.delete(name)
  }

  function keep(name: string, list: CurrentList | 'tooMany'): void {
    if (!lists.has(name)) return
    sizes.set(name, list.length)
    total += list.length
    for (const oldest of lists.keys()) {
      if (total <= keptPositions && lists.size <= keptLists) return
      if (sizes.has(oldest)) forget(oldest)
    }
  }

  return {
    of(query) {
      const { key, view, epoch, through } = query
      const name = [feedName(key), view, epoch, through].join(' ')
      const known = lists.get(name)
      if (known !== undefined) {
        lists.delete(name)
        lists.set(name, known)
        return known
      }
      const making = makeList(events, query)
      lists.set(name, making)
      making.then(
        (list) => keep(name, list),
        () => forget(name),
      )
      return making
    },
  }
}

/**
 * First the subjects about which nothing was published since; then those whose latest event is a later one, which are few if the position
 * is a moment old. What is published meanwhile moves subjects from the first kind to the second, and to its end: none is missed, and one
 * that is seen twice has the same position both times.
 */
async function makeList(events: Reads, query: CurrentListQuery): Promise<CurrentList | 'tooMany'> {
  const { key, view, through } = query
  const found = new Set<number>()
  const isTooLong = (more: readonly number[]): boolean => {
    for (const position of more) found.add(position)
    return found.size > currentAtMost
  }
  for (let after: number | undefined = 0; after !== undefined;) {
    const step = await events.latestPositions({ key, view, after, through, limit: stepSize })
    if (isTooLong(step)) return 'tooMany'
    after = step.length < stepSize ? undefined : step.at(-1)
    if (after !== undefined) await yieldForStep()
  }
  for (let after: number | undefined = through; after !== undefined;) {
    const step = await events.earlierPositions({ key, view, after, through, limit: earlierStepSize })
    if (isTooLong(step.positions)) return 'tooMany'
    after = step.next
    if (after !== undefined) await yieldForStep()
  }
  return Float64Array.from(found).sort()
}
