/** The options of `sync`, and its results. */
import type { Transport } from '../live/transports.ts'
import type { FeedName } from '../wire.ts'
import type { BreakerOptions } from './breaker.ts'
import type { Change, OddEvent } from './change.ts'
import type { Checkpoint, CheckpointStore } from './checkpoint.ts'
import type { ResyncReason } from './plan.ts'

/** Changes to apply to the copy together. */
export interface Batch<F extends FeedName = FeedName> {
  /** At most one for each subject, by rising number. May be empty: keep the checkpoint all the same. */
  readonly changes: readonly Change<F>[]
  /**
   * True on the first batch of a read of the whole feed, unless `copy` is given: empty the copy first, because no
   * change will report what the feed does not have any more.
   */
  readonly startsOver: boolean
  /** The progress of the copy with this batch in it. */
  readonly checkpoint: Checkpoint
}

/** A view of the copy, for the breaker and for resyncs. */
export interface CopyView {
  /** The number of subjects it holds. */
  count(): number | Promise<number>
  /** The number of these subjects that it holds. At most 500, without repeats. */
  countOf(subjectIds: readonly string[]): number | Promise<number>
  /** Every subject it holds, in lower case. */
  subjects(): Iterable<string> | AsyncIterable<string>
}

export interface FollowOptions {
  /**
   * How the sync waits for events: `auto`, the default, uses a stream, waiting requests or polls, whichever works on the way to the
   * service (PROTOCOL §13). Servers of the contract alone are always polled.
   */
  readonly transport?: Transport | 'auto'
  /** Polls: the wait after an answer with events, 1 s by default. It doubles while there are none. */
  readonly minIntervalMs?: number
  /** Polls, and after a failure: the longest wait, 30 s by default. */
  readonly maxIntervalMs?: number
}

export interface SyncProgress {
  /** `whole`: the whole feed is being read. `new`: the events since the checkpoint. */
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
   * Puts a batch into the copy. After a crash or a failure it may be called again with changes it has applied before,
   * but never with an event that is older than one of the same subject that it has applied. Any error it throws ends
   * the sync.
   */
  readonly apply: (batch: Batch<F>) => void | Promise<void>
  /** Only one category: `salesproperty` or `lettingsproperty`. It belongs to the checkpoint. */
  readonly apiEventType?: string
  /** Enables the breaker, and resyncs that do not empty the copy. */
  readonly copy?: CopyView
  readonly breaker?: BreakerOptions
  /** Allows this run to remove as many subjects as the feed says. */
  readonly allowMassRemoval?: boolean
  /** Continues for ever, as events come; end it with `signal`. */
  readonly follow?: boolean | FollowOptions
  /** Events in one request: by default as many as the service gives, or 100 on pages. */
  readonly pageSize?: number
  /** Subjects collected before `apply` is called, 1,000 by default: about 4 MB of payloads. */
  readonly batchSize?: number
  /**
   * For servers without reads of their own: how much older than the newest event a new one may be when it appears.
   * An hour by default; each poll reads that much again.
   */
  readonly overlapMs?: number
  readonly onProgress?: (progress: SyncProgress) => void
  /**
   * The copy has everything that the feed had at the last answer. Called after each complete round, with changes or without; while a
   * stream is read, after each piece of it that reaches the head, and every 15 s. An error it throws ends the sync.
   */
  readonly onCaughtUp?: () => void | Promise<void>
  /**
   * Tells the service how far the copy is, each time that it has caught up and at most every 10 s while it follows, so that publishers
   * can see it (PROTOCOL §14.5). On by default. It fails silently, and servers that take no acknowledgements are asked once. A sync of
   * one category acknowledges only if the client has a `consumer` name: give each copy one of its own.
   */
  readonly acknowledge?: boolean
  /** For an `apply` that postpones its writes: whether everything it was given is stored. Until then nothing is acknowledged. */
  readonly isStored?: () => boolean
  /** Called when the whole feed is read again, with the reason. Not called for the first read. */
  readonly onResync?: (reason: ResyncReason) => void
  /**
   * Called with an event whose payload cannot be read. Its subject is in no batch: the copy keeps what it has until a later event of it.
   */
  readonly onOdd?: (event: OddEvent) => void
  /** Called while following, with a failure that will be retried. */
  readonly onTrouble?: (error: unknown) => void
  /** Ends the sync between two batches; applied changes are kept. */
  readonly signal?: AbortSignal
}

/** What the readers of one round use in addition to the connection and the session. */
export interface RoundOptions {
  readonly apiEventType: string | undefined
  readonly pageSize: number | undefined
  readonly overlapMs: number
  readonly signal: AbortSignal | undefined
  readonly report: (phase: SyncProgress['phase'], done: number, total: number) => void
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
