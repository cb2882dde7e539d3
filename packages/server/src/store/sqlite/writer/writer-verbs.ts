/** The questions to the writer's thread, and how questions and answers travel. */
import type { Written } from '../../../sql/sqlite.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import type { Actor } from '../../../audit/actor.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { StorageFailure } from '../../../sql/storage-errors.ts'
import type { StoreRecord } from '../../store-records.ts'
import type { BranchViewWrites } from '../../../events/sqlite/branch-views.ts'
import type { ErasureWrites } from '../reduce/erasure-writes.ts'
import type { AppendWrites, PreviewWrites } from '../../../events/sqlite/append/append-messages.ts'
import type { TimeWrites } from '../../../events/sqlite/read/locate.ts'
import type { RestrictionWrites } from '../reduce/restriction-writes.ts'
import type { RetentionWrites } from '../reduce/retention.ts'
import type { CopiedWebhooks } from '../../../webhooks/endpoint.ts'

export interface WriterVerbs
  extends
    AppendWrites,
    PreviewWrites,
    TimeWrites,
    BranchViewWrites,
    ErasureWrites,
    RestrictionWrites,
    RetentionWrites {
  /** Runs a write of a feature. */
  write(name: string, args: readonly unknown[]): Promise<Written<unknown>>
  startEpoch(continueAfter: number, actor: Actor, feeds?: readonly FeedKey[], webhooks?: CopiedWebhooks): void
  acceptHistory(actor: Actor): 'accepted'
  importRecords(records: readonly StoreRecord[], actor: Actor): void
  forgetSkippedIds(): number
  /** The durability settings of the writer's own connection (P7). */
  durability(): Durability
  /** Moves the WAL into the file and closes it; the thread then ends. */
  close(): void
}

export interface Durability {
  /** `wal`. */
  readonly journalMode: string
  /** 2 is FULL: a commit is on disk when it returns. */
  readonly synchronous: number
}

export interface WriterOptions {
  readonly file: string
  readonly maxBytes: number | undefined
  readonly clock: SharedClock | undefined
  readonly overrideClockCheck: boolean
  /** The memory of the `CommitLine`. */
  readonly line: SharedArrayBuffer
  /** The memory of the `ChangeCounts`. */
  readonly changes: SharedArrayBuffer
}

export type WriterVerb = keyof WriterVerbs

/** Without member names, as a packed batch is. */
export type WriterRequest = readonly [id: number, verb: WriterVerb, args: readonly unknown[]]

/** `tookMs`: the writer's own time, without the time that the question waited. */
export type WriterReply =
  | readonly [id: number, tookMs: number, value: unknown]
  | readonly [id: number, tookMs: undefined, failure: WriterFailure]

/** An error's class does not survive the transfer between threads; its code and a text for the log do. */
export interface WriterFailure {
  readonly code: StorageFailure['code']
  readonly scope: StorageFailure['scope']
  readonly cause: string
}
