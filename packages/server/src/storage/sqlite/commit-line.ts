/**
 * One commit at a time, and a moment between two commits for whoever asks by time (P3): an event that is stamped but
 * not yet visible would be missed by a client that next asks from the moment it asked now.
 */
import type { Ticks } from '@property-events/protocol'
import { floorAfter } from '../clock.ts'

export interface CommitLine {
  /** Runs commits one after another, in the order they came. `floor`: no stamp may lie before it. */
  commit<T>(run: (floor: Ticks) => Promise<T>): Promise<T>
  /** Answers while nothing stamped waits for its commit; all later stamps lie behind that moment. */
  betweenCommits<T>(answer: () => T): Promise<T>
  /** Resolves when no commit is under way or waiting. */
  idle(): Promise<void>
}

export function commitLine(now: () => Ticks): CommitLine {
  let floor: Ticks = 0n
  let committing = false
  const commits: (() => Promise<void>)[] = []
  const questions: (() => void)[] = []
  const idlers: (() => void)[] = []

  const advance = async (): Promise<void> => {
    if (committing) return
    committing = true
    for (;;) {
      // All who wait are answered before the next commit begins: one wait serves them all, and no flood of publishes
      // can keep them waiting for longer than one commit.
      for (const ask of questions.splice(0)) ask()
      const next = commits.shift()
      if (next === undefined) break
      await next()
    }
    committing = false
    for (const resolve of idlers.splice(0)) resolve()
  }

  return {
    commit(run) {
      return new Promise((resolve, reject) => {
        commits.push(() => run(floor).then(resolve, reject))
        void advance()
      })
    },
    betweenCommits(answer) {
      return new Promise((resolve, reject) => {
        questions.push(() => {
          try {
            const answered = answer()
            const behind = floorAfter(now())
            if (behind > floor) floor = behind
            resolve(answered)
          } catch (error) {
            reject(error)
          }
        })
        void advance()
      })
    },
    idle() {
      return committing ? new Promise((resolve) => idlers.push(resolve)) : Promise.resolve()
    },
  }
}
