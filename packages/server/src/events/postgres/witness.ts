/**
 * Notices that the store has lost numbers that were shown: after a restore, or after the promotion of a standby that lagged (D13). The
 * store records the history (cluster, database, table and timeline) in which numbers were last given, and `append_events` refuses to give any
 * in another one. A node vouches for the new history only if nothing can be missing.
 */
import type { Ticks } from '@property-events/protocol'
import type { ShownNumber, ShownNumbers } from '../shown-numbers.ts'
import { feedName } from '../feed-key.ts'
import type { LostNumbers } from '../epochs.ts'
import { bigints, feedLists, smallints, uuids } from '../../sql/postgres/array.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import { feedOfNumber } from '../../sql/database.ts'

export interface Witness {
  /** Checks the history of a new connection and, if it is another one, everything this node has shown. Resolves with its name. */
  meet(session: Session): Promise<string>
  /**
   * Checks what this node has shown against the store. False: numbers are missing, publishing to their feeds is stopped, and the store
   * notes which numbers a new epoch has to exceed.
   */
  check(session: Session): Promise<boolean>
  /** Whether the last check has found numbers missing. */
  finds(): boolean
  /**
   * Calls the listener with everything that is missing, at once if something is, and whenever that changes. Returns a function that stops
   * it.
   */
  onLoss(listener: (lost: readonly LostNumbers[]) => void): () => void
  /**
   * True if publishing may continue in the present history: it is the recorded one, or it follows from it with every commit replicated
   * and everything this node has shown in place.
   */
  vouch(session: Session): Promise<boolean>
}

const readHistory: Statement = {
  name: 'witness-history',
  text: `SELECT incarnation AS recorded, incarnation() AS current, replicated, needs_epoch,
      NOT EXISTS (SELECT FROM answered_until) AS unreadable
    FROM store`,
}
/**
 * The given numbers that are not in the store, or belong to another event. Numbers up to the start of a feed's epoch belong to earlier
 * epochs: their losses were dealt with when the present one began, and a restore that loses one of them since loses that beginning as
 * well. If a feed does not exist at all, everything is lost, unless its tenant was deleted, or is being deleted.
 */
const findLosses: Statement = {
  name: 'witness-losses',
  text: `SELECT shown.tenant, shown.feed, shown.number, coalesce(f.last_sequence, f.number_offset, 0) AS held,
      coalesce(f.epoch_start, first_offset) AS epoch_start
    FROM store CROSS JOIN unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::bigint[]) AS shown (tenant, feed, number, created)
    LEFT JOIN feed f ON f.tenant = shown.tenant AND f.feed = shown.feed
    LEFT JOIN event e ON e.tenant = shown.tenant AND e.feed = shown.feed
      AND e.position = position_at(shown.tenant, shown.feed, shown.number)
      AND e.sequence = shown.number AND e.created = coalesce(shown.created, e.created)
    WHERE e.position IS NULL AND shown.number > coalesce(f.epoch_start, first_offset)
      AND NOT EXISTS (SELECT FROM tenant_deletion d
        WHERE d.tenant = shown.tenant AND (d.state <> 'deleted' OR f.tenant IS NULL))`,
}
/** The numbers that a new epoch has to exceed. */
const noteLosses: Statement = {
  name: 'witness-note-losses',
  text: `INSERT INTO lost_number AS known (tenant, feed, number)
    SELECT tenant, feed, number FROM unnest($1::uuid[], $2::smallint[], $3::bigint[]) AS lost (tenant, feed, number)
    ORDER BY tenant, feed
    ON CONFLICT (tenant, feed) DO UPDATE SET number = excluded.number WHERE excluded.number > known.number`,
}
/** Unless a new epoch has begun there since the loss was found. In key order, in which every session takes counters. */
const stopFeeds: Statement = {
  name: 'witness-stop-feeds',
  text: `WITH held AS (
      SELECT f.tenant, f.feed FROM feed f
      JOIN unnest($1::uuid[], $2::smallint[], $3::bigint[]) AS lost (tenant, feed, epoch_start)
        ON f.tenant = lost.tenant AND f.feed = lost.feed
      WHERE NOT f.needs_epoch AND coalesce(f.epoch_start, (SELECT first_offset FROM store)) = lost.epoch_start
      ORDER BY f.tenant, f.feed FOR NO KEY UPDATE OF f
    )
    UPDATE feed f SET needs_epoch = true FROM held WHERE f.tenant = held.tenant AND f.feed = held.feed`,
}
const stop: Statement = {
  name: 'witness-stop',
  text: 'UPDATE store SET needs_epoch = true WHERE NOT needs_epoch',
}
const accept: Statement = {
  name: 'witness-accept',
  text: 'UPDATE store SET incarnation = $2 WHERE incarnation = $1 AND NOT needs_epoch',
}
const mendAnsweredUntil: Statement = { name: 'witness-mend', text: 'SELECT mend_answered_until()' }
/** The time up to which this node has answered windows. The reservation is after it, unless the promoted standby lagged. */
const raiseFloor: Statement = { name: 'witness-raise-floor', text: 'SELECT raise_floor($1)' }
/** If files were put back with the sequence in them, it may be older than the reservation. */
export const raiseFloorToReservation: Statement = {
  name: 'raise-floor-to-reservation',
  text: 'SELECT raise_floor(until) FROM time_reservation',
}

