import type { Connection } from '../connection.ts'
import type { FeedName } from '../wire.ts'
import { sayApplied } from './acknowledging.ts'
import type { SyncOptions } from './options.ts'
import type { Session } from './session.ts'

export interface CaughtUp<F extends FeedName> {
  readonly connection: Connection
  readonly session: Session
  readonly options: SyncOptions<F>
}

/**
 * Everything that the feed had is in the copy, and the checkpoint is kept. Everything that follows from that happens here, whichever way
 * the feed was read. An error of the caller ends the sync; a failed acknowledgement does not.
 */
export async function afterCatchingUp<F extends FeedName>({
  connection,
  session,
  options,
}: CaughtUp<F>): Promise<void> {
  await options.onCaughtUp?.()
  const { applied } = session
  if (applied === undefined || !mayAcknowledge(connection, options)) return
  const isFollowing = options.follow !== undefined && options.follow !== false
  const saying = sayApplied(connection, applied, { isFollowing, signal: options.signal })
  // A late answer must not hold up the next event.
  if (!isFollowing) await saying
}

/**
 * An acknowledgement covers all categories. Without a name, another sync with the same key may be reading another category, and be less
 * far.
 */
function mayAcknowledge<F extends FeedName>(
  { consumer }: Connection,
  { acknowledge, apiEventType, isStored }: SyncOptions<F>,
): boolean {
  if (acknowledge === false || (apiEventType !== undefined && consumer === undefined)) return false
  return isStored?.() !== false
}
