/** The port between `sync` and the engines: what a set of tables does for the tenants in it. */
import type { Checkpoint, HeldSubject } from '@property-events/client'
import type { ListingRow, MediaRow, RemovedRow } from './listing-rows.ts'

/** What is stored with the rows of a tenant. */
export interface TenantState {
  /** As it was written. */
  readonly checkpoint: unknown
  /** `rowsVersion` of the program that wrote the rows. */
  readonly rowsVersion: number
  /** There were listings when the checkpoint was written, and now there are none. */
  readonly isLost: boolean
}

/** A batch of one tenant: written in one transaction, with the checkpoint. */
export interface TableBatch {
  readonly tenant: string
  readonly listings: readonly ListingRow[]
  /** All media of these listings. */
  readonly media: readonly MediaRow[]
  readonly removed: readonly RemovedRow[]
  readonly checkpoint: Checkpoint
  readonly rowsVersion: number
  readonly nowMs: number
}

/**
 * One set of tables, locked for this process. Tenants are separate in it: every row has its tenant's name. Throws a `TablesRefusal` if another
 * process has written meanwhile, and a `TablesAway` if the database cannot be reached.
 */
export interface ListingTables {
  /** The state of a tenant, before anything else is done for it; `undefined`: there is none yet. */
  load(tenant: string): Promise<TenantState | undefined>
  write(batch: TableBatch): Promise<void>
  /** Records that the tenant's listings are what its feed says. */
  recordCaughtUp(tenant: string, nowMs: number): Promise<void>
  count(tenant: string): Promise<number>
  /** How many of these references are listings of the tenant. */
  countOf(tenant: string, references: readonly string[]): Promise<number>
  references(tenant: string): AsyncIterable<string>
  /** Every listing of the tenant, with the number of the event it was made of. */
  held(tenant: string): AsyncIterable<HeldSubject>
  close(): Promise<void>
}

/** A second process has written to the tenant's rows since they were loaded. */
export function writtenByAnother(tenant: string): TablesRefusal {
  return new TablesRefusal(
    `Another sync has written the listings of "${tenant}" meanwhile, so this one stopped and wrote nothing more. Run only one sync for these tables.`,
  )
}

export function lockedByAnother(target: string): TablesRefusal {
  return new TablesRefusal(
    `Another sync is writing to these tables in ${target}, and two at once would get in each other's way. ` +
      'Wait until it has ended, stop it, or choose other tables with --prefix.',
  )
}

/** A row of a listing. */
export function heldOf(row: Readonly<Record<string, unknown>>): HeldSubject {
  return { subjectId: String(row['reference']), sequenceNumber: Number(row['sequence_number']) }
}

/** Why the tables cannot be used: whole sentences that say what to do, for whoever runs the sync. */
export class TablesRefusal extends Error {
  override readonly name = 'TablesRefusal'
}

/** The database cannot be reached, or is too busy; it may be back in a moment. */
export class TablesAway extends TablesRefusal {}
