/** What `sync` needs from a place for a copy: a folder, a file, tables. */
import type { Batch, CheckpointStore, CopyView, HeldSubject } from '@property-events/client'

export interface CopyKeeper {
  readonly copy: CopyView
  /** Everything it holds, with the numbers of the events that are kept; 0 for an unreadable entry. */
  held(): Iterable<HeldSubject> | AsyncIterable<HeldSubject>
  /** For the client. If it has no `save`, `apply` keeps the checkpoint. */
  readonly checkpoint: CheckpointStore
  /** Over all runs together: a run that an outage ended is followed by another. */
  readonly counts: {
    readonly changes: number
    readonly removals: number
    /** Removals of what the copy held: in a first sync there are none. */
    readonly removed: number
  }
  apply(batch: Batch): Promise<void>
  /**
   * Called when the copy has what the feed has and, with `finished`, when a run ends. Copy and checkpoint then agree on disk; a file may
   * postpone that unless `finished`.
   */
  keep(finished: boolean): Promise<void>
  /** Everything that was applied is on disk. */
  isStored(): boolean
  /** Releases what it holds open. */
  close(): Promise<void>
}
