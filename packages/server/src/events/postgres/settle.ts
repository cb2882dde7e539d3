/**
 * A moment at which no stamped event of a feed is waiting for its commit (P3). One query to the database serves all reads of this node
 * that come before it is sent: a commit in the way costs one connection, not one for each client.
 */
import type { Ticks } from '@property-events/protocol'
import { StorageFailure } from '../../sql/storage-errors.ts'
import { feedName } from '../feed-key.ts'
import type { Head } from '../event-log.ts'
import type { FeedKey } from '../feed-key.ts'
import type { Reserved, TimeReservation } from '../time-reservation.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import { feedNumbers } from '../../sql/database.ts'
import { headOf } from './read/head.ts'
import type { HeadRow } from './read/head.ts'

const settle: Statement = { name: 'settled-head', text: 'SELECT * FROM settled_head($1, $2, $3)' }
const reserve: Statement = { name: 'reserve-time', text: 'SELECT moment, reserved FROM reserve_time($1)' }

/**
 * A moment of the database's clock, and the feed's head after everything stamped before that moment is visible; every later stamp is at
 * that moment or after it.
 */
interface Settled {
  readonly moment: Ticks
  readonly head: Head
}

export interface Settler {
  /** At a moment after the call. `undefined`: no such tenant. */
  settled(key: FeedKey): Promise<Settled | undefined>
  /** The latest moment at which this node has answered a window; 0 for none. */
  latestAnswered(): Ticks
}

/** One query that is under way, and the one that begins after it, for reads that came too late for the first. */
interface Queries {
  underWay: Promise<Settled | undefined>
  next: Promise<Settled | undefined> | undefined
}

/** The clock is read again after each wait for a reservation, so one that jumps ahead can pass the next reservation. */
const triesAtMost = 4

/** `floor`: replaces the database's clock, for tests. */
export function settler(
  database: Database,
  reservation: TimeReservation,
  floor: () => Ticks | undefined,
): Settler {
  const queriesOf = new Map<string, Queries>()
  let latest: Ticks = 0n

  const ask = async (key: FeedKey): Promise<Settled | undefined> => {
    for (let tries = 1; tries <= triesAtMost; tries += 1) {
      const [row] = await database.read<HeadRow & { readonly moment: string }>(settle, [
        key.tenantId,
        feedNumbers[key.feed],
        floor() ?? null,
      ])
      if (row === undefined) return undefined
      const moment = BigInt(row.moment)
      if (reservation.covers(moment)) {
        if (moment > latest) latest = moment
        return { moment, head: headOf(row) }
      }
      await reservation.renewed()
    }
    throw new StorageFailure('storage_unavailable', new Error('the clock runs ahead of what is reserved'))
  }
  const begin = (name: string, key: FeedKey): Queries => {
    const queries: Queries = { underWay: ask(key), next: undefined }
    queriesOf.set(name, queries)
    void queries.underWay
      .catch(() => undefined)
      .finally(() => {
        if (queriesOf.get(name) === queries) queriesOf.delete(name)
      })
    return queries
  }

  return {
    settled(key) {
      const name = feedName(key)
      const queries = queriesOf.get(name)
      if (queries === undefined) return begin(name, key).underWay
      // The database may already have answered the query under way: only a later one counts.
      queries.next ??= queries.underWay.catch(() => undefined).then(() => begin(name, key).underWay)
      return queries.next
    },
    latestAnswered: () => latest,
  }
}

/** Extends the store's reservation of time, if necessary. `now`: replaces the database's clock, for tests. */
export async function reserveTime(session: Session, now: Ticks | undefined): Promise<Reserved> {
  const [row] = await session.query<{ moment: string; reserved: string }>(reserve, [now ?? null])
  if (row === undefined) throw new Error('the reservation of time gave no answer')
  return { moment: BigInt(row.moment), reserved: BigInt(row.reserved) }
}
