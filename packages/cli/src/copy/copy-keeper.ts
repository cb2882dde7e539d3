/** What `sync` needs of a place for a copy: a folder, a file, tables. */
import type { Batch, CheckpointStore, CopyView, HeldSubject } from '@property-events/client'

export interface CopyKeeper {
  readonly copy: CopyView
  /** All that it holds, with the numbers of the events that are kept; 0 for what cannot be read. */
  held(): Iterable<HeldSubject> | AsyncIterable<HeldSubject>
  /** For the client. Where it has no `save`, `apply` keeps the checkpoint. */
  readonly checkpoint: CheckpointStore
  /** Of all runs together: a run that an outage ended is followed by another. */
  readonly counts: {
    readonly changes: number
    readonly removals: number
    /** Removals of what the copy held: of a first sync there is none. */
    readonly removed: number
  }
  apply(batch: Batch): Promise<void>
  /**
   * Called when the copy has what the feed has, and when a run ends, `finished` then. Copy and checkpoint agree on disk
   * afterwards; a file may postpone that unless `finished`.
   */
  keep(finished: boolean): Promise<void>
  /** Everything that was applied is on disk. */
  isStored(): boolean
  /** Gives back what it holds open. */
  close(): Promise<void>
}
