/**
 * Coordinates reads by time with commits (P3), in memory that the writer's thread shares with all readers. An event that is stamped but
 * not yet visible would be missed by a client that next asks from the time of this request. A read by time raises the floor and then
 * checks whether a commit is under way; the writer announces that it commits and then reads the floor. Whichever comes second sees the
 * other, because these accesses have one order for all threads. So either the stamps come after the moment of the read, or the read knows
 * that it has to wait for the commit.
 *
 * A commit is counted as a change before it is no longer under way. So a read that finds none under way, and after that finds the feed's
 * count as it was before the feed was last read, knows without the store that everything stamped before its moment was in that reading.
 */
import type { Ticks } from '@property-events/protocol'
import { floorAfter } from '../../runtime/clock.ts'
import type { FeedKey } from '../feed-key.ts'
import type { ChangeCounts } from '../watchers.ts'

export interface CommitLine {
  /** For another thread, which makes its own `commitLine` over it. */
  readonly memory: SharedArrayBuffer
  /**
   * Makes all later stamps come after `now`. True: nothing that was stamped before is waiting for its commit, so what is visible from
   * here on is the whole answer, and counted. False: the whole answer is visible once the commit under way has ended.
   */
  ask(now: Ticks): boolean
  /** No later stamp is before this moment. */
  raiseFloor(floor: Ticks): void
  /** The earliest stamp from now on. */
  floor(): Ticks
  /**
   * Runs a commit, from its first stamp to its end. `floor`: no stamp may be before it. `changed`: the feeds that its outcome has changed,
   * as in `ChangeCounts.raise`. Only on the writer's thread.
   */
  commit<T>(run: (floor: Ticks) => T, changed: (outcome: T) => readonly (FeedKey | undefined)[]): T
  /** The writer's thread has ended, and with it everything it had begun. Its last commit may be visible and not counted. */
  writerEnded(): void
}

const floorWord = 0
const committingWord = 1

export function commitLine(
  changes: Pick<ChangeCounts, 'raise'>,
  memory: SharedArrayBuffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT),
): CommitLine {
  const words = new BigInt64Array(memory)

  function raiseFloor(wanted: Ticks): void {
    for (;;) {
      const floor = Atomics.load(words, floorWord)
      if (wanted <= floor || Atomics.compareExchange(words, floorWord, floor, wanted) === floor) return
    }
  }

  return {
    memory,
    raiseFloor,
    floor: () => Atomics.load(words, floorWord),
    ask(now) {
      raiseFloor(floorAfter(now))
      return Atomics.load(words, committingWord) === 0n
    },
    commit(run, changed) {
      Atomics.store(words, committingWord, 1n)
      try {
        const outcome = run(Atomics.load(words, floorWord))
        for (const key of changed(outcome)) changes.raise(key)
        return outcome
      } finally {
        Atomics.store(words, committingWord, 0n)
      }
    },
    writerEnded() {
      changes.raise(undefined)
      Atomics.store(words, committingWord, 0n)
    },
  }
}
