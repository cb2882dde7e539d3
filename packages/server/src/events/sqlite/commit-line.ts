/**
 * Coordinates reads by time with commits (P3), in memory that the writer's thread shares with all readers. An event that is stamped but
 * not yet visible would be missed by a client that next asks from the time of this request. A read by time raises the floor and then
 * checks whether a commit is under way; the writer announces that it commits and then reads the floor. Whichever comes second sees the
 * other, because these accesses have one order for all threads. So either the stamps come after the moment of the read, or the read knows
 * that it has to wait for the commit.
 */
import type { Ticks } from '@property-events/protocol'
import { floorAfter } from '../../runtime/clock.ts'

export interface CommitLine {
  /** For another thread, which makes its own `commitLine` over it. */
  readonly memory: SharedArrayBuffer
  /**
   * Makes all later stamps come after `now`. True: nothing that was stamped before is waiting for its commit, so what is visible from
   * here on is the whole answer. False: the whole answer is visible once the commit under way has ended.
   */
  ask(now: Ticks): boolean
  /** No later stamp is before this moment. */
  raiseFloor(floor: Ticks): void
  /** The earliest stamp from now on. */
  floor(): Ticks
  /** Runs a commit, from its first stamp to its end. `floor`: no stamp may be before it. Only on the writer's thread. */
  commit<T>(run: (floor: Ticks) => T): T
  /** The writer's thread has ended, and with it everything it had begun. */
  writerEnded(): void
}

const floorWord = 0
const committingWord = 1

export function commitLine(
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
    commit(run) {
      Atomics.store(words, committingWord, 1n)
      try {
        return run(Atomics.load(words, floorWord))
      } finally {
        Atomics.store(words, committingWord, 0n)
      }
    },
    writerEnded: () => void Atomics.store(words, committingWord, 0n),
  }
}
