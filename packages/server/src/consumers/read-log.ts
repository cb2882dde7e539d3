/** Which consumers there are, and what each was sent, in a database. */
import { defineWrite, feedNumbers, feedOfNumber, noteLockWaitMs } from '../sql/database.ts'
import { removal, rowsFrom, statement } from '../sql/database.ts'
import type { StoreAccess, Transaction } from '../sql/database.ts'
import { defaultConsumer, joinedRead, namedConsumersPerFeed } from './consumer.ts'
import type { ConsumerName, ConsumerStore, StoredRead, NewRead } from './consumer.ts'
import type { ReadPart, ReadRoute, SentMinute, TidyRequest } from './consumer.ts'
import { removeOldResultChanges } from './result-log.ts'
import { joinRanges, rangesOf } from '../runtime/number-ranges.ts'

const consumer = 'tenant, feed, key_id, name'
const part = `${consumer}, view, space, epoch`
const minute = `${consumer}, minute, view, space, epoch, route`
/** Columns of rows that are given have names of their own: the statements also name the tables' columns. */
export const givenConsumer = {
  of_tenant: 'uuid',
  of_feed: 'integer',
  of_key: 'text',
  of_name: 'text',
} as const
const ofConsumer = Object.keys(givenConsumer).join(', ')
const givenPart = { ...givenConsumer, of_view: 'text', of_space: 'text', of_epoch: 'text' } as const
const ofPart = Object.keys(givenPart).join(', ')

/** In the order of the key, so that two nodes that add the same consumers never wait in a circle. Most are there already. */
const register = statement(
  'consumer-register',
  (dialect) => `INSERT INTO consumer (${consumer})
    SELECT ${ofConsumer} FROM (
      SELECT ${ofConsumer}, row_number() OVER (PARTITION BY of_tenant, of_feed, of_name = '${defaultConsumer}') AS place
      FROM ${rowsFrom('$1', givenConsumer)(dialect)}
      WHERE NOT EXISTS (SELECT 1 FROM consumer WHERE (${consumer}) = (${ofConsumer}))
    ) AS fresh
    WHERE of_name = '${defaultConsumer}' OR place <= ${namedConsumersPerFeed} - (SELECT count(*) FROM consumer
      WHERE tenant = of_tenant AND feed = of_feed AND name <> '${defaultConsumer}')
    ORDER BY ${ofConsumer}
    ON CONFLICT (${consumer}) DO NOTHING`,
)
const lock = statement<ConsumerRow>(
  'consumer-lock',
  (dialect) => `SELECT c.tenant, c.feed, c.key_id, c.name
    FROM ${rowsFrom('$1', givenConsumer)(dialect)} CROSS JOIN consumer AS c
    WHERE (c.tenant, c.feed, c.key_id, c.name) = (${ofConsumer})
    ORDER BY c.tenant, c.feed, c.key_id, c.name FOR UPDATE`,
)

const viewsGiven = statement<ViewRow>(
  'consumer-views-given',
  (dialect) => `SELECT v.* FROM ${rowsFrom('$1', givenPart)(dialect)} CROSS JOIN consumer_view AS v
    WHERE (v.tenant, v.feed, v.key_id, v.name, v.view, v.space, v.epoch) = (${ofPart})`,
)
const viewColumns = 'ranges, asked_ms, quiet_ms, status, route'
const putViews = statement(
  'consumer-put-views',
  (dialect) => `INSERT INTO consumer_view (${part}, ${viewColumns})
    SELECT ${ofPart}, ${viewColumns} FROM ${rowsFrom('$1', {
      ...givenPart,
      ranges: 'text',
      asked_ms: 'bigint',
      quiet_ms: 'bigint',
      status: 'integer',
      route: 'text',
    })(dialect)}
    ORDER BY ${ofPart}
    ON CONFLICT (${part}) DO UPDATE SET ranges = excluded.ranges, asked_ms = excluded.asked_ms,
      quiet_ms = excluded.quiet_ms, status = excluded.status, route = excluded.route`,
)

const givenMinute = { ...givenPart, of_minute: 'integer', of_route: 'text' } as const
const ofMinute = `${ofConsumer}, of_minute, of_view, of_space, of_epoch, of_route`
const minutesGiven = statement<MinuteRow>(
  'consumer-minutes-given',
  (dialect) => `SELECT s.* FROM ${rowsFrom('$1', givenMinute)(dialect)} CROSS JOIN consumer_sent AS s
    WHERE (s.tenant, s.feed, s.key_id, s.name, s.minute, s.view, s.space, s.epoch, s.route) = (${ofMinute})`,
)
const putMinutes = statement(
  'consumer-put-minutes',
  (dialect) => `INSERT INTO consumer_sent (${minute}, low, high, ranges)
    SELECT ${ofMinute}, low, high, ranges
    FROM ${rowsFrom('$1', { ...givenMinute, low: 'bigint', high: 'bigint', ranges: 'text' })(dialect)}
    ORDER BY ${ofMinute}
    ON CONFLICT (${minute}) DO UPDATE SET low = excluded.low, high = excluded.high, ranges = excluded.ranges`,
)

