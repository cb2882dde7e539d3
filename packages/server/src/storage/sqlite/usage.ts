/** Requests of keys: read on this thread, added to by the writer's. */
import { usageDaysKept, usageHoursKept, usagePerCommit } from '../usage-store.ts'
import type { DayUsage, UsageCount, UsageStore } from '../usage-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface UsageWrites {
  addUsage(counts: readonly UsageCount[]): void
  ageUsage(nowMs: number): number
}

export function fileUsage(db: Connection, link: WriterLink): Unguarded<UsageStore> {
  return {
    hours: hoursReader(db),
    days: daysReader(db),
    add: (counts) => link.call('addUsage', counts),
    age: (nowMs) => link.call('ageUsage', nowMs),
  }
}

const columns = 'key_id, operation, status, requests, bytes'

export function usageWrites(db: Connection): UsageWrites {
  const putIn = (table: string, time: string): string =>
    `INSERT INTO ${table} (${time}, ${columns}) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, bytes = bytes + excluded.bytes`
  const putHour = db.prepare(putIn('usage_hour', 'hour'))
  const putDay = db.prepare(putIn('usage_day', 'day'))
  const add = db.transaction((counts: readonly UsageCount[]) => {
    for (const { hour, keyId, operation, status, requests, bytes } of counts) {
      putHour.run(hour, keyId, operation, status, requests, bytes)
    }
  })
  const takeHours = db.prepare<[number, number], HourRow>(
    `DELETE FROM usage_hour WHERE (hour, key_id, operation, status) IN
      (SELECT hour, key_id, operation, status FROM usage_hour WHERE hour < ? ORDER BY hour LIMIT ?) RETURNING hour, ${columns}`,
  )
  const removeDays = db.prepare<[number, number]>(
    `DELETE FROM usage_day WHERE (day, key_id, operation, status) IN
      (SELECT day, key_id, operation, status FROM usage_day WHERE day < ? ORDER BY day LIMIT ?)`,
  )
  const age = db.transaction((nowMs: number): number => {
    const nowHour = Math.floor(nowMs / 3_600_000)
    const taken = takeHours.all(nowHour - usageHoursKept, usagePerCommit)
    for (const { hour, key_id, operation, status, requests, bytes } of taken) {
      putDay.run(Math.floor(hour / 24), key_id, operation, status, requests, bytes)
    }
    return taken.length + removeDays.run(Math.floor(nowHour / 24) - usageDaysKept, usagePerCommit).changes
  })
  return { addUsage: (counts) => add.immediate(counts), ageUsage: (nowMs) => age.immediate(nowMs) }
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

/** One hour at a time: a range of the primary key for each, however many other keys there are. */
function hoursReader(db: Connection): (keyId: string, from: number, to: number) => readonly UsageCount[] {
  const select = db.prepare<[number, string], CountRow>(
    `SELECT ${columns} FROM usage_hour WHERE hour = CAST(? AS INTEGER) AND key_id = CAST(? AS TEXT) ORDER BY operation, status`,
  )
  const read = (keyId: string, from: number, to: number): readonly UsageCount[] =>
    timesFrom(from, to).flatMap((hour) => select.all(hour, keyId).map((row) => ({ hour, ...countOf(row) })))
  return db.transaction(read)
}

function daysReader(db: Connection): (keyId: string, from: number, to: number) => readonly DayUsage[] {
  const select = db.prepare<[object], CountRow>(
    `SELECT key_id, operation, status, sum(requests) AS requests, sum(bytes) AS bytes FROM (
      SELECT ${columns} FROM usage_day WHERE day = @day AND key_id = @keyId
      UNION ALL
      SELECT ${columns} FROM usage_hour
        WHERE hour IN (SELECT @day * 24 + value FROM json_each('[${timesFrom(0, 23).join(',')}]')) AND key_id = @keyId
    ) GROUP BY key_id, operation, status ORDER BY operation, status`,
  )
  const read = (keyId: string, from: number, to: number): readonly DayUsage[] =>
    timesFrom(from, to).flatMap((day) => select.all({ day, keyId }).map((row) => ({ day, ...countOf(row) })))
  return db.transaction(read)
}

function timesFrom(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

function countOf({ key_id, operation, status, requests, bytes }: CountRow): Omit<UsageCount, 'hour'> {
  return { keyId: key_id, operation, status, requests, bytes }
}
