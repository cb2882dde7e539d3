/** How one tenant's batches get into the tables, with the checkpoint in the same transaction. */
import type { Batch, CopyView } from '@property-events/client'
import type { CopyKeeper } from './copy-keeper.ts'
import { isUsableReference, removedRow, rowsOf, rowsVersion } from './listing-rows.ts'
import type { ListingRow, MediaRow, RemovedRow } from './listing-rows.ts'
import type { ListingTables, TenantState } from './listing-tables.ts'

/** `caught_up_at` is not written more often, since a feed is asked every few seconds. */
const notePauseMs = 60_000

export interface TenantTables {
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
  let notedMs = -Infinity
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
      const gone = batch.changes.filter(({ kind }) => kind === 'remove').map(({ subjectId }) => subjectId)
      const held = gone.length === 0 ? 0 : await copy.holds(gone)
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
      if (finished || nowMs - notedMs < notePauseMs) return
      await tables.noteCaughtUp(tenant, nowMs)
      notedMs = nowMs
    },
    // Rows and checkpoint were committed by each `apply`.
    isStored: () => true,
    close: () => tables.close(),
  }
}

function viewOf(tables: ListingTables, tenant: string): CopyView {
  return {
    count: () => tables.count(tenant),
    holds: (subjectIds) => tables.holds(tenant, subjectIds.filter(isUsableReference)),
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
  onReadAgain('this version shows listings in another way')
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
