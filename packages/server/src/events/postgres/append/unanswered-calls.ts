/**
 * What an unanswered call may have written. If it is retried, it finds its own ids taken; these are then reported as events of
 * this very request, and not as repeats of an earlier one. This is known for as long as the batch is in use: the remains of that call
 * may still lock the feed, and then the batch is given again.
 */
import { feedName } from '../../feed-key.ts'
import type { AppendBatch, AppendOutcome, AppendRemark, AppendedEvent } from '../../append/append-batch.ts'
import type { FeedPlan } from './plan-commit.ts'

export interface UnansweredCallsOfAppend {
  /** Records what is being sent. */
  sending(feeds: readonly FeedPlan[]): void
  /** The call and its commit were answered, so nothing of it is in doubt. */
  answered(): void
  /** The connection failed: anything under way may have been written. */
  unanswered(): void
  /** The outcomes as they would have been if the first answer had arrived. */
  recognise(outcomes: readonly AppendOutcome[]): readonly AppendOutcome[]
}

/** Of one append, from its first try to its last. */
export function unansweredCalls(): (batches: readonly AppendBatch[]) => UnansweredCallsOfAppend {
  /** By the batch, and not by the id: another request with the same id is a repeat. */
  const lostOf = new WeakMap<AppendBatch, ReadonlyMap<string, readonly AppendRemark[]>>()
  return (batches) => ofAppend(batches, lostOf)
}

function ofAppend(
  batches: readonly AppendBatch[],
  lostOf: WeakMap<AppendBatch, ReadonlyMap<string, readonly AppendRemark[]>>,
): UnansweredCallsOfAppend {
  let underWay: readonly (readonly [string, readonly AppendRemark[]])[] = []

  return {
    sending(feeds) {
      underWay = feeds.flatMap(({ reading, rows, reserved }) => {
        const name = feedName(reading.key)
        return [
          ...rows.map(({ event }) => [`${name} ${event.id}`, event.remarks] as const),
          ...reserved.map(({ id }) => [`${name} ${id} -`, []] as const),
        ]
      })
    },
    answered() {
      underWay = []
    },
    unanswered() {
      if (underWay.length > 0) {
        for (const batch of batches) lostOf.set(batch, new Map([...(lostOf.get(batch) ?? []), ...underWay]))
      }
      underWay = []
    },
    recognise(outcomes) {
      return outcomes.map((outcome, index) => {
        const batch = batches[index]
        const lost = batch && lostOf.get(batch)
        if (outcome.kind !== 'stored' || batch === undefined || lost === undefined) return outcome
        return { kind: 'stored', events: outcome.events.map((line) => recogniseLine(batch, line, lost)) }
      })
    },
  }
}

function recogniseLine(
  batch: AppendBatch,
  line: AppendedEvent,
  lost: ReadonlyMap<string, readonly AppendRemark[]>,
): AppendedEvent {
  if (line.status !== 'repeated') return line
  const name = feedName(batch.key)
  const id = batch.drafts[line.index]?.id ?? ''
  if (lost.has(`${name} ${id} -`)) return { ...line, status: 'unchanged' }
  const remarks = lost.get(`${name} ${line.id}`)
  if (remarks === undefined) return line
  if (line.id !== id) return { ...line, status: 'derived' }
  return { ...line, status: 'appended', ...(remarks.length > 0 ? { remarks } : {}) }
}
