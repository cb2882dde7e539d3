/** What `sync` is given, and what it says. */
import type { FeedName } from '../wire.ts'
import type { BreakerOptions } from './breaker.ts'
import type { Change } from './change.ts'
import type { Checkpoint, CheckpointStore } from './checkpoint.ts'
import type { ResyncReason } from './plan.ts'

/** What is to be done to the copy in one go. */
export interface Batch<F extends FeedName = FeedName> {
  /** At most one for each subject, by rising number. May be empty: keep the checkpoint all the same. */
  readonly changes: readonly Change<F>[]
  /**
   * True on the first batch of a read of the whole feed, unless `copy` is given: empty the copy before, because nothing
   * will tell of what the feed does not have any more.
   */
  readonly startsOver: boolean
  /** Where the copy is once this batch is in it. */
  readonly checkpoint: Checkpoint
}

/** What the breaker and a resync need to know of the copy. */
export interface CopyView {
  /** How many subjects it holds. */
  count(): number | Promise<number>
  /** How many of these it holds. At most 500, without repeats. */
  holds(subjectIds: readonly string[]): number | Promise<number>
  /** Every subject it holds, in lower case. */
  subjects(): Iterable<string> | AsyncIterable<string>
}

export interface FollowOptions {
  /** The wait after an answer that brought something, 1 s by default. It doubles while nothing comes. */
  readonly minIntervalMs?: number
  /** The longest wait, 30 s by default. */
  readonly maxIntervalMs?: number
}

export interface SyncProgress {
  /** `whole`: the whole feed is being read. `new`: what came since the checkpoint. */
  readonly phase: 'whole' | 'new'
  /** Of `total`: pages or numbers, according to the server. */
  readonly done: number
  readonly total: number
  /** Events read by this sync so far. */
  readonly events: number
  /** Changes applied by this sync so far. */
  readonly changes: number
}

export interface SyncOptions<F extends FeedName = FeedName> {
  readonly checkpoint: CheckpointStore
  /**
   * Puts a batch into the copy. It may be called again with changes it has had, after a crash or a failure, and never
   * with an event that is older than one it had of the same subject. Whatever it throws ends the sync.
   */
  readonly apply: (batch: Batch<F>) => void | Promise<void>
  /** Only one category: `salesproperty` or `lettingsproperty`. It belongs to the checkpoint. */
  readonly apiEventType?: string
  /** Makes the breaker work, and resyncs without emptying the copy. */
  readonly copy?: CopyView
  readonly breaker?: BreakerOptions
  /** Lets this run remove as much as the feed says. */
  readonly allowMassRemoval?: boolean
  /** Go on for ever, asking again and again; end it with `signal`. */
  readonly follow?: boolean | FollowOptions
  /** Events asked for at a time: as many as the service gives behind numbers, 100 on pages. */
  readonly pageSize?: number
  /** Subjects gathered before `apply` is called, 1,000 by default: about 4 MB of payloads. */
  readonly batchSize?: number
  /**
   * For servers without reads of their own: how much older than the newest event a new one may be when it appears.
   * An hour by default; each poll reads that much again.
   */
  readonly overlapMs?: number
  readonly onProgress?: (progress: SyncProgress) => void
  /**
   * The copy has all that the feed had when it was asked last: after every round that came to its end, whether it brought
   * something or not. What it throws ends the sync.
   */
  readonly onCaughtUp?: () => void | Promise<void>
  /** The whole feed is read again, and why. Not called for the first read. */
  readonly onResync?: (reason: ResyncReason) => void
  /** While following: a failure that will be tried again. */
  readonly onTrouble?: (error: unknown) => void
  /** Ends the sync between two batches; what was applied is kept. */
  readonly signal?: AbortSignal
}

export interface SyncResult {
  readonly ended: 'caughtUp' | 'aborted'
  /** How the feed was read: by the service's own reads, or by the contract's pages. */
  readonly readBy: 'numbers' | 'pages' | 'nothing'
  /** Events read. */
  readonly events: number
  /** Changes applied, removals included. */
  readonly changes: number
  readonly removals: number
}
