/** Applies the breaker to the removals of a batch: asks the copy which of them it holds, and stops if they are too many. */
import { MassRemovalError } from '../errors.ts'
import { countRemovals } from './breaker.ts'
import type { BreakerOptions, RemovalWindow } from './breaker.ts'
import type { CopyView } from './options.ts'

/** Subjects in one question, so that a copy can ask its database with one parameter each. */
const maxHoldsQuestion = 500

interface GuardedRemovals {
  readonly copy: CopyView
  /** The removals of a batch, whether the copy holds them or not. Without repeats. */
  readonly subjectIds: readonly string[]
  readonly window: RemovalWindow | undefined
  readonly nowMs: number
  readonly allow: boolean
  readonly breaker: BreakerOptions | undefined
}

/** The window with these removals in it. Throws `MassRemovalError` when they are too many and not allowed. */
export async function guardRemovals(removals: GuardedRemovals): Promise<RemovalWindow | undefined> {
  const { copy, subjectIds, window, nowMs, allow, breaker } = removals
  let affected = 0
  for (const question of questionsOf(subjectIds)) affected += await copy.countOf(question)
  if (affected === 0) return window
  const held = await copy.count()
  const counted = countRemovals({ window, nowMs, held, affected, allow }, breaker)
  if (counted.kind === 'counted') return counted.window
  throw new MassRemovalError({ ...counted, held, subjectIds: await heldOf(copy, subjectIds) })
}

/** The subjects that the copy holds. The copy only returns counts, so a part of which it holds some is asked for again in halves. */
async function heldOf(copy: CopyView, subjectIds: readonly string[]): Promise<readonly string[]> {
  const held: string[] = []
  // The next part is the last one.
  const parts = questionsOf(subjectIds).toReversed()
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const count = await copy.countOf(part)
    if (count >= part.length) held.push(...part)
    else if (count > 0) {
      const half = Math.ceil(part.length / 2)
      parts.push(part.slice(half), part.slice(0, half))
    }
  }
  return held
}

function questionsOf(subjectIds: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(subjectIds.length / maxHoldsQuestion)
  return Array.from({ length: count }, (_, index) =>
    subjectIds.slice(index * maxHoldsQuestion, (index + 1) * maxHoldsQuestion),
  )
}
