/**
 * Notices that the store has lost numbers that were shown: after a restore, or after the promotion of a standby that
 * lagged (D13). The store records the history (system identifier and timeline) that numbers were last given in, and
 * `append_events_2` refuses to give any in another one. A node stands up for the new history only if nothing can be missing.
 */
import type { Ticks } from '@property-events/protocol'
import type { ShownNumber, ShownNumbers } from '../shown-numbers.ts'
import { bigints, smallints, uuids } from './array.ts'
import type { Session, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

export interface Witness {
  /**
   * Looks at the history a new connection leads to, and at everything this node has shown if it is another one. Resolves
   * with its name.
   */
  meet(session: Session): Promise<string>
  /** Checks what this node has shown against the store, and stops publishing if a number is missing: then false. */
  check(session: Session): Promise<boolean>
  /**
   * True when publishing may go on in the present history: it is the recorded one, or it follows from it with every
   * commit replicated and everything this node has shown in place.
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
 * `lost`: one of the given numbers is not in the store, or stands for another event. Numbers up to `first_offset` are of
 * earlier epochs: what was lost of them was dealt with when the present one began, and whatever loses one of them since
 * loses that beginning as well.
 */
const findLoss: Statement = {
  name: 'witness-loss',
  text: `SELECT first_offset, EXISTS (
      SELECT FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::bigint[]) AS shown (tenant, feed, number, created)
      LEFT JOIN event e ON e.tenant = shown.tenant AND e.feed = shown.feed
        AND e.position = position_at(shown.tenant, shown.feed, shown.number)
        AND e.sequence = shown.number AND e.created = coalesce(shown.created, e.created)
      WHERE e.position IS NULL AND shown.number > first_offset
    ) AS lost FROM store`,
}
const stop: Statement = {
  name: 'witness-stop',
  text: 'UPDATE store SET needs_epoch = true WHERE NOT needs_epoch',
}
/** Unless a new epoch has begun since the loss was found. */
const stopInEpoch: Statement = {
  name: 'witness-stop-in-epoch',
  text: 'UPDATE store SET needs_epoch = true WHERE NOT needs_epoch AND first_offset = $1',
}
const accept: Statement = {
  name: 'witness-accept',
  text: 'UPDATE store SET incarnation = $2 WHERE incarnation = $1 AND NOT needs_epoch',
}
const mendAnsweredUntil: Statement = { name: 'witness-mend', text: 'SELECT mend_answered_until()' }
/** What this node has answered windows up to. The reservation lies after it, unless the standby that was promoted lagged. */
const raiseFloor: Statement = { name: 'witness-raise-floor', text: 'SELECT raise_floor($1)' }
/** Where files were put back with the sequence in them, it may be older than the reservation. */
export const raiseFloorToReservation: Statement = {
  name: 'raise-floor-to-reservation',
  text: 'SELECT raise_floor(until) FROM time_reservation',
}

/** What this node has answered windows by (P3). */
export interface AnsweredTime {
  /** The latest moment at which it has answered one. */
  latestAnswered(): Ticks
  /** The store may not hold what was reserved. */
  historyChanged(): void
}

interface History {
  readonly recorded: string
  readonly current: string
  readonly replicated: boolean
  readonly needs_epoch: boolean
  readonly unreadable: boolean
}

interface Loss {
  readonly lost: boolean
  readonly first_offset: string
}

const numbersPerQuestion = 5_000

export function witness(shown: ShownNumbers, time: AnsweredTime): Witness {
  /** Histories this process has been connected to. */
  const lived = new Set<string>()
  let latest: string | undefined

  const isWhole = async (session: Session): Promise<boolean> => {
    const all = shown.all()
    for (let from = 0; from < all.length; from += numbersPerQuestion) {
      const { lost, first_offset } = await lossAmong(session, all.slice(from, from + numbersPerQuestion))
      if (!lost) continue
      await session.query(stopInEpoch, [first_offset])
      return false
    }
    return true
  }

  return {
    async meet(session) {
      const history = await historyOf(session)
      if (systemOf(history.current) !== systemOf(history.recorded) && !history.needs_epoch) {
        // A logical restore, or an upgrade into a new cluster: numbers given since the copy was made are not in it.
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
    async vouch(session) {
      const { recorded, current, replicated, needs_epoch } = await historyOf(session)
      if (needs_epoch) return false
      if (recorded === current) return true
      const follows = systemOf(recorded) === systemOf(current) && replicated && lived.has(recorded)
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

async function lossAmong(session: Session, shown: readonly ShownNumber[]): Promise<Loss> {
  const [loss] = await session.query<Loss & Record<string, unknown>>(findLoss, [
    uuids(shown.map(({ key }) => key.tenantId)),
    smallints(shown.map(({ key }) => feedNumbers[key.feed])),
    bigints(shown.map(({ sequenceNumber }) => sequenceNumber)),
    bigints(shown.map(({ created }) => created ?? null)),
  ])
  if (loss === undefined) throw new Error('the store has no settings')
  return loss
}

function systemOf(incarnation: string): string {
  return incarnation.split('/')[0] ?? ''
}
