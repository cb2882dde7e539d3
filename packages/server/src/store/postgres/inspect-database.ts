/** Examines a database for an operator who is looking for a fault. It changes nothing, and needs no store to be there. */
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { nodeSilenceMs } from '../../nodes/node.ts'
import type { HeldSnapshot } from '../../sql/store-observer.ts'
import type { Maintenance } from '../../maintenance/maintenance.ts'
import type { WaitingErasures } from '../../privacy/erasure/erasure.ts'
import { secretsInUse } from '../../webhooks/stored/secrets.ts'
import type { SecretInUse } from '../../webhooks/stored/secrets.ts'
import { heldSnapshotOf, heldSnapshots } from './held-snapshots.ts'
import type { HeldSnapshotRow } from './held-snapshots.ts'
import { migrations } from './migrate.ts'
import { missingRights } from './node-rights.ts'
import { probeSessions } from './probe-sessions.ts'

export type DatabaseInspection =
  /** `code` is PostgreSQL's or the system's. */
  { readonly kind: 'unreachable'; readonly code: string; readonly reason: string } | ReachedDatabase

export interface ReachedDatabase {
  readonly kind: 'reached'
  /** Such as 18.4. */
  readonly version: string
  readonly majorVersion: number
  readonly user: string
  /** It replays what another server writes, and cannot be written to. */
  readonly standby: boolean
  readonly fsync: boolean
  readonly fullPageWrites: boolean
  /** The setting of a session that sets nothing itself. */
  readonly synchronousCommit: string
  /** Some commits wait for a standby. */
  readonly hasSynchronousStandby: boolean
  /** Connections that this role may still open, without those in use now and those reserved for others. */
  readonly freeConnections: number
  /** The database's clock less this machine's, in milliseconds, as precisely as the round trip allows. */
  readonly clockAheadMs: number
  readonly hasLz4: boolean
  /** Two clients never share a session: what is set in one stays in it. */
  readonly keepsSessions: boolean
  /** A `NOTIFY` reaches listening sessions. On a standby no session can listen, so nothing is sent there. */
  readonly deliversMessages: boolean
  /** The first schema of the search path: where the store is, or would be made. */
  readonly schema: string
  /** The server finds pages that its disk has changed. */
  readonly dataChecksums: boolean
  /** The space of the database on the server's disk. No server reveals how much is free there. */
  readonly databaseBytes: number
  /** In the schema that stands first in the search path. */
  readonly mayCreateTables: boolean
  readonly heldSnapshots: readonly HeldSnapshot[]
  /** There is a store from before 0.1.0, which is not looked into. */
  readonly madeBefore: boolean
  readonly store: InspectedStore | undefined
}

