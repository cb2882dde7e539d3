/** Examines a store's file for an operator who is looking for a fault. It changes nothing, not even an old schema. */
import { existsSync, statSync } from 'node:fs'
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { maintenanceOf, readMaintenance } from '../../maintenance/store.ts'
import { statementRunner } from '../../sql/sqlite.ts'
import { nodeSilenceMs } from '../../nodes/node.ts'
import { connectForReading, storeFileOf } from '../../sql/sqlite/connection.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { isMadeBefore, knownSchemaVersion } from './migrate.ts'
import type { Maintenance } from '../../maintenance/maintenance.ts'
import type { WaitingErasures } from '../../privacy/erasure/erasure.ts'
import { secretsInUse } from '../../webhooks/stored/secrets.ts'
import type { SecretInUse } from '../../webhooks/stored/secrets.ts'
import { eventChecksum } from '../../events/sqlite/event-checksum.ts'

export type StoreInspection =
  | { readonly kind: 'none'; readonly file: string }
  /** A store from before 0.1.0. */
  | { readonly kind: 'madeBefore'; readonly file: string }
  /** There is a file, but it cannot be read as a store. `reason` is SQLite's. */
  | { readonly kind: 'unreadable'; readonly file: string; readonly reason: string }
  | {
      readonly kind: 'store'
      readonly file: string
      readonly bytes: number
      readonly schemaVersion: number
      readonly knownSchemaVersion: number
      /** What `integrity_check` found wrong; empty if all is well. Reads the whole file: seconds per gigabyte. */
      readonly damages: readonly string[]
      /** The store is a copy, and publishing waits for `startEpoch`. */
      readonly needsEpoch: boolean
      /** Publishing is refused until an operator ends this. */
      readonly maintenance: Maintenance | undefined
      /** `createdDate` of the newest event of all feeds, milliseconds since 1970. */
      readonly newestEventMs: number | undefined
      /** Peppers of the keys in use. */
      readonly pepperIds: readonly string[]
      readonly webhookSecrets: readonly SecretInUse[]
      /** Holds that have expired and that nobody has ended. */
      readonly expiredHolds: number
      /** Where nodes run that clients reach through an untrusted proxy. */
      readonly proxyIgnoredBy: readonly string[]
      readonly waitingErasures: WaitingErasures
    }

/** `readsAll`: looks for damages, which reads the whole file. */
export function inspectStore(
  folder: string,
  { readsAll }: { readonly readsAll: boolean } = { readsAll: true },
): StoreInspection {
  const file = storeFileOf(folder)
  if (!existsSync(file)) return { kind: 'none', file }
  try {
    const db = connectForReading(file)
    try {
      if (isMadeBefore(db)) return { kind: 'madeBefore', file }
      const damages = readsAll ? db.prepare<[], string>('PRAGMA integrity_check(20)').pluck().all() : []
      const newest = db
        .prepare<[], bigint | null>('SELECT max(last_created) FROM feed')
        .pluck()
        .safeIntegers()
        .get()
      const peppers = db
        .prepare<[], string>('SELECT DISTINCT pepper_id FROM key WHERE revoked_ms IS NULL')
        .pluck()
      const needsEpoch = db.prepare<[], string>("SELECT value FROM meta WHERE name = 'needs_epoch'").pluck()
      return {
        kind: 'store',
        file,
        bytes: statSync(file).size,
        schemaVersion: Number(db.pragma('user_version', { simple: true })),
        knownSchemaVersion,
        damages: damages.filter((line) => line !== 'ok'),
        needsEpoch: needsEpoch.get() === '1',
        maintenance: maintenanceOf(statementRunner(db)(readMaintenance())),
        newestEventMs: newest == null ? undefined : millisecondsOfTicks(newest),
        pepperIds: peppers.all(),
        webhookSecrets: db.prepare<[], SecretInUse>(secretsInUse).all(),
        expiredHolds: expiredHolds(db),
        proxyIgnoredBy: proxyIgnoredBy(db),
        waitingErasures: waitingErasures(db),
      }
    } finally {
      db.close()
    }
  } catch (error) {
    return { kind: 'unreadable', file, reason: error instanceof Error ? error.message : String(error) }
  }
}

function expiredHolds(db: Connection): number {
  const count = db.prepare<[number], number>(
    'SELECT count(*) FROM hold WHERE ended_ms IS NULL AND until_ms <= ?',
  )
  return count.pluck().get(Date.now()) ?? 0
}

function proxyIgnoredBy(db: Connection): readonly string[] {
  const select = db.prepare<[number], string>(
    'SELECT place FROM node WHERE ignores_proxy = 1 AND seen_ms > ? ORDER BY place',
  )
  return select.pluck().all(Date.now() - nodeSilenceMs)
}

function waitingErasures(db: Connection): WaitingErasures {
  const waiting = db
    .prepare<[], { count: number; oldestMs: number | null }>(
      `SELECT count(*) AS count, min(unreachable_ms) AS oldestMs FROM erasure WHERE state = 'unreachable'`,
    )
    .get()
  return { count: waiting?.count ?? 0, oldestMs: waiting?.oldestMs ?? undefined }
}

/** Reads every event of a store's file and compares it with its checksum, to be sure of a disk or a backup. */
export interface EventsCheck {
  /** Events that were read. */
  readonly events: number
  /** How many have changed since they were stored. */
  readonly damaged: number
  /** The places of the first of them. */
  readonly examples: readonly EventPlace[]
  /** SQLite's reason for stopping; `undefined`: everything was read. */
  readonly cutOff: string | undefined
}

interface EventPlace {
  readonly tenantId: string
  readonly feed: string
  readonly position: number
}

interface Row {
  readonly feed_no: number
  readonly position: number
  readonly json: Buffer
  readonly checksum: number
}

const maxExamples = 20
const eventsPerReport = 1_000

/**
 * Changes nothing, and may run beside the service. Reads the whole file: seconds per gigabyte. `onProgress` is called now and then with
 * the number of events read. For a missing file, or one that is not a store, it throws what SQLite throws.
 */
export function checkEvents(folder: string, onProgress: (events: number) => void): EventsCheck {
  const db = connectForReading(storeFileOf(folder))
  try {
    return checkAll(db, onProgress)
  } finally {
    db.close()
  }
}

function checkAll(db: Connection, onProgress: (events: number) => void): EventsCheck {
  let [events, damaged] = [0, 0]
  const examples: EventPlace[] = []
  const placeOf = db.prepare<[number], { tenant: string; feed: string }>(
    'SELECT tenant, feed FROM feed WHERE feed_no = ?',
  )
  const select = db.prepare<[], Row>(
    'SELECT feed_no, place & 0xffffffffff AS position, json, checksum FROM event ORDER BY place',
  )
  try {
    for (const { feed_no: feedNo, position, json, checksum } of select.iterate()) {
      events += 1
      if (events % eventsPerReport === 0) onProgress(events)
      if (checksum !== eventChecksum(position, json)) {
        damaged += 1
        const feed = examples.length < maxExamples ? placeOf.get(feedNo) : undefined
        if (feed !== undefined) examples.push({ tenantId: feed.tenant, feed: feed.feed, position })
      }
    }
  } catch (error) {
    const cutOff = error instanceof Error ? error.message : String(error)
    return { events, damaged, examples, cutOff }
  }
  return { events, damaged, examples, cutOff: undefined }
}
