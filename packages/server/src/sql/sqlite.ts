/** Runs on SQLite what features ask of a database: reads on the thread that serves, writes on the writer's. */
import { bytesOfUuid, millisecondsOfTicks } from '@property-events/protocol/plain'
import { refusalOf } from '../events/feed.ts'
import type { FeedState } from '../events/feed.ts'
import { readClock } from '../runtime/clock.ts'
import type { SharedClock } from '../runtime/clock.ts'
import type { Guard } from './guarded.ts'
import type { Connection } from './sqlite/connection.ts'
import type { AuditChange } from '../audit/audit.ts'
import type { Actor } from '../audit/actor.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { Query, Sql, StatementText, StoreAccess, Transaction, Value, Write } from './database.ts'

/** The thread that writes, as the others know it. */
export interface Writer {
  /** Runs a write of a feature, which the writer finds by its name. Rejects as verbs `OnWriter` do. */
  run<Args extends readonly unknown[], Answer>(
    write: Write<Args, Answer>,
    args: Args,
  ): Promise<Written<Answer>>
}

/**
 * Verbs of the writer's thread, as the others call them. They reject with a `StorageFailure`: what SQLite refused, or
 * `storage_unavailable` if the writer died meanwhile.
 */
export type OnWriter<Verbs> = {
  readonly [Verb in keyof Verbs]: Verbs[Verb] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never
}

/** The thread that serves. `onChanged`: called after a commit with each feed that it has changed. */
export function sqliteAccess(
  db: Connection,
  clock: SharedClock | undefined,
  writer: Writer,
  onChanged: (key: FeedKey) => void,
  guarded: Guard,
): StoreAccess {
  const run = statementRunner(db)
  return {
    read: {
      rows: <Row extends object>(query: Query<Row>) => guarded(() => run(query)),
      nowMs: async () => millisecondsOfTicks(readClock(clock)),
    },
    write: (write, ...args) =>
      guarded(async () => {
        const { answer, changed } = await writer.run(write, args)
        for (const key of changed) onChanged(key)
        return answer
      }),
  }
}

/** Notes changes in the audit; called in the transaction that makes them. */
export type NoteChanges = (changes: readonly AuditChange[], actor: Actor) => void

/** What a write has answered, and the feeds that it has changed. */
export interface Written<Answer> {
  readonly answer: Answer
  readonly changed: readonly FeedKey[]
}

/** One commit at a time, on the writer's thread. */
type RunWrite = (
  write: Write<readonly unknown[], unknown>,
  args: readonly unknown[],
) => Promise<Written<unknown>>

export function writeRunner(
  db: Connection,
  clock: SharedClock | undefined,
  note: NoteChanges,
  onChanged: (key: FeedKey) => void,
): RunWrite {
  const sql = sqlOver(db, clock)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const feedOf = db.prepare<[string, string], Pick<FeedState, 'closedBy'>>(
    'SELECT move AS closedBy FROM feed WHERE tenant = CAST(? AS TEXT) AND feed = CAST(? AS TEXT)',
  )
  const lockFeed: Transaction['lockFeed'] = async ({ tenantId, feed }) =>
    refusalOf(feedOf.get(tenantId, feed), 'nothing') ?? { kind: 'open' }
  return async (write, args) => {
    begin.run()
    try {
      const nowMs = await sql.nowMs()
      const changed: FeedKey[] = []
      const tx: Transaction = {
        ...sql,
        nowMs: async () => nowMs,
        lockFeed,
        changed: (keys) => void changed.push(...keys),
        note: async (changes, actor) => note(changes, actor),
      }
      const answer = await write.run(tx, ...args)
      commit.run()
      for (const key of changed) onChanged(key)
      return { answer, changed }
    } catch (error) {
      // A full disk ends a transaction by itself.
      if (db.inTransaction) rollback.run()
      throw error
    }
  }
}

/** What features ask, on a connection. */
export function sqlOver(db: Connection, clock: SharedClock | undefined): Sql {
  const run = statementRunner(db)
  return {
    rows: async <Row extends object>(query: Query<Row>) => run(query),
    nowMs: async () => millisecondsOfTicks(readClock(clock)),
  }
}

/** Runs a statement at once: also for code within a transaction of the writer that does not wait. */
type RunStatement = <Row extends object>(query: Query<Row>) => readonly Row[]

export function statementRunner(db: Connection): RunStatement {
  const prepared = new Map<string, ReturnType<Connection['prepare']>>()
  return <Row extends object>({ name, text, values }: Query<Row>): readonly Row[] => {
    const known = prepared.get(name) ?? db.prepare(sqliteText(text))
    prepared.set(name, known)
    const given = Object.fromEntries(values.map((value, index) => [index + 1, boundValue(value)]))
    if (!known.reader) {
      known.run(given)
      return []
    }
    // It always is: this lets the statement say what its rows are, as the other database's library does.
    const all: unknown = Reflect.get(known, 'all')
    return typeof all === 'function' ? Reflect.apply(all, known, [given]) : []
  }
}

function boundValue(value: Value): string | number | Uint8Array | null {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'object' && value !== null && 'uuid' in value ? bytesOfUuid(value.uuid) : value
}

/** One connection writes, so no row has to be locked. SQLite knows `$1` as a name. */
function sqliteText(text: StatementText): string {
  const own = typeof text === 'string' ? text : text('sqlite')
  return own.replaceAll(/\sFOR (UPDATE|NO KEY UPDATE|KEY SHARE)( SKIP LOCKED)?/g, '')
}
