import type { Connection } from '../connection.ts'
import type { FeedName } from '../wire.ts'
import type { SyncOptions } from './options.ts'
import type { Session } from './session.ts'

export interface CaughtUp<F extends FeedName> {
  readonly connection: Connection
  readonly session: Session
  readonly options: SyncOptions<F>
}

/**
 * Everything that the feed had is in the copy, and the checkpoint is kept. The one place for what follows from that, whichever way the
 * feed was read. An error ends the sync.
 */
export async function afterCatchingUp<F extends FeedName>({ options }: CaughtUp<F>): Promise<void> {
  await options.onCaughtUp?.()
}
