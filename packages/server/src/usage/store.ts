/** Requests of keys in a database. */
import { among, defineWrite, noteLockWaitMs, removal, rowsFrom, statement } from '../sql/database.ts'
import type { Dialect, StoreAccess } from '../sql/database.ts'
import { usageDaysKept, usageHoursKept, usagePerCommit } from './usage.ts'
import type { UsageCount, UsageStore } from './usage.ts'

const counted = {
  hour: 'integer',
  key_id: 'text',
  operation: 'text',
  status: 'integer',
  requests: 'bigint',
  bytes: 'bigint',
} as const
const ofKey = 'key_id, operation, status'

/** In order of the key, so that two nodes that add to the same counts never wait in a circle. */
function adding(table: string, time: string, rows: string): (dialect: Dialect) => string {
  return (dialect) => `INSERT INTO ${table} AS kept (${time}, ${ofKey}, requests, bytes)
    SELECT ${rows} AS time, ${ofKey}, CAST(sum(requests) AS bigint), CAST(sum(bytes) AS bigint)
    FROM ${rowsFrom('$1', counted)(dialect)} GROUP BY time, ${ofKey} ORDER BY time, ${ofKey}
    ON CONFLICT (${time}, ${ofKey}) DO UPDATE
      SET requests = kept.requests + excluded.requests, bytes = kept.bytes + excluded.bytes`
}
const addHours = statement('usage-add-hours', adding('usage_hour', 'hour', 'hour'))
const addDays = statement('usage-add-days', adding('usage_day', 'day', 'hour / 24'))
const takeHours = statement<HourRow>(
  'usage-take-hours',
  removal('usage_hour', `hour, ${ofKey}`, 'hour < $1 LIMIT $2', '*'),
)
const removeDays = statement('usage-remove-days', removal('usage_day', `day, ${ofKey}`, 'day < $1 LIMIT $2'))

/** The times are named one by one: a range of the primary key for each, however many other keys there are. */
const hoursOf = statement<HourRow>(
  'usage-hours',
  (dialect) => `SELECT * FROM usage_hour WHERE hour ${among('$2', 'integer')(dialect)} AND key_id = $1
    ORDER BY hour, operation, status`,
)
const daysOf = statement<DayRow>(
  'usage-days',
  (
    dialect,
  ) => `SELECT day, ${ofKey}, CAST(sum(requests) AS bigint) AS requests, CAST(sum(bytes) AS bigint) AS bytes
    FROM (
      SELECT * FROM usage_day WHERE day ${among('$2', 'integer')(dialect)} AND key_id = $1
      UNION ALL
      SELECT hour / 24, ${ofKey}, requests, bytes FROM usage_hour
        WHERE hour ${among('$3', 'integer')(dialect)} AND key_id = $1
    ) AS counts GROUP BY day, ${ofKey} ORDER BY day, operation, status`,
)

const addUsage = defineWrite(
  'usage-add',
  async (tx, counts: readonly UsageCount[]): Promise<void> => {
    const rows = counts.map(({ keyId, ...count }) => ({ ...count, key_id: keyId }))
    await tx.rows(addHours(JSON.stringify(rows)))
  },
  { lockWaitMs: noteLockWaitMs },
)

const ageUsage = defineWrite('usage-age', async (tx, nowMs: number): Promise<number> => {
  const nowHour = Math.floor(nowMs / 3_600_000)
  const hours = await tx.rows(takeHours(nowHour - usageHoursKept, usagePerCommit))
  if (hours.length > 0) await tx.rows(addDays(JSON.stringify(hours)))
  const removed = await tx.rows(removeDays(Math.floor(nowHour / 24) - usageDaysKept, usagePerCommit))
  return hours.length + removed.length
})

export function usageStore({ read, write }: StoreAccess): UsageStore {
  return {
    add: (counts) => write(addUsage, counts),
    age: (nowMs) => write(ageUsage, nowMs),
    async hours(keyId, fromHour, toHour) {
      const rows = await read.rows(hoursOf(keyId, timesFrom(fromHour, toHour)))
      return rows.map(({ hour, ...row }) => ({ hour, ...countOf(row) }))
    },
    async days(keyId, fromDay, toDay) {
      const hours = timesFrom(fromDay * 24, toDay * 24 + 23)
      const rows = await read.rows(daysOf(keyId, timesFrom(fromDay, toDay), hours))
      return rows.map(({ day, ...row }) => ({ day, ...countOf(row) }))
    },
  }
}

function timesFrom(from: number, to: number): string {
  return JSON.stringify(Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index))
}

interface CountRow {
  readonly key_id: string
  readonly operation: string
  readonly status: number
  readonly requests: number
  readonly bytes: number
}

interface HourRow extends CountRow {
  readonly hour: number
}

interface DayRow extends CountRow {
  readonly day: number
}

function countOf({ key_id, operation, status, requests, bytes }: CountRow): Omit<UsageCount, 'hour'> {
  return { keyId: key_id, operation, status, requests, bytes }
}
