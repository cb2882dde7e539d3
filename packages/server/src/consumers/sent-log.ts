/**
 * When each number was first sent to a consumer: a row for numbers side by side that were first sent in the same minute and by the same
 * route. The rows of a part never overlap, and the order in which nodes add does not matter. What was sent before the oldest minute that
 * is kept is not recorded.
 */
import { feedNumbers, removal, rowsFrom, statement } from '../sql/database.ts'
import type { StoreAccess, Transaction } from '../sql/database.ts'
import { joinRanges, withoutRanges } from '../runtime/number-ranges.ts'
import type { NumberRange } from '../runtime/number-ranges.ts'
import type { ConsumerName, ConsumerStore, NewRead, ReadPart, ReadRoute, SentRange } from './consumer.ts'
import { consumer, consumerOf, givenConsumer, givenPart, ofConsumer, ofPart, part } from './consumer-rows.ts'
import { placeOf, placeOfPart, textOf } from './consumer-rows.ts'
import type { ConsumerRow } from './consumer-rows.ts'

const columns = `${part}, low`
const partOf = (table: string): string => part.replaceAll(/\w+/gu, (name) => `${table}.${name}`)
const isOfPart = `(${partOf('s')}) = (${ofPart})`
/** Where the row of the part begins that is the last to begin at or before a number. */
const lastUpTo = (number: string): string =>
  `(SELECT max(b.low) FROM consumer_sent AS b WHERE (${partOf('b')}) = (${ofPart}) AND b.low <= ${number})`
const givenRange = { ...givenPart, of_low: 'bigint', of_high: 'bigint' } as const

/** Rows never overlap, so at most one of those that begin before a range reaches it. */
const touching = statement<SentRow>(
  'consumer-sent-touching',
  (dialect) => `SELECT s.* FROM ${rowsFrom('$1', givenRange)(dialect)} CROSS JOIN consumer_sent AS s
    WHERE ${isOfPart} AND s.low >= coalesce(${lastUpTo('of_low')}, of_low) AND s.low <= of_high + 1 AND s.high >= of_low - 1`,
)
const since = statement<SentRow>(
  'consumer-sent-since',
  (
    dialect,
  ) => `SELECT s.* FROM ${rowsFrom('$1', { ...givenRange, of_minute: 'integer' })(dialect)} CROSS JOIN consumer_sent AS s
    WHERE ${isOfPart} AND s.minute >= of_minute AND s.low <= of_high + 1 AND s.high >= of_low - 1`,
)
const remove = statement(
  'consumer-sent-remove',
  (dialect) => `DELETE FROM consumer_sent WHERE (${columns}) IN (
    SELECT ${ofPart}, of_low FROM ${rowsFrom('$1', { ...givenPart, of_low: 'bigint' })(dialect)})`,
)
const put = statement(
  'consumer-sent-put',
  (dialect) => `INSERT INTO consumer_sent (${columns}, high, minute, route)
    SELECT ${ofPart}, of_low, of_high, of_minute, of_route
    FROM ${rowsFrom('$1', { ...givenRange, of_minute: 'integer', of_route: 'text' })(dialect)}
    ORDER BY ${ofPart}, of_low`,
)
const first = statement<SentRow & { readonly of_at: number }>(
  'consumer-first-sent',
  (
    dialect,
  ) => `SELECT of_at, s.* FROM ${rowsFrom('$1', { ...givenPart, of_at: 'integer', of_number: 'bigint' })(dialect)}
    CROSS JOIN consumer_sent AS s WHERE ${isOfPart} AND s.low = ${lastUpTo('of_number')} AND s.high >= of_number`,
)
const after = statement<SentRow>(
  'consumer-sent-after',
  `SELECT * FROM consumer_sent WHERE (${consumer}) = ($1, $2, $3, $4) AND (view, space, epoch, low) > ($5, $6, $7, $8)
    ORDER BY ${columns} LIMIT $9`,
)

/** The most rows that one call removes because of their age: some milliseconds of SQLite's writer. */
export const oldRowsAtOnce = 5_000
const removeOld = statement(
  'consumer-sent-remove-old',
  removal('consumer_sent', columns, `minute < $1 LIMIT ${oldRowsAtOnce}`, 'minute'),
)
/** The newest minute of which a consumer has a row too many; NULL: of none. */
const surplus = statement<ConsumerRow & { readonly minute: number | null }>(
  'consumer-sent-surplus',
  (dialect) => `SELECT of_tenant AS tenant, of_feed AS feed, of_key AS key_id, of_name AS name, (
      SELECT s.minute FROM consumer_sent AS s WHERE (s.tenant, s.feed, s.key_id, s.name) = (${ofConsumer})
      ORDER BY s.minute DESC LIMIT 1 OFFSET $2) AS minute
    FROM ${rowsFrom('$1', givenConsumer)(dialect)}`,
)
const removeThrough = statement(
  'consumer-sent-remove-through',
  removal('consumer_sent', columns, `(${consumer}) = ($1, $2, $3, $4) AND minute <= $5`, 'minute'),
)

/** Numbers that were sent in a minute by a route. */
interface Sending {
  readonly minute: number
  readonly route: ReadRoute
  readonly ranges: readonly NumberRange[]
}

/** What is added to a part, with what it was sent before. */
interface PartSendings {
  readonly of: ConsumerName & ReadPart
  readonly before: readonly NumberRange[]
  readonly sendings: readonly Sending[]
}

/**
 * Enters what was sent for the first time. `before`: what each of the readings had been sent already, so that a consumer that reads
 * everything again looks nothing up; where that has left something out (`mostRanges`), the log is asked. Whoever calls has the
 * consumers' locks.
 */
