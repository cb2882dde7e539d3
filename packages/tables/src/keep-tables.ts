/** How one tenant's batches get into the tables, with the checkpoint in the same transaction. */
import type { Batch, CheckpointStore, CopyView, HeldSubject } from '@property-events/client'
import { isUsableReference, removedRow, rowsOf, rowsVersion } from './listing-rows.ts'
import type { ListingRow, MediaRow, RemovedRow } from './listing-rows.ts'
import type { ListingTables, TenantState } from './listing-tables.ts'

/** `caught_up_at` is not written more often, since a feed is asked every few seconds. */
const recordEveryMs = 60_000

interface TenantTables {
  readonly tables: ListingTables
  readonly tenant: string
  /** If the copy has only one category. */
  readonly category: 'sales' | 'lettings' | undefined
  /** Called with the reason when the whole feed is read again. */
  readonly onReadAgain: (reason: string) => void
  /** Called with the number of listings that cannot be put into tables. */
  readonly onSkipped: (count: number) => void
}

export function keepTables({ tables, tenant, category, onReadAgain, onSkipped }: TenantTables): CopyKeeper {
  const counts = { changes: 0, removals: 0, removed: 0 }
  const copy = viewOf(tables, tenant)
  let recordedMs = -Infinity
  return {
    copy,
    held: () => tables.held(tenant),
    // No `save`: the checkpoint is written with the rows.
    checkpoint: {
      async load() {
        const state = await tables.load(tenant)
        return state === undefined ? undefined : checkpointOf(state, onReadAgain)
      },
    },
    counts,
    async apply(batch) {
      const rows = batchRows(batch, { tenant, category })
      if (rows.skipped > 0) onSkipped(rows.skipped)
      const { listings, media, removed } = rows
      const removedIds = batch.changes
        .filter(({ kind }) => kind === 'remove')
        .map(({ subjectId }) => subjectId)
      const held = removedIds.length === 0 ? 0 : await copy.countOf(removedIds)
      const nowMs = Date.now()
      await tables.write({
        tenant,
        listings,
        media,
        removed,
        checkpoint: batch.checkpoint,
        rowsVersion,
        nowMs,
      })
      counts.changes += batch.changes.length
      counts.removals += removed.length
      counts.removed += held
    },
    async keep(finished) {
      const nowMs = Date.now()
      if (finished || nowMs - recordedMs < recordEveryMs) return
      await tables.recordCaughtUp(tenant, nowMs)
      recordedMs = nowMs
    },
    // Rows and checkpoint were committed by each `apply`.
    isStored: () => true,
    close: () => tables.close(),
  }
}

function viewOf(tables: ListingTables, tenant: string): CopyView {
  return {
    count: () => tables.count(tenant),
    countOf: (subjectIds) => tables.countOf(tenant, subjectIds.filter(isUsableReference)),
    subjects: () => tables.references(tenant),
  }
}

/** The checkpoint to continue from: the stored one, or one that leads to a new read of the whole feed. */
function checkpointOf({ checkpoint, ...state }: TenantState, onReadAgain: (reason: string) => void): unknown {
  if (state.isLost) {
    onReadAgain('nothing is left of the listings')
    return undefined
  }
  if (state.rowsVersion >= rowsVersion || typeof checkpoint !== 'object') return checkpoint
  // Existing rows stay until they are written again, as after a change of the epoch.
  onReadAgain('this version shows listings differently')
  return { ...checkpoint, reading: { kind: 'start' }, opens: true }
}

interface BatchRows {
  readonly listings: ListingRow[]
  readonly media: MediaRow[]
  readonly removed: RemovedRow[]
  readonly skipped: number
}

function batchRows(
  { changes }: Batch,
  { tenant, category }: Pick<TenantTables, 'tenant' | 'category'>,
): BatchRows {
  const listings: ListingRow[] = []
  const media: MediaRow[] = []
  const removed: RemovedRow[] = []
  let skipped = 0
  for (const change of changes) {
    const { subjectId: reference } = change
    if (!isUsableReference(reference)) skipped += 1
    else if (change.kind === 'remove') removed.push(removedRow(tenant, change, Date.now()))
    else if ('price_information' in change.payload) {
      const { payload: property, event } = change
      const rows = rowsOf({ tenant, reference, property, event, category })
      listings.push(rows.listing)
      media.push(...rows.media)
    }
  }
  return { listings, media, removed, skipped }
}

/** What `sync` needs of a copy, be it a folder, a file or tables. */
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
