/** Requests of keys. */
import { usageDaysKept, usageHoursKept, usagePerCommit } from '../usage-store.ts'
import type { DayUsage, UsageCount, UsageStore } from '../usage-store.ts'
import { bigints, integers, smallints, texts } from './array.ts'
import type { Database, Row, Statement } from './connection.ts'
import { noteLockWaitMs } from './pool.ts'

/** In order of the key, so that two nodes that add to the same counts never wait in a circle. */
const addCounts: Statement = {
  name: 'usage-add',
  text: `INSERT INTO usage_hour AS kept (hour, key_id, operation, status, requests, bytes)
    SELECT hour, key_id, operation, status, requests, bytes
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::smallint[], $5::bigint[], $6::bigint[])
      AS r (hour, key_id, operation, status, requests, bytes)
    ORDER BY hour, key_id COLLATE "C", operation COLLATE "C", status
    ON CONFLICT (hour, key_id, operation, status) DO UPDATE
      SET requests = kept.requests + excluded.requests, bytes = kept.bytes + excluded.bytes`,
}
/** Rows that another node has locked are left to it. */
const ageHours: Statement = {
  name: 'usage-age-hours',
  text: `WITH taken AS (
      DELETE FROM usage_hour WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM usage_hour WHERE hour < $1 ORDER BY hour, key_id, operation, status LIMIT $2 FOR UPDATE SKIP LOCKED
      )) RETURNING hour, key_id, operation, status, requests, bytes
    ), added AS (
      INSERT INTO usage_day AS kept (day, key_id, operation, status, requests, bytes)
      SELECT hour / 24, key_id, operation, status, sum(requests), sum(bytes) FROM taken
      GROUP BY hour / 24, key_id, operation, status ORDER BY hour / 24, key_id, operation, status
      ON CONFLICT (day, key_id, operation, status) DO UPDATE
        SET requests = kept.requests + excluded.requests, bytes = kept.bytes + excluded.bytes
    )
    SELECT count(*)::integer AS rows FROM taken`,
}
const removeDays: Statement = {
  name: 'usage-remove-days',
  text: `WITH removed AS (
      DELETE FROM usage_day WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM usage_day WHERE day < $1 ORDER BY day, key_id, operation, status LIMIT $2 FOR UPDATE SKIP LOCKED
      )) RETURNING 1
    )
    SELECT count(*)::integer AS rows FROM removed`,
}
/** One hour at a time: a range of the primary key for each, however many other keys there are, and whatever the statistics say. */
const readHours: Statement = {
  name: 'usage-hours',
  text: `SELECT u.* FROM generate_series($2::integer, $3::integer) AS h (hour), LATERAL (
      SELECT hour AS time, key_id, operation, status, requests, bytes FROM usage_hour
      WHERE hour = h.hour AND key_id = $1 ORDER BY hour, key_id, operation, status OFFSET 0
    ) u ORDER BY u.time, u.operation, u.status`,
}
const readDays: Statement = {
  name: 'usage-days',
  text: `SELECT u.time, u.key_id, u.operation, u.status, sum(u.requests)::bigint AS requests, sum(u.bytes)::bigint AS bytes FROM (
      SELECT u.* FROM generate_series($2::integer, $3::integer) AS d (day), LATERAL (
        SELECT day AS time, key_id, operation, status, requests, bytes FROM usage_day
        WHERE day = d.day AND key_id = $1 ORDER BY day, key_id, operation, status OFFSET 0
      ) u
      UNION ALL
      SELECT u.* FROM generate_series($2::integer * 24, $3::integer * 24 + 23) AS h (hour), LATERAL (
        SELECT hour / 24 AS time, key_id, operation, status, requests, bytes FROM usage_hour
        WHERE hour = h.hour AND key_id = $1 ORDER BY hour, key_id, operation, status OFFSET 0
      ) u
    ) u GROUP BY u.time, u.key_id, u.operation, u.status ORDER BY u.time, u.operation, u.status`,
}

interface CountRow extends Row {
  readonly time: number
  readonly key_id: string
  readonly operation: string
  readonly status: number
  readonly requests: string
  readonly bytes: string
}

interface CountedRow extends Row {
  readonly rows: number
}

export function databaseUsage(database: Database): UsageStore {
  return {
    add: async (counts) =>
      void (await database.write((session) => session.query(addCounts, valuesOf(counts)), noteLockWaitMs)),
    async hours(keyId, fromHour, toHour) {
      const rows = await database.read<CountRow>(readHours, [keyId, fromHour, toHour])
      return rows.map((row): UsageCount => ({ hour: row.time, ...countOf(row) }))
    },
    async days(keyId, fromDay, toDay) {
      const rows = await database.read<CountRow>(readDays, [keyId, fromDay, toDay])
      return rows.map((row): DayUsage => ({ day: row.time, ...countOf(row) }))
    },
    age: (nowMs) =>
      database.write(async (session) => {
        const nowHour = Math.floor(nowMs / 3_600_000)
        const [moved] = await session.query<CountedRow>(ageHours, [nowHour - usageHoursKept, usagePerCommit])
        const firstDay = Math.floor(nowHour / 24) - usageDaysKept
        const [removed] = await session.query<CountedRow>(removeDays, [firstDay, usagePerCommit])
        return (moved?.rows ?? 0) + (removed?.rows ?? 0)
      }),
  }
}

function valuesOf(counts: readonly UsageCount[]) {
  return [
    integers(counts.map(({ hour }) => hour)),
    texts(counts.map(({ keyId }) => keyId)),
    texts(counts.map(({ operation }) => operation)),
    smallints(counts.map(({ status }) => status)),
    bigints(counts.map(({ requests }) => requests)),
    bigints(counts.map(({ bytes }) => bytes)),
  ]
}

function countOf({ key_id, operation, status, requests, bytes }: CountRow): Omit<UsageCount, 'hour'> {
  return { keyId: key_id, operation, status, requests: Number(requests), bytes: Number(bytes) }
}