/** The time up to which this node has answered windows (P3). */
interface AnsweredTime {
  /** The latest moment at which it has answered one. */
  latestAnswered(): Ticks
  /** The store may not hold the reservation. */
  historyChanged(): void
}

interface History {
  readonly recorded: string
  readonly current: string
  readonly replicated: boolean
  readonly needs_epoch: boolean
  readonly unreadable: boolean
}

interface LossRow {
  readonly tenant: string
  readonly feed: number
  readonly number: string
  readonly held: string
  readonly epoch_start: string
}

const numbersPerQuestion = 5_000

export function witness(shown: ShownNumbers, time: AnsweredTime): Witness {
  /** Histories that this process has been connected to. */
  const lived = new Set<string>()
  let latest: string | undefined

  let reported: readonly LostNumbers[] = []
  const listeners = new Set<(lost: readonly LostNumbers[]) => void>()

  const report = (lost: readonly LostNumbers[]): void => {
    if (lostText(lost) === lostText(reported)) return
    reported = lost
    for (const listener of listeners) listener(lost)
  }

  const isWhole = async (session: Session): Promise<boolean> => {
    const all = shown.all()
    const lost: LossRow[] = []
    for (let from = 0; from < all.length; from += numbersPerQuestion) {
      lost.push(...(await lossesAmong(session, all.slice(from, from + numbersPerQuestion))))
    }
    if (lost.length > 0) {
      const feeds = [uuids(lost.map(({ tenant }) => tenant)), smallints(lost.map(({ feed }) => feed))]
      await session.query(noteLosses, [...feeds, bigints(lost.map(({ number }) => BigInt(number)))])
      await session.query(stopFeeds, [...feeds, bigints(lost.map(({ epoch_start }) => BigInt(epoch_start)))])
    }
    report(lost.map(lostNumbers))
    return lost.length === 0
  }

  return {
    async meet(session) {
      const history = await historyOf(session)
      if (placeOf(history.current) !== placeOf(history.recorded) && !history.needs_epoch) {
        // A logical restore, beside the first database too, or an upgrade into a new cluster: it lacks the numbers given since the copy was made.
        await session.query(stop, [])
      }
      if (history.unreadable) await session.query(mendAnsweredUntil, [])
      if (latest !== undefined && latest !== history.current) {
        time.historyChanged()
        await session.query(raiseFloor, [time.latestAnswered()])
        await isWhole(session)
      }
      latest = history.current
      lived.add(history.current)
      return history.current
    },
    check: isWhole,
    finds: () => reported.length > 0,
    onLoss(listener) {
      listeners.add(listener)
      if (reported.length > 0) listener(reported)
      return () => void listeners.delete(listener)
    },
    async vouch(session) {
      const { recorded, current, replicated, needs_epoch } = await historyOf(session)
      if (needs_epoch) return false
      if (recorded === current) return true
      const follows = placeOf(recorded) === placeOf(current) && replicated && lived.has(recorded)
      if (!follows || !(await isWhole(session))) return false
      await session.query(raiseFloorToReservation, [])
      await session.query(accept, [recorded, current])
      return true
    },
  }
}

async function historyOf(session: Session): Promise<History> {
  const [history] = await session.query<History & Record<string, unknown>>(readHistory, [])
  if (history === undefined) throw new Error('the store has no settings')
  return history
}

async function lossesAmong(session: Session, shown: readonly ShownNumber[]): Promise<readonly LossRow[]> {
  return session.query<LossRow & Record<string, unknown>>(findLosses, [
    ...feedLists(shown.map(({ key }) => key)),
    bigints(shown.map(({ sequenceNumber }) => sequenceNumber)),
    bigints(shown.map(({ created }) => created ?? null)),
  ])
}

function lostNumbers({ tenant, feed, number, held }: LossRow): LostNumbers {
  const key = { tenantId: tenant, feed: feedOfNumber(feed, 'feed') }
  return { key, shownNumber: Number(number), heldNumber: Number(held) }
}

function lostText(lost: readonly LostNumbers[]): string {
  return lost.map(({ key, shownNumber }) => `${feedName(key)} ${shownNumber}`).join()
}

function placeOf(incarnation: string): string {
  return incarnation.split('/')[0] ?? ''
}