const readings = statement<ViewRow>(
  'consumer-readings',
  `SELECT * FROM consumer_view WHERE tenant = $1 AND feed = $2 ORDER BY key_id, name, view, space, epoch`,
)
const minutes = statement<MinuteRow>(
  'consumer-minutes',
  `SELECT * FROM consumer_sent WHERE (${consumer}) = ($1, $2, $3, $4) ORDER BY minute, view, space, epoch, route`,
)
/** Bounds first: the ranges of a row are read only if they may hold the number. The databases read JSON by other functions. */
const firstSent = statement<MinuteRow>(
  'consumer-first-sent',
  (dialect) => `SELECT * FROM (
      SELECT key_id, name, minute, route, row_number() OVER (PARTITION BY key_id, name ORDER BY minute, route) AS place
      FROM consumer_sent
      WHERE tenant = $1 AND feed = $2 AND view = $3 AND space = $4 AND epoch = $5 AND minute >= $6
        AND low <= $7 AND high >= $7 AND EXISTS (
          SELECT 1 FROM ${dialect === 'sqlite' ? 'json_each(ranges)' : 'json_array_elements(ranges::json) AS value'}
          WHERE CAST(value ->> 0 AS bigint) <= $7 AND CAST(value ->> 1 AS bigint) >= $7)
    ) AS sent WHERE place = 1 ORDER BY key_id, name`,
)

/** The most rows that one call removes because of their age: some milliseconds of SQLite's writer. */
const oldRowsAtOnce = 5_000
const removeOld = statement(
  'consumer-remove-old',
  removal('consumer_sent', minute, `minute < $1 LIMIT ${oldRowsAtOnce}`, 'minute'),
)
/** The newest minute of which a consumer has a row too many; NULL: of none. */
const surplus = statement<ConsumerRow & { readonly minute: number | null }>(
  'consumer-surplus',
  (dialect) => `SELECT of_tenant AS tenant, of_feed AS feed, of_key AS key_id, of_name AS name, (
      SELECT s.minute FROM consumer_sent AS s WHERE (s.tenant, s.feed, s.key_id, s.name) = (${ofConsumer})
      ORDER BY s.minute DESC LIMIT 1 OFFSET $2) AS minute
    FROM ${rowsFrom('$1', givenConsumer)(dialect)}`,
)
const removeThrough = statement(
  'consumer-remove-through',
  removal('consumer_sent', minute, `(${consumer}) = ($1, $2, $3, $4) AND minute <= $5`, 'minute'),
)

/**
 * Enters consumers that are not there yet, as long as their feed has room for their names, and locks them all. Returns a test of which are
 * there. Whoever changes rows of a consumer has its lock, so that nothing is lost that two nodes add at once.
 */
export async function lockConsumers(
  tx: Transaction,
  consumers: readonly ConsumerName[],
): Promise<(name: ConsumerName) => boolean> {
  const given = new Map(consumers.map((one) => [consumerText(one), placeOf(one)]))
  const rows = JSON.stringify([...given.values()])
  await tx.rows(register(rows))
  const known = new Set((await tx.rows(lock(rows))).map((row) => consumerText(consumerOf(row))))
  return (one) => known.has(consumerText(one))
}

const addReadings = defineWrite(
  'consumer-add',
  async (tx, noted: readonly NewRead[]): Promise<void> => {
    const known = noted.filter(await lockConsumers(tx, noted))
    await joinViews(tx, known)
    await joinMinutes(tx, known)
  },
  { lockWaitMs: noteLockWaitMs },
)

async function joinViews(tx: Transaction, noted: readonly NewRead[]): Promise<void> {
  const kept = new Map<string, StoredRead>()
  for (const row of await tx.rows(viewsGiven(JSON.stringify(noted.map(placeOfPart))))) {
    const reading = storedReadOf(row)
    kept.set(textOf(placeOfPart(reading)), reading)
  }
  for (const reading of noted) {
    const text = textOf(placeOfPart(reading))
    kept.set(text, joinedRead(kept.get(text), reading))
  }
  const rows = [...kept.values()].map(({ ranges, askedMs, quietMs, status, route, ...name }) => {
    const row = { ranges: JSON.stringify(ranges), asked_ms: askedMs, quiet_ms: quietMs, status, route }
    return { ...placeOfPart(name), ...row }
  })
  await tx.rows(putViews(JSON.stringify(rows)))
}

