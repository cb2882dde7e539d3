/** Locates in windows that are still open (P3): they are read once nothing stamped waits for its commit. */
import { isOpenWindow } from '../../time-reservation.ts'
import type { ShownNumbers } from '../../shown-numbers.ts'
import type { LocateQuery, Located } from '../../event-log.ts'
import { readsOf } from '../../../sql/postgres/connection.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import { locate } from './locate.ts'
import type { Settler } from '../settle.ts'
import type { Witness } from '../witness.ts'

interface OpenWindowParts {
  readonly shown: ShownNumbers
  readonly history: Pick<Witness, 'check'>
  readonly settle: Settler
}

/**
 * Like `EventStore.locate`: an open window is read once nothing stamped waits for its commit (P3). A head below what this node had
 * already shown reveals a loss, of now or of an earlier epoch (D13).
 */
export function openWindowLocator(
  database: Database,
  { shown, history, settle }: OpenWindowParts,
): (query: LocateQuery) => Promise<Located | undefined> {
  const locateNow = async (query: LocateQuery): Promise<Located | undefined> => {
    const before = shown.highest(query.key)
    const located = await locate(readsOf(database, query.key), query)
    if (located === undefined || located.head.sequenceNumber >= before) return located
    const isWhole = await database.write((session) => history.check(session))
    // It belonged to an epoch that is over, and was lost with it.
    if (isWhole) shown.forget(query.key, before)
    return located
  }

  return async (query) => {
    // A window without an end is open, so there is no need to read the feed.
    const isEndless = query.from !== undefined && query.to === undefined
    if (!isEndless) {
      const located = await locateNow(query)
      if (located === undefined || !isOpenWindow(query, located)) return located
    }
    const settled = await settle.settled(query.key)
    const located = await locateNow(query)
    return located && { ...located, settled }
  }
}
