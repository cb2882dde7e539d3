/** Whether a feed takes a change (PROTOCOL §5): decided in this file alone, of the feed's row, where the counter is locked. */

/**
 * The state of a tenant in this store. Nothing can be published to its feeds in any state except `open`.
 * - `open`: at home here
 * - `leaving`: being moved to another store; everything can be read
 * - `left`: published in another store; what was here can be read, but no open time window (P3)
 * - `arriving …`: being moved to here by the run of that name, the latest one; windows as in `left`
 * - `abandoned`: was being moved to here, and was taken back; windows as in `left`
 * - `deleting`: is being deleted (`DeletionStore`), and never comes back; windows as in `left`
 */
export type MoveState = 'open' | 'leaving' | 'left' | 'abandoned' | 'deleting' | `arriving ${string}`

/** What decides, of the row. */
export interface FeedState {
  /** The state that closes the tenant's feeds, as stored (`MoveState`); `null`: they are open. */
  readonly closedBy: string | null
  /** Publishing to this feed, or to the whole store, waits for a new epoch (D13). */
  readonly needsEpoch: boolean
}

/** Why a feed takes no change. What was to be changed is as it was. */
export type FeedRefusal =
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The store was restored; numbers that it does not hold may have been shown (D13). `startEpoch` lifts this. */
  | { readonly kind: 'epochRequired' }
  /** The tenant is being moved to another store, or was, or is being deleted: its feeds are closed. */
  | { readonly kind: 'tenantMoving' }

/** What a change adds to the feed: an event takes a number, a hold and the like take none and wait for no epoch. */
type Addition = 'event' | 'nothing'

/** `undefined`: the feed takes the change. A feed that waits for an epoch says so, moved or not. */
export function refusalOf(row: FeedState | undefined, adds: Addition): FeedRefusal | undefined
export function refusalOf(
  row: Pick<FeedState, 'closedBy'> | undefined,
  adds: 'nothing',
): FeedRefusal | undefined
export function refusalOf(
  row: (Pick<FeedState, 'closedBy'> & Partial<FeedState>) | undefined,
  adds: Addition,
): FeedRefusal | undefined {
  if (row === undefined) return { kind: 'unknownFeed' }
  if (adds === 'event' && row.needsEpoch === true) return { kind: 'epochRequired' }
  return row.closedBy === null ? undefined : { kind: 'tenantMoving' }
}

/** Open windows are answered while the tenant is at home here, and until it is at home elsewhere: a later stamp may be in one (P3). */
export function answersOpenWindows({ closedBy }: Pick<FeedState, 'closedBy'>): boolean {
  return closedBy === null || closedBy === ('leaving' satisfies MoveState)
}

const refusals: readonly string[] = [
  'unknownFeed',
  'epochRequired',
  'tenantMoving',
] satisfies readonly FeedRefusal['kind'][]

/** Whether it was the feed that refused. Work in the background then tries again later. */
export function isFeedRefusal<Outcome extends { readonly kind: string }>(
  outcome: Outcome,
): outcome is Extract<Outcome, FeedRefusal> {
  return refusals.includes(outcome.kind)
}
