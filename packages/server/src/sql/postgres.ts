/** Runs on PostgreSQL what features ask of a database. */
import { refusalOf } from '../events/feed.ts'
import type { FeedState } from '../events/feed.ts'
import type { Guard } from './guarded.ts'
import type { Database } from './postgres/connection.ts'
import type { Row, Session, Statement, Value } from './postgres/session.ts'
import type { AuditChange } from '../audit/audit.ts'
import type { Actor } from '../audit/actor.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { feedNumbers } from './database.ts'
import type { LockedFeed, Query, Sql, StoreAccess, Transaction, Value as SharedValue } from './database.ts'

const waitForNoDisk: Statement = { name: 'wait-for-no-disk', text: 'SET LOCAL synchronous_commit = off' }
const readNow: Statement = {
  name: 'now-ms',
  text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  numbers: true,
}
/** Taken as by an append. */
const lockCounter: Statement = {
  name: 'lock-feed',
  text: 'SELECT move AS "closedBy" FROM feed WHERE tenant = $1 AND feed = $2 FOR NO KEY UPDATE',
}

/** Notes changes in the audit; called in the transaction that makes them. */
export type NoteChanges = (session: Session, changes: readonly AuditChange[], actor: Actor) => Promise<void>

/** What a database's features need beside it. */
interface AccessParts {
  readonly database: Database
  /** Replaces the database's clock, for tests: milliseconds since 1970. */
  readonly givenMs: () => number | null
  readonly note: NoteChanges
  /** Called after each commit with the feeds that it has changed. */
  readonly onChanged: (keys: readonly FeedKey[]) => void
}

export function postgresAccess(
  { database, givenMs, note, onChanged }: AccessParts,
  guarded: Guard,
): StoreAccess {
  const read = sqlOver((statement, values) => guarded(() => database.read(statement, values)), givenMs)
  return {
    read,
    write: (write, ...args) =>
      guarded(async () => {
        const changed: FeedKey[] = []
        const answer = await database.transaction(async (session) => {
          if (write.isDurable === false) await session.query(waitForNoDisk, [])
          return write.run(transactionOn(session, { givenMs, note, changed }), ...args)
        }, write.lockWaitMs)
        if (changed.length > 0) onChanged(changed)
        return answer
      }),
  }
}

function transactionOn(
  session: Session,
  { givenMs, note, changed }: Pick<AccessParts, 'givenMs' | 'note'> & { readonly changed: FeedKey[] },
): Transaction {
  const sql = sqlOver((statement, values) => session.query(statement, values), givenMs)
  let nowMs: Promise<number> | undefined
  return {
    ...sql,
    nowMs: () => (nowMs ??= sql.nowMs()),
    async lockFeed({ tenantId, feed }): Promise<LockedFeed> {
      const [row] = await session.query<Pick<FeedState, 'closedBy'> & Row>(lockCounter, [
        tenantId,
        feedNumbers[feed],
      ])
      return refusalOf(row, 'nothing') ?? { kind: 'open' }
    },
    changed: (keys) => void changed.push(...keys),
    note: (changes, actor) => note(session, changes, actor),
  }
}

export type Ask = <R extends Row>(statement: Statement, values: readonly Value[]) => Promise<readonly R[]>

/** What features ask, on a session or a pool. */
export function sqlOver(ask: Ask, givenMs: () => number | null = () => null): Sql {
  return {
    rows: <R extends object>(query: Query<R>) => ask<R>(statementOf(query), query.values.map(sentValue)),
    async nowMs() {
      const given = givenMs()
      if (given !== null) return given
      const [row] = await ask<{ now: number }>(readNow, [])
      if (row === undefined) throw new Error('the database does not tell its time')
      return row.now
    },
  }
}

function sentValue(value: SharedValue): Value {
  return typeof value === 'object' && value !== null && 'uuid' in value ? value.uuid : value
}

/** What features ask, in a session of the log. */
export function sqlOn(session: Pick<Session, 'query'>): Sql {
  return sqlOver((statement, values) => session.query(statement, values))
}

const statements = new Map<string, Statement>()

/** A statement as a connection prepares it. */
export function statementOf({ name, text }: Query): Statement {
  const known = statements.get(name)
  if (known !== undefined) return known
  const made = { name, text: typeof text === 'string' ? text : text('postgres'), numbers: true } as const
  statements.set(name, made)
  return made
}
