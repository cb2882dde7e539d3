/** Sessions of the console, and links that begin one, in a database. */
import { sessionBegun } from '../audit/changes.ts'
import { defineWrite, removal, statement } from '../sql/database.ts'
import type { StoreAccess } from '../sql/database.ts'
import type { Actor } from '../audit/actor.ts'
import { sessionsPerKey, sessionsPerStep } from './session.ts'
import type { ConsoleSession, ConsoleSessionStore, LoginLink, SessionOrigin } from './session.ts'

const addLink = statement(
  'login-link-add',
  'INSERT INTO login_link (link_hash, key_id, expires_ms) VALUES ($1, $2, $3)',
)
/** If several calls spend one link at the same time, the first removes it, and the others find it gone. */
const spendLink = statement<LinkRow>(
  'login-link-spend',
  'DELETE FROM login_link WHERE link_hash = $1 RETURNING key_id, expires_ms',
)
/** SQLite has no OFFSET without a limit; this one stands for none. */
const makeRoom = statement(
  'console-session-room',
  `DELETE FROM console_session WHERE cookie_hash IN (SELECT cookie_hash FROM console_session
    WHERE key_id = $1 ORDER BY used_ms DESC, cookie_hash LIMIT 1000000 OFFSET ${sessionsPerKey - 1})`,
)
const insert = statement(
  'console-session-begin',
  `INSERT INTO console_session (cookie_hash, half_hash, key_id, begun_ms, ends_ms, used_ms)
    VALUES ($1, $2, $3, $4, $5, $6)`,
)
const find = statement<ConsoleSession>(
  'console-session-find',
  `SELECT cookie_hash AS "cookieHash", half_hash AS "halfHash", key_id AS "keyId", begun_ms AS "begunMs",
      ends_ms AS "endsMs", used_ms AS "usedMs" FROM console_session WHERE cookie_hash = $1`,
)
const use = statement(
  'console-session-use',
  'UPDATE console_session SET used_ms = $2 WHERE cookie_hash = $1 AND used_ms < $2',
)
const end = statement('console-session-end', 'DELETE FROM console_session WHERE cookie_hash = $1')
const removeLinks = statement(
  'login-link-age',
  removal('login_link', 'link_hash', `expires_ms <= $1 LIMIT ${sessionsPerStep}`),
)
const removeOver = statement(
  'console-session-age',
  removal('console_session', 'cookie_hash', `(ends_ms <= $1 OR used_ms < $2) LIMIT ${sessionsPerStep}`),
)

const putLink = defineWrite(
  'login-link-add',
  async (tx, { linkHash, keyId, expiresMs }: LoginLink): Promise<void> => {
    await tx.rows(addLink(linkHash, keyId, expiresMs))
  },
)

const takeLink = defineWrite(
  'login-link-spend',
  async (tx, linkHash: string, nowMs: number): Promise<string | undefined> => {
    const [row] = await tx.rows(spendLink(linkHash))
    return row !== undefined && nowMs < row.expires_ms ? row.key_id : undefined
  },
)

const beginSession = defineWrite(
  'console-session-begin',
  async (tx, session: ConsoleSession, { by, tenantIds }: SessionOrigin, actor: Actor): Promise<void> => {
    const { cookieHash, halfHash, keyId, begunMs, endsMs, usedMs } = session
    await tx.rows(makeRoom(keyId))
    await tx.rows(insert(cookieHash, halfHash, keyId, begunMs, endsMs, usedMs))
    await tx.note(sessionBegun(keyId, tenantIds, by), actor)
  },
)

const useSession = defineWrite(
  'console-session-use',
  async (tx, cookieHash: string, usedMs: number): Promise<void> => {
    await tx.rows(use(cookieHash, usedMs))
  },
)

const endSession = defineWrite('console-session-end', async (tx, cookieHash: string): Promise<void> => {
  await tx.rows(end(cookieHash))
})

const ageSessions = defineWrite(
  'console-session-age',
  async (tx, nowMs: number, unusedSinceMs: number): Promise<number> => {
    const links = await tx.rows(removeLinks(nowMs))
    const sessions = await tx.rows(removeOver(nowMs, unusedSinceMs))
    return links.length + sessions.length
  },
)

export function consoleSessionStore({ read, write }: StoreAccess): ConsoleSessionStore {
  return {
    addLink: (link) => write(putLink, link),
    spendLink: (linkHash, nowMs) => write(takeLink, linkHash, nowMs),
    begin: (session, origin, actor) => write(beginSession, session, origin, actor),
    find: async (cookieHash) => (await read.rows(find(cookieHash)))[0],
    use: (cookieHash, usedMs) => write(useSession, cookieHash, usedMs),
    end: (cookieHash) => write(endSession, cookieHash),
    age: (nowMs, unusedSinceMs) => write(ageSessions, nowMs, unusedSinceMs),
  }
}

interface LinkRow {
  readonly key_id: string
  readonly expires_ms: number
}
