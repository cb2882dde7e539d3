/**
 * Gathers what waits to be appended, across feeds, into one commit while the previous one flushes (ARCHITECTURE): with
 * many publishers a flush is shared by all of them, with one publisher nothing waits.
 */
import type { AppendBatch, AppendOutcome, EventStore } from '../storage/storage.ts'

export interface CommitLimits {
  /** Events in one commit. One batch may exceed it and then goes alone. */
  readonly maxEvents: number
  /** Payload characters in one commit. */
  readonly maxCharacters: number
  /** Payload characters that may wait. Beyond it a submission is answered `overloaded` at once. */
  readonly maxWaitingCharacters: number
}

/** 2,000 events or 16 Mi characters keep a commit near 100 ms on slow disks; 256 Mi is what a node may hold in memory. */
export const defaultCommitLimits: CommitLimits = {
  maxEvents: 2_000,
  maxCharacters: 16 * 2 ** 20,
  maxWaitingCharacters: 256 * 2 ** 20,
}

export type SubmitOutcome = AppendOutcome | { readonly kind: 'overloaded' }

export interface CommitQueue {
  /** Resolves when the batch is durable or refused (P7); rejects with the store's `StorageFailure`. */
  submit(batch: AppendBatch): Promise<SubmitOutcome>
  /** Resolves when nothing waits and nothing is being committed. */
  drained(): Promise<void>
}

interface Waiting {
  readonly batch: AppendBatch
  readonly characters: number
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

export function createCommitQueue(
  events: Pick<EventStore, 'append'>,
  limits: CommitLimits = defaultCommitLimits,
): CommitQueue {
  const waiting: Waiting[] = []
  let waitingCharacters = 0
  let commits: Promise<void> | undefined

  function takeNext(): readonly Waiting[] {
    let eventCount = 0
    let characters = 0
    let taken = 0
    for (const entry of waiting) {
      eventCount += entry.batch.drafts.length
      characters += entry.characters
      if (taken > 0 && (eventCount > limits.maxEvents || characters > limits.maxCharacters)) break
      waitingCharacters -= entry.characters
      taken += 1
    }
    return waiting.splice(0, taken)
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await events.append(group.map((entry) => entry.batch))
      for (const [index, entry] of group.entries()) {
        const outcome = outcomes[index]
        if (outcome === undefined) entry.reject(new Error('the engine answered fewer outcomes than batches'))
        else entry.resolve(outcome)
      }
    } catch (error) {
      for (const entry of group) entry.reject(error)
    }
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) await commit(takeNext())
    commits = undefined
  }

  async function drained(): Promise<void> {
    if (commits === undefined) return
    await commits
    await drained()
  }

  return {
    submit(batch) {
      const characters = batch.drafts.reduce((sum, draft) => sum + charactersOf(draft.content), 0)
      if (waitingCharacters + characters > limits.maxWaitingCharacters && waiting.length > 0) {
        return Promise.resolve({ kind: 'overloaded' })
      }
      const { promise, resolve, reject } = Promise.withResolvers<AppendOutcome>()
      waiting.push({ batch, characters, resolve, reject })
      waitingCharacters += characters
      commits ??= Promise.resolve().then(commitAll)
      return promise
    },
    drained,
  }
}

function charactersOf(content: AppendBatch['drafts'][number]['content']): number {
  return content.kind === 'payload' ? content.text.length : 0
}
