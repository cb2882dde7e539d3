/**
 * What a feature asks of a database, on SQLite and on PostgreSQL alike: statements as values, reads, and writes that are one commit each.
 * A feature writes its SQL once (docs/decisions/0054); only `events/`, the log itself, has SQL for each database.
 */
import { uuidOfBytes } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import type { FeedRefusal } from '../events/feed.ts'
import type { AuditChange } from '../audit/audit.ts'
import type { Actor } from '../audit/actor.ts'
import type { FeedKey } from '../events/feed-key.ts'

/** Ids are texts in lower case, a feed is its number (`feedNumbers`), a truth value a boolean. */
export type Value = string | number | boolean | null | Uint8Array | LogId

/** An event's or a subject's UUID. The tables of the log have 16 bytes for it in SQLite, and so have the tables that refer to them. */
interface LogId {
  readonly uuid: string
}

/** A `LogId` as the databases give it. */
export type StoredLogId = Uint8Array | string

export function uuidOf(stored: StoredLogId): string {
  return typeof stored === 'string' ? stored : uuidOfBytes(stored)
}

/** How the tables name a feed: 2 bytes in every key in place of a word. */
export const feedNumbers: Readonly<Record<FeedName, number>> = { property: 1, contact: 2 }

/** The feed with this number in a row of the given table. Throws if there is none. */
export function feedOfNumber(number: number, table: string): FeedName {
  if (number === 1) return 'property'
  if (number === 2) return 'contact'
  throw new Error(`a row of ${table} names the feed ${number}, which does not exist`)
}

export type Dialect = 'sqlite' | 'postgres'

/** The types of columns in lists of rows. `logId`: what a `LogId` is in the tables, of a UUID's text. */
export type ColumnType = 'integer' | 'bigint' | 'text' | 'uuid' | 'boolean' | 'logId' | 'bytes'

/** A text for both databases, with values `$1`, `$2`, …; a function where it must differ, with a comment that says why. */
export type StatementText = string | ((dialect: Dialect) => string)

/** One statement with its values. Its name is unique among all statements: a connection prepares it once. */
export interface Query<Row extends object = object> {
  readonly name: string
  readonly text: StatementText
  readonly values: readonly Value[]
  /** Never there: it lets the compiler know what the rows are. */
  readonly row?: Row
}

/**
 * A statement as a function of its values. `Row`: its columns as the database gives them, whole numbers as numbers, truth values as a
 * boolean or 0 and 1.
 */
export function statement<Row extends object = object>(
  name: string,
  text: StatementText,
): (...values: readonly Value[]) => Query<Row> {
  return (...values) => ({ name, text, values })
}

/**
 * A list of objects, given as one value (`JSON.stringify`), as a table in FROM: one statement for any number of rows. In PostgreSQL its
 * texts compare by code points, as the columns of the tables do. Bytes are given as `hexOf`. Its name is `rows_given`.
 */
export function rowsFrom(
  parameter: string,
  columns: Readonly<Record<string, ColumnType>>,
): (dialect: Dialect) => string {
  const names = Object.entries(columns)
  return (dialect) => {
    if (dialect === 'sqlite') {
      const values = names.map(([name, type]) => {
        const value = `value ->> '${name}'`
        if (type === 'logId') return `unhex(replace(${value}, '-', '')) AS ${name}`
        return `${type === 'bytes' ? `unhex(substr(${value}, 3))` : value} AS ${name}`
      })
      return `(SELECT ${values.join(', ')} FROM json_each(${parameter})) AS rows_given`
    }
    const typed = names.map(([name, type]) => `${name} ${postgresTypes[type] ?? type}`)
    return `json_to_recordset(${parameter}::json) AS rows_given (${typed.join(', ')})`
  }
}

const postgresTypes: Readonly<Partial<Record<ColumnType, string>>> = {
  text: 'text COLLATE "C"',
  logId: 'uuid',
  bytes: 'bytea',
}