async function joinMinutes(tx: Transaction, noted: readonly NewRead[]): Promise<void> {
  const sent = noted.flatMap((reading) =>
    reading.minutes.map(({ ranges, ...at }) => ({ place: placeOfMinute(reading, at), ranges })),
  )
  if (sent.length === 0) return
  const kept = new Map<string, string>()
  for (const row of await tx.rows(minutesGiven(JSON.stringify(sent.map(({ place }) => place))))) {
    kept.set(textOf(placeOfMinute({ ...row, ...consumerOf(row) }, row)), row.ranges)
  }
  const changed = new Map<string, object>()
  for (const { place, ranges: added } of sent) {
    const text = textOf(place)
    const before = kept.get(text)
    const joined = joinRanges(before === undefined ? [] : rangesOf(before), added)
    const ranges = JSON.stringify(joined)
    if (ranges === before) continue
    kept.set(text, ranges)
    changed.set(text, { ...place, low: joined[0]?.[0] ?? 0, high: joined.at(-1)?.[1] ?? 0, ranges })
  }
  if (changed.size > 0) await tx.rows(putMinutes(JSON.stringify([...changed.values()])))
}

const tidyReads = defineWrite('consumer-tidy', async (tx, request: TidyRequest): Promise<void> => {
  await tx.rows(removeOld(request.beforeMinute))
  await removeOldResultChanges(tx, request.resultsBeforeMs)
  const rows = await tx.rows(surplus(JSON.stringify(request.consumers.map(placeOf)), request.mostRows))
  for (const row of rows) {
    if (row.minute !== null)
      await tx.rows(removeThrough(row.tenant, row.feed, row.key_id, row.name, row.minute))
  }
})

export function readLog({
  read,
  write,
}: StoreAccess): Pick<ConsumerStore, 'add' | 'readings' | 'firstSent' | 'sentMinutes' | 'tidy'> {
  return {
    add: (noted) => write(addReadings, noted),
    tidy: (request) => write(tidyReads, request),
    readings: async ({ tenantId, feed }) =>
      (await read.rows(readings(tenantId, feedNumbers[feed]))).map(storedReadOf),
    async sentMinutes({ key, keyId, name }) {
      const rows = await read.rows(minutes(key.tenantId, feedNumbers[key.feed], keyId, name))
      return rows.map(({ view, space, epoch, minute: at, route, ranges }): ReadPart & SentMinute => {
        return { view, space, epoch, minute: at, route, ranges: rangesOf(ranges) }
      })
    },
    async firstSent({ key, view, space, epoch, number, fromMinute }) {
      const ofFeed = [key.tenantId, feedNumbers[key.feed]] as const
      const rows = await read.rows(firstSent(...ofFeed, view, space, epoch, fromMinute, number))
      return rows.map(({ key_id: keyId, name, minute: at, route }) => ({ keyId, name, minute: at, route }))
    },
  }
}

export function placeOf({ key, keyId, name }: ConsumerName) {
  return { of_tenant: key.tenantId, of_feed: feedNumbers[key.feed], of_key: keyId, of_name: name }
}

function placeOfPart(reading: ConsumerName & ReadPart) {
  const { view, space, epoch } = reading
  return { ...placeOf(reading), of_view: view, of_space: space, of_epoch: epoch }
}

function placeOfMinute(reading: ConsumerName & ReadPart, at: Pick<SentMinute, 'minute' | 'route'>) {
  return { ...placeOfPart(reading), of_minute: at.minute, of_route: at.route }
}

function textOf(place: object): string {
  return JSON.stringify(Object.values(place))
}

function consumerText(one: ConsumerName): string {
  return textOf(placeOf(one))
}

export interface ConsumerRow {
  readonly tenant: string
  readonly feed: number
  readonly key_id: string
  readonly name: string
}

interface ViewRow extends ConsumerRow, ReadPart {
  readonly ranges: string
  readonly asked_ms: number
  readonly quiet_ms: number | null
  readonly status: number
  readonly route: ReadRoute
}

interface MinuteRow extends ConsumerRow, ReadPart {
  readonly minute: number
  readonly route: ReadRoute
  readonly ranges: string
}

export function consumerOf({ tenant, feed, key_id: keyId, name }: ConsumerRow): ConsumerName {
  return { key: { tenantId: tenant, feed: feedOfNumber(feed, 'consumer') }, keyId, name }
}

function storedReadOf(row: ViewRow): StoredRead {
  const { view, space, epoch, asked_ms: askedMs, quiet_ms: quietMs, status, route } = row
  return {
    ...consumerOf(row),
    view,
    space,
    epoch,
    askedMs,
    quietMs: quietMs ?? undefined,
    status,
    route,
    ranges: rangesOf(row.ranges),
  }
}
