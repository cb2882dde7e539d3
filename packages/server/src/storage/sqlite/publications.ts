/** What was published, by whom and how successfully: read on this thread, written by the writer's. */
import type { FeedName } from '@property-events/protocol'
import {
  firstKeptMinute,
  hourOfMinute,
  joinMinutes,
  publicationsPerCommit,
  refusalsPerHour,
} from '../publication-store.ts'
import type {
  KeptMinute,
  PublicationFault,
  PublicationQuery,
  PublicationRefusal,
  PublicationStore,
  PublishedMinute,
  PublishedMinuteName,
  WarningPlaces,
} from '../publication-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface PublicationWrites {
  addPublished(minutes: readonly PublishedMinute[], refusals: readonly PublicationRefusal[]): void
  agePublished(nowMs: number): number
}

export function filePublications(db: Connection, link: WriterLink): Unguarded<PublicationStore> {
  return {
    list: publicationReader(db),
    refusedSince: refusedReader(db),
    add: (minutes, refusals) => link.call('addPublished', minutes, refusals),
    age: (nowMs) => link.call('agePublished', nowMs),
  }
}

/** In the same order as the other engines. */
const feedNumbers: Readonly<Record<FeedName, number>> = { property: 1, contact: 2 }

const place = 'tenant = ? AND minute = ? AND feed = ? AND key_id = ?'
const counts =
  'requests, stored, repeated, unchanged, first_sequence, last_sequence, warnings, warning_places, refused'

type Place = [string, number, number, string]

function placeOf({ key, minute, keyId }: PublishedMinuteName): Place {
  return [key.tenantId, minute, feedNumbers[key.feed], keyId]
}

