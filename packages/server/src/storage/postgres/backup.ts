/**
 * A copy of the store in one file, made while it is in use, and a new store from such a file. It is for stores of up to some millions of
 * events, and for moving; larger ones are backed up with PostgreSQL's own tools (docs/operating/backup-and-restore.md). The file consists
 * of lines: the name of a table, then its rows as JSON, as PostgreSQL writes and reads them. The last line gives the number of rows, so
 * that an incomplete file is not taken for a whole one.
 */
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { writeNewFile } from '../new-file.ts'
import { StorageRefusal } from '../storage.ts'
import { oneSnapshot } from './connection.ts'
import type { Database, Session, Statement } from './connection.ts'
import { fileLines } from './file-lines.ts'
import { migrations } from './migrate.ts'
import type { FillStore } from './migrate.ts'

const formatLine = 'property-events postgres backup 2'
/** The first format of version 0.1: it has no end, so nothing shows whether it is complete. */
const openFormatLine = 'property-events postgres backup 1'
const endLine = /^end (\d+)$/

/** In an order in which they can be filled again, each with its columns in reading order. */
const tables: Readonly<Record<string, string>> = {
  store: 'only_row',
  tenant: 'tenant_no',
  feed: 'tenant, feed',
  event: 'tenant, feed, position',
  event_id: 'tenant, feed, id',
  subject: 'tenant, feed, subject',
  view: 'tenant, feed, view',
  view_entry: 'tenant, feed, view, ordinal',
  branch_set: 'tenant, feed, branch_set',
  branch_of_set: 'tenant, feed, branch, branch_set',
  branch_latest: 'tenant, feed, subject, branch_set',
  key: 'key_no',
  key_grant: 'key_no, grant_no',
  time_reservation: 'only_row',
  erasure: 'erasure',
  erasure_node: 'erasure, node',
  erasure_sent: 'erasure, hour, key_id, view, block',
  erasure_noted: 'erasure',
  reduced_event: 'tenant, feed, revision, position',
  hold: 'hold',
  kept_event: 'tenant, feed, subject, position',
  restriction: 'restriction',
  retention_rule: 'tenant, rule',
  thin_progress: 'tenant, feed',
  thinned_event: 'tenant, feed, thinned, position',
  expiring_contact: 'tenant, subject',
  expiry_progress: 'tenant',
  leaving_tenant: 'tenant',
  tenant_deletion: 'deletion',
  tenant_deletion_node: 'deletion, node',
  actor_name: 'actor',
  audit: 'audit_no',
  sent: 'key_id, tenant, feed, view, hour, block',
  sent_run: 'run',
  usage_hour: 'hour, key_id, operation, status',
  usage_day: 'day, key_id, operation, status',
  published: 'tenant, minute, feed, key_id',
  refusal: 'tenant, minute, feed, key_id, place',
  refusal_hour: 'hour, key_id',
  consumer: 'tenant, feed, key_id, name',
  consumer_view: 'tenant, feed, key_id, name, view, space, epoch',
  consumer_sent: 'tenant, feed, key_id, name, minute, view, space, epoch, route',
  consumer_refusal: 'key_id, name, tenant, code',
  consumer_result: 'tenant, subject, key_id, name',
  presence: 'kind, tenant, key_id, part',
}

const fetchRows: Statement = { name: 'backup-fetch', text: 'FETCH 500 FROM rows' }
const closeRows: Statement = { name: 'backup-close', text: 'CLOSE rows' }

export function backUp(database: Database, path: string): Promise<void> {
  return writeNewFile(path, async (partial) => {
    const file = await open(partial, 'r+')
    try {
      await database.longTransaction((session) => writeTables(session, file))
    } finally {
      await file.close()
    }
  })
}

async function writeTables(session: Session, file: FileHandle): Promise<void> {
  // The copy holds a whole prefix of every feed.
  await session.query(oneSnapshot, [])
  await file.write(`${formatLine}\n`)
  let count = 0
  for (const [table, order] of Object.entries(tables)) {
    await file.write(`${table}\n`)
    const declare = `DECLARE rows CURSOR FOR SELECT row_to_json(t)::text AS line FROM ${table} t ORDER BY ${order}`
    await session.query({ name: `backup-${table}`, text: declare }, [])
    for (;;) {
      const rows = await session.query<{ line: string }>(fetchRows, [])
      if (rows.length === 0) break
      count += rows.length
      await file.write(rows.map(({ line }) => `${line}\n`).join(''))
    }
    await session.query(closeRows, [])
  }
  await file.write(`end ${count}\n`)
}

