/** Sessions of the console, and links that begin one. */
import { sessionBegun } from '../../audit/changes.ts'
import { sessionsPerKey, sessionsPerStep } from '../console-session-store.ts'
import type { ConsoleSession, ConsoleSessionStore } from '../console-session-store.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Row, Statement } from './connection.ts'

const columns = 'cookie_hash, half_hash, key_id, begun_ms, ends_ms, used_ms'

const addLink: Statement = {
  name: 'login-link-add',
  text: 'INSERT INTO login_link (link_hash, key_id, expires_ms) VALUES ($1, $2, $3)',
}
/** If several calls spend one link at the same time, the first removes it, and the others find it gone. */
const spendLink: Statement = {
  name: 'login-link-spend',
  text: 'DELETE FROM login_link WHERE link_hash = $1 RETURNING key_id, expires_ms',
}
const makeRoom: Statement = {
  name: 'console-session-room',
  text: `DELETE FROM console_session WHERE cookie_hash IN (SELECT cookie_hash FROM console_session
    WHERE key_id = $1 ORDER BY used_ms DESC, cookie_hash OFFSET ${sessionsPerKey - 1})`,
}
const insert: Statement = {
  name: 'console-session-begin',
  text: `INSERT INTO console_session (${columns}) VALUES ($1, $2, $3, $4, $5, $6)`,
}
const find: Statement = {
  name: 'console-session-find',
  text: `SELECT ${columns} FROM console_session WHERE cookie_hash = $1`,
}
const use: Statement = {
  name: 'console-session-use',
  text: 'UPDATE console_session SET used_ms = $2 WHERE cookie_hash = $1 AND used_ms < $2',
}
const end: Statement = {
  name: 'console-session-end',
  text: 'DELETE FROM console_session WHERE cookie_hash = $1',
}
/** Rows that another node has locked are left to it. */
const age: Statement = {
  name: 'console-session-age',
  text: `WITH links AS (
      DELETE FROM login_link WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM login_link WHERE expires_ms <= $1 LIMIT ${sessionsPerStep} FOR UPDATE SKIP LOCKED
      )) RETURNING 1
    ), sessions AS (
      DELETE FROM console_session WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM console_session WHERE ends_ms <= $1 OR used_ms < $2 LIMIT ${sessionsPerStep} FOR UPDATE SKIP LOCKED
      )) RETURNING 1
    )
    SELECT ((SELECT count(*) FROM links) + (SELECT count(*) FROM sessions))::integer AS removed`,
}

interface SessionRow extends Row {
  readonly cookie_hash: string
  readonly half_hash: string
  readonly key_id: string
  readonly begun_ms: string
  readonly ends_ms: string
  readonly used_ms: string
}

interface LinkRow extends Row {
  readonly key_id: string
  readonly expires_ms: string
}

export function databaseConsoleSessions(database: Database, note: NoteChanges): ConsoleSessionStore {
  const change = (statement: Statement, values: readonly (string | number)[]): Promise<void> =>
    database.write(async (session) => void (await session.query(statement, values)))
  return {
    addLink: ({ linkHash, keyId, expiresMs }) => change(addLink, [linkHash, keyId, expiresMs]),
    spendLink: (linkHash, nowMs) =>
      database.write(async (session) => {
        const [row] = await session.query<LinkRow>(spendLink, [linkHash])
        return row !== undefined && nowMs < Number(row.expires_ms) ? row.key_id : undefined
      }),
    begin: ({ cookieHash, halfHash, keyId, begunMs, endsMs, usedMs }, { by, tenantIds }, actor) =>
      database.transaction(async (session) => {
        await session.query(makeRoom, [keyId])
        await session.query(insert, [cookieHash, halfHash, keyId, begunMs, endsMs, usedMs])
        await note(session, sessionBegun(keyId, tenantIds, by), actor)
      }),
    async find(cookieHash) {
      const [row] = await database.read<SessionRow>(find, [cookieHash])
      return row && sessionOf(row)
    },
    use: (cookieHash, usedMs) => change(use, [cookieHash, usedMs]),
    end: (cookieHash) => change(end, [cookieHash]),
    age: (nowMs, unusedSinceMs) =>
      database.write(async (session) => {
        const [row] = await session.query<{ removed: number }>(age, [nowMs, unusedSinceMs])
        return row?.removed ?? 0
      }),
  }
}

function sessionOf(row: SessionRow): ConsoleSession {
  return {
    cookieHash: row.cookie_hash,
    halfHash: row.half_hash,
    keyId: row.key_id,
    begunMs: Number(row.begun_ms),
    endsMs: Number(row.ends_ms),
    usedMs: Number(row.used_ms),
  }
}
