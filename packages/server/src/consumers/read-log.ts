/** Which consumers there are, and what each was sent of each view, in a database; sent-log.ts has when. */
import { defineWrite, feedNumbers, noteLockWaitMs } from '../sql/database.ts'
import { rowsFrom, statement } from '../sql/database.ts'
import type { StoreAccess, Transaction } from '../sql/database.ts'
import { defaultConsumer, joinedRead, namedConsumersPerFeed } from './consumer.ts'
import type { ConsumerName, ConsumerStore, StoredRead, NewRead } from './consumer.ts'
import type { ReadPart, ReadRoute, TidyRequest } from './consumer.ts'
import { consumer, consumerOf, givenConsumer, givenPart, ofConsumer, ofPart, part } from './consumer-rows.ts'
import { consumerText, placeOf, placeOfPart, textOf } from './consumer-rows.ts'
import type { ConsumerRow } from './consumer-rows.ts'
import { removeOldResultChanges } from './result-log.ts'
import { addSent, removeOldSent } from './sent-log.ts'
import { rangesOf } from '../runtime/number-ranges.ts'

const minuteMs = 60_000

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

const readings = statement<ViewRow>(
  'consumer-readings',
  `SELECT * FROM consumer_view WHERE tenant = $1 AND feed = $2 ORDER BY key_id, name, view, space, epoch`,
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
  async (tx, reads: readonly NewRead[]): Promise<void> => {
    const known = reads.filter(await lockConsumers(tx, reads))
    const kept = await keptViews(tx, known)
    await addSent(tx, known, (reading) => kept.get(textOf(placeOfPart(reading)))?.ranges ?? [])
    await joinViews(tx, known, kept)
  },
  { lockWaitMs: noteLockWaitMs },
)

async function keptViews(tx: Transaction, reads: readonly NewRead[]): Promise<Map<string, StoredRead>> {
  const kept = (await tx.rows(viewsGiven(JSON.stringify(reads.map(placeOfPart))))).map(storedReadOf)
  return new Map(kept.map((reading) => [textOf(placeOfPart(reading)), reading]))
}

async function joinViews(
  tx: Transaction,
  reads: readonly NewRead[],
  kept: Map<string, StoredRead>,
): Promise<void> {
  for (const reading of reads) {
    const text = textOf(placeOfPart(reading))
    kept.set(text, joinedRead(kept.get(text), reading))
  }
  const rows = [...kept.values()].map(({ ranges, askedMs, quietMs, status, route, ...name }) => {
    const row = { ranges: JSON.stringify(ranges), asked_ms: askedMs, quiet_ms: quietMs, status, route }
    return { ...placeOfPart(name), ...row }
  })
  await tx.rows(putViews(JSON.stringify(rows)))
}

const tidyReads = defineWrite('consumer-tidy', async (tx, request: TidyRequest): Promise<boolean> => {
  const { consumers, mostRows, beforeMs } = request
  const isMoreSent = await removeOldSent(tx, Math.floor(beforeMs / minuteMs), consumers, mostRows)
  const isMoreSaid = await removeOldResultChanges(tx, beforeMs)
  return isMoreSent || isMoreSaid
})

export function readLog({ read, write }: StoreAccess): Pick<ConsumerStore, 'add' | 'readings' | 'tidy'> {
  return {
    add: (reads) => write(addReadings, reads),
    tidy: (request) => write(tidyReads, request),
    readings: async ({ tenantId, feed }) =>
      (await read.rows(readings(tenantId, feedNumbers[feed]))).map(storedReadOf),
  }
}

interface ViewRow extends ConsumerRow, ReadPart {
  readonly ranges: string
  readonly asked_ms: number
  readonly quiet_ms: number | null
  readonly status: number
  readonly route: ReadRoute
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