export interface InspectedStore {
  readonly schemaVersion: number
  readonly knownSchemaVersion: number
  /** This role may bring an older schema up to date. */
  readonly mayMigrate: boolean
  /** The role that made the store. */
  readonly owner: string
  /** Rights that a node needs and this role lacks: 'UPDATE on feed', … */
  readonly missingPrivileges: readonly string[]
  readonly usesLz4: boolean
  /** Publishing waits for `startEpoch`. */
  readonly needsEpoch: boolean
  /** Publishing waits only in these feeds, or in all: what is known about the numbers that nodes have shown and the store lacks. */
  readonly lostFeeds: readonly LostFeed[]
  /** Feeds that wait by themselves. */
  readonly waitingFeeds: number
  /** Publishing is refused until an operator ends it. */
  readonly maintenance: Maintenance | undefined
  /**
   * The history is not the one in which numbers were last given: the cluster was restored, upgraded or moved, or a standby that may lag
   * was promoted.
   */
  readonly movedCluster: boolean
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

interface LostFeed {
  readonly tenantId: string
  readonly feed: 'property' | 'contact'
  /** The highest number a node has shown. */
  readonly shownNumber: number
  /** The highest the store holds. */
  readonly heldNumber: number
}

const limits = { connectionTimeoutMillis: 5_000, query_timeout: 10_000 }

export async function inspectDatabase(url: string): Promise<DatabaseInspection> {
  const open = (): Client => {
    const client = new Client({
      connectionString: url,
      application_name: 'property-events doctor',
      ...limits,
    })
    // The next query reports it again.
    client.on('error', () => undefined)
    return client
  }
  const first = open()
  const second = open()
  try {
    await first.connect()
    await second.connect()
    const server = await readServer(first)
    const sessions = await probeSessions(first, second, randomUUID(), server.standby)
    const store = server.hasStore ? await readStore(first) : undefined
    const { hasStore: _, ...facts } = server
    const { rows: held } = await first.query<HeldSnapshotRow>(heldSnapshots.text)
    return { kind: 'reached', ...facts, ...sessions, heldSnapshots: held.map(heldSnapshotOf), store }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return { kind: 'unreachable', code, reason: error instanceof Error ? error.message : String(error) }
  } finally {
    await Promise.allSettled([first.end(), second.end()])
  }
}

type ServerFacts = Omit<
  ReachedDatabase,
  'kind' | 'keepsSessions' | 'deliversMessages' | 'heldSnapshots' | 'store'
> & {
  readonly hasStore: boolean
}

async function readServer(client: Client): Promise<ServerFacts> {
  const askedMs = Date.now()
  const { rows } = await client.query<Omit<ServerFacts, 'clockAheadMs'> & { readonly clockMs: number }>(`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
      current_setting('server_version_num')::integer / 10000 AS "majorVersion",
      current_user::text AS user, pg_is_in_recovery() AS standby,
      current_setting('fsync')::boolean AS fsync, current_setting('full_page_writes')::boolean AS "fullPageWrites",
      current_setting('synchronous_commit') AS "synchronousCommit",
      current_setting('synchronous_standby_names') <> '' AS "hasSynchronousStandby",
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
        - coalesce(current_setting('reserved_connections', true)::integer, 0)
        - (SELECT sum(numbackends) FROM pg_stat_database)::integer AS "freeConnections",
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "clockMs",
      (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') AS "hasLz4",
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreateTables",
      coalesce(current_schema()::text, '') AS schema, current_setting('data_checksums')::boolean AS "dataChecksums",
      pg_database_size(current_database())::float8 AS "databaseBytes",
      to_regclass('store') IS NOT NULL AND marked AS "hasStore", to_regclass('store') IS NOT NULL AND NOT marked AS "madeBefore"
    FROM (SELECT EXISTS (
      SELECT FROM pg_attribute WHERE attrelid = to_regclass('store') AND attname = 'begun_with') AS marked) AS looked`)
  const [row] = rows
  if (row === undefined) throw new Error('the server gave no answer')
  const { clockMs, ...facts } = row
  return { ...facts, clockAheadMs: Math.round(clockMs - (askedMs + Date.now()) / 2) }
}

async function readStore(client: Client): Promise<InspectedStore> {
  const { rows: missing } = await client.query<{ missing: string }>(missingRights)
  const missingPrivileges = missing.map((row) => row.missing)
  const nothing = {
    knownSchemaVersion: migrations.length,
    mayMigrate: true,
    owner: await ownerOf(client),
    usesLz4: false,
    needsEpoch: false,
    lostFeeds: [],
    waitingFeeds: 0,
    maintenance: undefined,
    movedCluster: false,
    newestEventMs: undefined,
    pepperIds: [],
    webhookSecrets: [],
    expiredHolds: 0,
    proxyIgnoredBy: [],
    waitingErasures: { count: 0, oldestMs: undefined },
    missingPrivileges,
  }
  if (missingPrivileges.some((privilege) => privilege.startsWith('SELECT'))) {
    return { ...nothing, schemaVersion: migrations.length }
  }
  const { rows } = await client.query<StoreRow>(`
    SELECT schema_version AS "schemaVersion", needs_epoch AS "needsEpoch",
      (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('store')) AS "mayMigrate",
      split_part(incarnation, '/', 1) <> (SELECT concat_ws('.', system_identifier, d.oid, to_regclass('store')::oid)
        FROM pg_control_system(), pg_database d WHERE d.datname = current_database()) AS "movedCluster",
      (SELECT count(*) FROM feed WHERE feed.needs_epoch)::integer AS "waitingFeeds",
      (SELECT since_ms FROM maintenance)::float8 AS "sinceMs", (SELECT retry_after FROM maintenance) AS "retryAfterSeconds",
      (SELECT attcompression = 'l' FROM pg_attribute
        WHERE attrelid = to_regclass('event') AND attname = 'json') AS "usesLz4",
      (SELECT max(last_created) / 10000 FROM feed)::float8 AS "newestMs",
      ARRAY(SELECT DISTINCT pepper_id FROM key WHERE revoked_ms IS NULL) AS "pepperIds",
      (SELECT count(*) FROM hold
        WHERE ended_ms IS NULL AND until_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint)::integer AS "expiredHolds",
      ARRAY(SELECT place FROM node
        WHERE ignores_proxy AND seen_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${nodeSilenceMs} ORDER BY place) AS "proxyIgnoredBy",
      (SELECT count(*) FROM erasure WHERE state = 'unreachable')::integer AS waiting,
      (SELECT min(unreachable_ms) FROM erasure WHERE state = 'unreachable')::float8 AS "oldestMs"
    FROM store`)
  const [row] = rows
  if (row === undefined) return { ...nothing, schemaVersion: 0 }
  const { newestMs, sinceMs, retryAfterSeconds, waiting, oldestMs, ...facts } = row
  return {
    ...nothing,
    ...facts,
    movedCluster: facts.movedCluster || (await hasOtherHistory(client)),
    webhookSecrets: (await client.query<SecretInUse>(secretsInUse)).rows,
    lostFeeds: await readLostFeeds(client),
    maintenance: sinceMs === null || retryAfterSeconds === null ? undefined : { sinceMs, retryAfterSeconds },
    waitingErasures: { count: waiting, oldestMs: oldestMs ?? undefined },
    newestEventMs: newestMs ?? undefined,
  }
}

/** As after a point-in-time restore. A standby cannot tell, nor can a role that may not ask. */
async function hasOtherHistory(client: Client): Promise<boolean> {
  const mayAsk = await client.query(
    `SELECT WHERE NOT pg_is_in_recovery() AND has_function_privilege('incarnation()', 'EXECUTE')
      AND has_function_privilege('timeline()', 'EXECUTE')`,
  )
  if (mayAsk.rowCount === 0) return false
  const other = await client.query('SELECT FROM store WHERE incarnation <> incarnation() AND NOT replicated')
  return other.rowCount !== 0
}

async function readLostFeeds(client: Client): Promise<readonly LostFeed[]> {
  const { rows } = await client.query<LostFeed>(`
    SELECT l.tenant AS "tenantId", CASE l.feed WHEN 1 THEN 'property' ELSE 'contact' END AS feed,
      l.number::float8 AS "shownNumber", coalesce(f.last_sequence, f.number_offset, 0)::float8 AS "heldNumber"
    FROM lost_number l LEFT JOIN feed f USING (tenant, feed) ORDER BY l.tenant, l.feed LIMIT 1000`)
  return rows
}

/** Every role may read the catalogue. */
async function ownerOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ owner: string }>(
    `SELECT relowner::regrole::text AS owner FROM pg_class WHERE oid = to_regclass('store')`,
  )
  return rows[0]?.owner ?? ''
}

type Found =
  | 'schemaVersion'
  | 'mayMigrate'
  | 'usesLz4'
  | 'needsEpoch'
  | 'waitingFeeds'
  | 'movedCluster'
  | 'pepperIds'
  | 'expiredHolds'
  | 'proxyIgnoredBy'

interface StoreRow extends Pick<InspectedStore, Found> {
  readonly sinceMs: number | null
  readonly retryAfterSeconds: number | null
  readonly newestMs: number | null
  readonly waiting: number
  readonly oldestMs: number | null
}