/**
 * Makes a new store from such a file, completely or not at all. Its tables are filled in the form that the file has, and brought up to
 * date after that: whatever a later schema added is included, and whatever an earlier one lacks is created.
 */
export async function fillFromBackup(
  path: string,
  onFilled: (bytes: number) => void = () => undefined,
): Promise<FillStore> {
  const schemaVersion = await schemaVersionOf(path)
  if (schemaVersion > migrations.length) {
    throw new StorageRefusal(
      'newer_schema',
      `${path} is a backup of schema ${schemaVersion}, and this program knows schemas up to ${migrations.length}. ` +
        'Restore it with the newer program that wrote it.',
    )
  }
  return { schemaVersion, fill: (session) => restore(session, path, onFilled) }
}

/** It is in the first row of the first table. */
async function schemaVersionOf(path: string): Promise<number> {
  for await (const line of fileLines(path)) {
    const version = /^\{.*"schema_version":(\d+)/.exec(line)?.[1]
    if (version !== undefined) return Number(version)
    if (line !== formatLine && line !== openFormatLine && line !== 'store') throw notABackup(path)
  }
  throw notWhole(path)
}

/** Maintenance belongs to the store that was copied. A backup of an earlier schema has no such columns yet. */
const endMaintenance = `DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'store'::regclass AND attname = 'maintenance_since') THEN
    UPDATE store SET maintenance_since = NULL, maintenance_retry_after = NULL;
  END IF;
END $$`

async function restore(session: Session, path: string, onFilled: (bytes: number) => void): Promise<void> {
  let table: string | undefined
  /** An earlier schema may lack some. */
  const found = new Set<string>()
  let rows: string[] = []
  let [count, bytes] = [0, 0]
  const put = async (): Promise<void> => {
    if (table !== undefined && rows.length > 0) await insertRows(session, table, rows)
    rows = []
    onFilled(bytes)
  }
  let format: string | undefined
  let told: number | undefined
  for await (const line of fileLines(path)) {
    if (format === undefined) {
      if (line !== formatLine && line !== openFormatLine) throw notABackup(path)
      format = line
    } else if (told !== undefined) throw notWhole(path)
    else if (line.startsWith('{')) {
      if (!isJson(line)) throw notWhole(path)
      rows.push(line)
      count += 1
      bytes += Buffer.byteLength(line) + 1
      if (rows.length === 500) await put()
    } else {
      await put()
      const end = endLine.exec(line)?.[1]
      if (end !== undefined) told = Number(end)
      else if (Object.hasOwn(tables, line)) {
        table = line
        found.add(line)
      } else throw notWhole(path)
    }
  }
  if (format === undefined) throw notABackup(path)
  if (format === formatLine && told !== count) throw notWhole(path)
  await put()
  // Numbers may have been shown after the copy was made that it does not hold (D13).
  await session.query({ name: 'restore-stop', text: 'UPDATE store SET needs_epoch = true' }, [])
  await session.script(endMaintenance)
  for (const [table, column] of [
    ['tenant', 'tenant_no'],
    ['key', 'key_no'],
    ['audit', 'audit_no'],
  ] as const) {
    if (!found.has(table)) continue
    const text = `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), max(${column})) FROM ${table}`
    await session.query({ name: `restore-${table}-numbers`, text }, [])
  }
}

async function insertRows(session: Session, table: string, rows: readonly string[]): Promise<void> {
  const text = `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, $1)`
  await session.query({ name: `restore-${table}`, text }, [`[${rows.join(',')}]`])
}

/** A line that was cut off is not JSON. */
function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function notWhole(path: string): StorageRefusal {
  return new StorageRefusal(
    'not_a_store',
    `${path} is a part of a backup, or was changed: its end or something in between is missing. Fetch it again from where it was made; nothing was restored.`,
  )
}

function notABackup(path: string): StorageRefusal {
  return new StorageRefusal('not_a_store', `${path} is not a backup of a PostgreSQL store.`)
}