/** Bytes in a list for `rowsFrom`. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`
}

/** A condition on a column, after its name: it is one of a list of values, given as one (`JSON.stringify`). */
export function among(parameter: string, type: 'integer' | 'text' | 'uuid'): (dialect: Dialect) => string {
  return (dialect) =>
    dialect === 'sqlite'
      ? `IN (SELECT value FROM json_each(${parameter}))`
      : `= ANY (ARRAY(SELECT CAST(json_array_elements_text(${parameter}::json) AS ${type})))`
}

/**
 * The text of a statement that removes some rows, and leaves those to it that another session has locked. `condition`: what is after
 * WHERE, with a limit. PostgreSQL gathers the rows' places once; it would look for those of a list of keys again for each row.
 */
export function removal(
  table: string,
  key: string,
  condition: string,
  returning: string = key,
): (dialect: Dialect) => string {
  return (dialect) =>
    dialect === 'sqlite'
      ? `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition}) RETURNING ${returning}`
      : `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${table} WHERE ${condition} FOR UPDATE SKIP LOCKED)) RETURNING ${returning}`
}

/**
 * How long what was noted of requests waits for a row that another session holds. It stays noted, and the connection is one of the few
 * that commits of events take as well.
 */
export const noteLockWaitMs = 1_000

/** Runs statements. */
export interface Sql {
  rows<Row extends object>(query: Query<Row>): Promise<readonly Row[]>
  /** Milliseconds since 1970 by the one clock of the store: PostgreSQL's own, on SQLite the machine's. In a transaction always the same. */
  nowMs(): Promise<number>
}

/** A feed whose counter is locked. `open`: it takes a change that adds no event; the log alone adds events. */
export type LockedFeed = { readonly kind: 'open' } | FeedRefusal

/** One commit. Locks are taken in this order: restriction, feed counter, rows by their keys. */
export interface Transaction extends Sql {
  /** Takes the feed's counter, as an append does, and keeps it until the commit. */
  lockFeed(key: FeedKey): Promise<LockedFeed>
  /** What was read of these feeds may be different after the commit: then whoever watches them is told, on every node. */
  changed(keys: readonly FeedKey[]): void
  /** Records changes in the audit, in the same commit. */
  note(changes: readonly AuditChange[], actor: Actor): Promise<void>
}

interface WriteOptions {
  /** How long to wait for a row that another session has locked; left out: as long as a write may take. On PostgreSQL. */
  readonly lockWaitMs?: number
  /** False: a crash of the database may lose the last of such commits, and their order stays. Left out: they wait for the disk. On PostgreSQL. */
  readonly isDurable?: boolean
}

/** A write that a feature defines: one commit, rolled back if it rejects. On SQLite it runs on the writer's thread, found by its name. */
export interface Write<Args extends readonly unknown[], Answer> extends WriteOptions {
  readonly name: string
  run(tx: Transaction, ...args: Args): Promise<Answer>
}

const writes = new Map<string, Write<readonly unknown[], unknown>>()

/**
 * Defines a write. Its values and its answer travel between threads, so they are data. Between its statements it waits for nothing else:
 * no event is appended meanwhile.
 */
export function defineWrite<Args extends readonly unknown[], Answer>(
  name: string,
  run: (tx: Transaction, ...args: Args) => Promise<Answer>,
  options: WriteOptions = {},
): Write<Args, Answer> {
  if (writes.has(name)) throw new Error(`there are two writes with the name ${name}`)
  const write: Write<Args, Answer> = { name, run, ...options }
  writes.set(name, write)
  return write
}

/** Throws if no module that defines it has been loaded (store/stores.ts). */
export function writeNamed(name: string): Write<readonly unknown[], unknown> {
  const write = writes.get(name)
  if (write === undefined) throw new Error(`no store defines the write ${name}`)
  return write
}

/** A store as a feature uses it. A closed store refuses everything; every error is a `StorageFailure` or a `StorageRefusal`. */
export interface StoreAccess {
  /** Each statement reads its own moment. */
  readonly read: Sql
  /** Resolves when the commit is durable, if the write says nothing else. */
  readonly write: <Args extends readonly unknown[], Answer>(
    write: Write<Args, Answer>,
    ...args: Args
  ) => Promise<Answer>
}
