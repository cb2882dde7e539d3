/**
 * The positions of events, by their ids. Partners that are told about events read them by id, many at the same time, and a query to the
 * database costs some 100 µs whatever it asks for. So all ids requested in one turn of the event loop go in one query, and those that
 * come while it is under way go in the next.
 */
import { isUuid } from '@property-events/protocol'
import type { FeedKey } from '../../feed-key.ts'
import { smallints, uuids } from '../../../sql/postgres/array.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'

const select: Statement = {
  name: 'positions-of',
  text: `SELECT i.position
    FROM unnest($1::uuid[], $2::smallint[], $3::uuid[]) WITH ORDINALITY AS wanted (tenant, feed, id, nth)
    LEFT JOIN event_id i ON i.tenant = wanted.tenant AND i.feed = wanted.feed AND i.id = wanted.id
    ORDER BY wanted.nth`,
}

/** The longest that a look-up waits for the query under way before it makes its own: that one may hang. */
const patienceMs = 100
const mostIds = 500

interface Wanted {
  readonly key: FeedKey
  readonly id: string
  readonly resolve: (position: number | undefined) => void
  readonly reject: (error: unknown) => void
}

type FindPosition = (key: FeedKey, id: string) => Promise<number | undefined>

/** Like `EventStore.positionOf`. A failed query rejects every call that shares it. */
export function positionFinder(database: Pick<Database, 'read'>): FindPosition {
  const waiting: Wanted[] = []
  /** The query whose answer the next one waits for. */
  let awaited: object | undefined
  let asksSoon = false

  async function ask(wanted: readonly Wanted[]): Promise<void> {
    const question = {}
    awaited = question
    const goOn = (): void => {
      if (awaited !== question) return
      awaited = undefined
      askNext()
    }
    const patience = setTimeout(goOn, patienceMs)
    try {
      const rows = await database.read<{ position: string | null }>(select, [
        uuids(wanted.map(({ key }) => key.tenantId)),
        smallints(wanted.map(({ key }) => feedNumbers[key.feed])),
        uuids(wanted.map(({ id }) => id)),
      ])
      for (const [index, { resolve }] of wanted.entries()) {
        const position = rows[index]?.position
        resolve(typeof position === 'string' ? Number(position) : undefined)
      }
    } catch (error) {
      for (const { reject } of wanted) reject(error)
    } finally {
      clearTimeout(patience)
      goOn()
    }
  }

  function askNext(): void {
    asksSoon = false
    if (awaited === undefined && waiting.length > 0) void ask(waiting.splice(0, mostIds))
  }

  return (key, id) =>
    new Promise((resolve, reject) => {
      // Among the others it would make the query fail for all.
      if (!isUuid(id)) throw new TypeError(`${JSON.stringify(id)} is not a UUID`)
      waiting.push({ key, id, resolve, reject })
      if (asksSoon) return
      asksSoon = true
      setImmediate(askNext)
    })
}