export async function addSent(
  tx: Transaction,
  noted: readonly NewRead[],
  before: (reading: NewRead) => readonly NumberRange[],
): Promise<void> {
  const parts = new Map<string, PartSendings>()
  for (const reading of noted) {
    const text = textOf(placeOfPart(reading))
    const sendings = [...(parts.get(text)?.sendings ?? []), ...reading.minutes]
    if (sendings.length > 0) parts.set(text, { of: reading, before: before(reading), sendings })
  }
  if (parts.size === 0) return
  const held = Map.groupBy(await rowsHeld(tx, [...parts.values()]), (row) =>
    textOf(placeOfPart({ ...row, ...consumerOf(row) })),
  )
  const [gone, come] = [[] as object[], [] as object[]]
  for (const [text, added] of parts) {
    const rows = held.get(text) ?? []
    const old = new Map(rows.map((row) => [`${row.low} ${row.high} ${row.minute} ${row.route}`, row.low]))
    for (const { minute, route, ranges } of firstSendings(added, rows)) {
      for (const [low, high] of ranges) {
        if (old.delete(`${low} ${high} ${minute} ${route}`)) continue
        come.push({
          ...placeOfPart(added.of),
          of_low: low,
          of_high: high,
          of_minute: minute,
          of_route: route,
        })
      }
    }
    for (const low of old.values()) gone.push({ ...placeOfPart(added.of), of_low: low })
  }
  if (gone.length > 0) await tx.rows(remove(JSON.stringify(gone)))
  if (come.length > 0) await tx.rows(put(JSON.stringify(come)))
}

/** Rows that can change or join: those at numbers that are new, and those of the same minute or a later one. */
async function rowsHeld(tx: Transaction, parts: readonly PartSendings[]): Promise<readonly SentRow[]> {
  const fresh = parts.flatMap(({ of, before, sendings }) =>
    withoutRanges(allOf(sendings), before).map(([low, high]) => {
      return { ...placeOfPart(of), of_low: low, of_high: high }
    }),
  )
  const minutes = parts.map(({ of, sendings }) => {
    const all = allOf(sendings)
    const bounds = { of_low: all[0]?.[0] ?? 0, of_high: all.at(-1)?.[1] ?? 0 }
    return { ...placeOfPart(of), ...bounds, of_minute: Math.min(...sendings.map(({ minute }) => minute)) }
  })
  const found = new Map<string, SentRow>()
  const rows = [
    ...(await tx.rows(since(JSON.stringify(minutes)))),
    ...(fresh.length === 0 ? [] : await tx.rows(touching(JSON.stringify(fresh)))),
  ]
  for (const row of rows) found.set(`${textOf(placeOfPart({ ...row, ...consumerOf(row) }))} ${row.low}`, row)
  return [...found.values()]
}

/** For numbers that are new, and those of the rows: the first sending of each, by the minute, and within one by the name of the route. */
function firstSendings({ before, sendings }: PartSendings, rows: readonly SentRow[]): readonly Sending[] {
  const held = rows.map(({ minute, route, low, high }): Sending => {
    return { minute, route, ranges: [[low, high]] }
  })
  // Numbers that were sent before, without a row, were first sent at a time that is not recorded.
  const unknown = withoutRanges(before, allOf(held))
  const all = [...held, ...sendings.map((one) => ({ ...one, ranges: withoutRanges(one.ranges, unknown) }))]
  const byMinute = Map.groupBy(all, ({ minute, route }) => `${String(minute).padStart(10, '0')} ${route}`)
  let taken: readonly NumberRange[] = []
  const found: Sending[] = []
  for (const [, same] of [...byMinute].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const [sending] = same
    if (sending === undefined) continue
    const ranges = withoutRanges(allOf(same), taken)
    taken = joinRanges(taken, ranges)
    found.push({ ...sending, ranges })
  }
  return found
}

function allOf(sendings: readonly Sending[]): readonly NumberRange[] {
  return joinRanges(
    [],
    sendings.flatMap(({ ranges }) => ranges),
  )
}

/** Removes rows of earlier minutes, and what some consumers have too many of. Returns whether more may be old. */
export async function removeOldSent(
  tx: Transaction,
  beforeMinute: number,
  consumers: readonly ConsumerName[],
  mostRows: number,
): Promise<boolean> {
  const old = await tx.rows(removeOld(beforeMinute))
  for (const row of await tx.rows(surplus(JSON.stringify(consumers.map(placeOf)), mostRows))) {
    if (row.minute !== null)
      await tx.rows(removeThrough(row.tenant, row.feed, row.key_id, row.name, row.minute))
  }
  return old.length === oldRowsAtOnce
}

export function sentLog({ read }: StoreAccess): Pick<ConsumerStore, 'firstSent' | 'sentAfter'> {
  return {
    async firstSent(searches) {
      const rows = searches.map(({ number, ...of }, at) => {
        return { ...placeOfPart(of), of_at: at, of_number: number }
      })
      const found = new Map(
        (await read.rows(first(JSON.stringify(rows)))).map((row) => [row.of_at, sentRangeOf(row)]),
      )
      return searches.map((_, at) => found.get(at))
    },
    async sentAfter({ key, keyId, name }, from, limit) {
      const { view = '', space = '', epoch = '', range: [low] = [0] } = from ?? {}
      const of = [key.tenantId, feedNumbers[key.feed], keyId, name] as const
      return (await read.rows(after(...of, view, space, epoch, low, limit))).map(sentRangeOf)
    },
  }
}

interface SentRow extends ConsumerRow, ReadPart {
  readonly low: number
  readonly high: number
  readonly minute: number
  readonly route: ReadRoute
}

function sentRangeOf({ view, space, epoch, low, high, minute, route }: SentRow): SentRange {
  return { view, space, epoch, range: [low, high], minute, route }
}