export function publicationWrites(db: Connection): PublicationWrites {
  const select = db.prepare<Place, MinuteRow>(
    `SELECT minute, feed, key_id, ${counts} FROM published WHERE ${place}`,
  )
  const put = db.prepare(
    `INSERT OR REPLACE INTO published (tenant, minute, feed, key_id, ${counts}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const countRefusal = db
    .prepare<[number, string], number>(
      `INSERT INTO refusal_hour (hour, key_id, refusals) VALUES (?, ?, 1)
        ON CONFLICT DO UPDATE SET refusals = refusals + 1 RETURNING refusals`,
    )
    .pluck()
  const putRefusal = db.prepare(
    `INSERT INTO refusal (tenant, minute, feed, key_id, place, at_ms, request_id, code, faults) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const add = db.transaction(
    (minutes: readonly PublishedMinute[], refusals: readonly PublicationRefusal[]) => {
      for (const minute of minutes) {
        const kept = select.get(...placeOf(minute))
        const sum = kept === undefined ? minute : joinMinutes(minuteOf(minute.key.tenantId, kept), minute)
        const { requests, stored, repeated, unchanged, numbers, refused } = sum
        const [first = null, last = null] = numbers ?? []
        const values = [requests, stored, repeated, unchanged, first, last]
        const warned = [JSON.stringify(sum.warnings), JSON.stringify(sum.warningPlaces)]
        put.run(...placeOf(minute), ...values, ...warned, refused)
      }
      for (const refusal of refusals) {
        const { keyId, minute, atMs, requestId, code, faults } = refusal
        const number = countRefusal.get(hourOfMinute(minute), keyId) ?? 0
        if (number > refusalsPerHour) continue
        putRefusal.run(...placeOf(refusal), number - 1, atMs, requestId, code, JSON.stringify(faults))
      }
    },
  )
  const age = agePublished(db)
  return { addPublished: (minutes, refusals) => add.immediate(minutes, refusals), agePublished: age }
}

function agePublished(db: Connection): (nowMs: number) => number {
  const removeFrom = (table: string, key: string): string =>
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE minute < ? LIMIT ${publicationsPerCommit})`
  const removeMinutes = db.prepare<[number]>(removeFrom('published', 'tenant, minute, feed, key_id'))
  const removeRefusals = db.prepare<[number]>(removeFrom('refusal', 'tenant, minute, feed, key_id, place'))
  const removeHours = db.prepare<[number]>(
    `DELETE FROM refusal_hour WHERE (hour, key_id) IN
      (SELECT hour, key_id FROM refusal_hour WHERE hour < ? LIMIT ${publicationsPerCommit})`,
  )
  const age = db.transaction((nowMs: number): number => {
    const first = firstKeptMinute(nowMs)
    const removed = [
      removeMinutes.run(first),
      removeRefusals.run(first),
      removeHours.run(hourOfMinute(first)),
    ]
    return removed.reduce((sum, { changes }) => sum + changes, 0)
  })
  return (nowMs) => age.immediate(nowMs)
}

interface MinuteRow {
  readonly minute: number
  readonly feed: number
  readonly key_id: string
  readonly requests: number
  readonly stored: number
  readonly repeated: number
  readonly unchanged: number
  readonly first_sequence: number | null
  readonly last_sequence: number | null
  readonly warnings: string
  readonly warning_places: string
  readonly refused: number
}

interface RefusalRow {
  readonly minute: number
  readonly feed: number
  readonly key_id: string
  readonly at_ms: number
  readonly request_id: string
  readonly code: string
  readonly faults: string
}

/** The text that plans are looked at of. */
export const refusedSinceText =
  'SELECT tenant, feed, key_id, at_ms, code FROM refusal WHERE minute >= ? ORDER BY minute DESC LIMIT ?'

function refusedReader(db: Connection): Unguarded<PublicationStore>['refusedSince'] {
  type RefusedRow = Pick<RefusalRow, 'feed' | 'key_id' | 'at_ms' | 'code'> & { readonly tenant: string }
  const select = db.prepare<[number, number], RefusedRow>(refusedSinceText)
  return (minute, limit) =>
    select.all(minute, limit).map(({ tenant: tenantId, feed, key_id: keyId, at_ms: atMs, code }) => {
      return {
        key: { tenantId, feed: feed === feedNumbers.property ? 'property' : 'contact' },
        keyId,
        atMs,
        code,
      }
    })
}

function publicationReader(db: Connection): (query: PublicationQuery) => readonly KeptMinute[] {
  const within = 'tenant = @tenant AND minute BETWEEN @from AND @to AND (@keyId IS NULL OR key_id = @keyId)'
  const order = 'ORDER BY minute DESC, feed DESC, key_id DESC LIMIT @limit'
  const columns = `SELECT minute, feed, key_id, ${counts} FROM published WHERE ${within}`
  const select = db.prepare<[object], MinuteRow>(`${columns} ${order}`)
  const selectBefore = db.prepare<[object], MinuteRow>(
    `${columns} AND (minute, feed, key_id) < (@minute, @feed, @beforeKeyId) ${order}`,
  )
  const selectRefusals = db.prepare<[object], RefusalRow>(
    `SELECT minute, feed, key_id, at_ms, request_id, code, faults FROM refusal WHERE ${within} ORDER BY at_ms, place`,
  )
  const read = (query: PublicationQuery): readonly KeptMinute[] => {
    const { tenantId: tenant, keyId = null, fromMinute: from, toMinute: to, before, limit } = query
    const asked = { tenant, keyId, from, to, limit }
    const rows =
      before === undefined
        ? select.all(asked)
        : selectBefore.all({
            ...asked,
            minute: before.minute,
            feed: feedNumbers[before.key.feed],
            beforeKeyId: before.keyId,
          })
    const minutes = rows.map((row) => minuteOf(tenant, row))
    const [first, last] = [minutes.at(-1)?.minute ?? 0, minutes[0]?.minute ?? -1]
    const refusals = selectRefusals.all({ tenant, keyId, from: first, to: last })
    return minutes.map((minute) => {
      const own = refusals.filter(
        (row) =>
          row.minute === minute.minute &&
          row.key_id === minute.keyId &&
          row.feed === feedNumbers[minute.key.feed],
      )
      return { ...minute, refusals: own.map((row) => refusalOf(minute, row)) }
    })
  }
  return db.transaction(read)
}

function minuteOf(tenantId: string, row: MinuteRow): PublishedMinute {
  const { minute, feed, key_id, requests, stored, repeated, unchanged, refused } = row
  const [first, last] = [row.first_sequence, row.last_sequence]
  const warnings: Readonly<Record<string, number>> = JSON.parse(row.warnings)
  const warningPlaces: WarningPlaces = JSON.parse(row.warning_places)
  return {
    key: { tenantId, feed: feed === feedNumbers.property ? 'property' : 'contact' },
    keyId: key_id,
    minute,
    requests,
    stored,
    repeated,
    unchanged,
    numbers: first === null || last === null ? undefined : [first, last],
    warnings,
    warningPlaces,
    refused,
  }
}

function refusalOf({ key, keyId, minute }: PublishedMinuteName, row: RefusalRow): PublicationRefusal {
  const faults: readonly PublicationFault[] = JSON.parse(row.faults)
  return { key, keyId, minute, atMs: row.at_ms, requestId: row.request_id, code: row.code, faults }
}
