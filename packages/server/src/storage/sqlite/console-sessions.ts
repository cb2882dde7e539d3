/** Sessions of the console, and links that begin one: read on this thread, changed by the writer's. */
import { sessionBegun } from '../../audit/changes.ts'
import type { Actor } from '../../audit/audit.ts'
import { sessionsPerKey, sessionsPerStep } from '../console-session-store.ts'
import type {
  ConsoleSession,
  ConsoleSessionStore,
  LoginLink,
  SessionOrigin,
} from '../console-session-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface ConsoleSessionWrites {
  addLoginLink(link: LoginLink): void
  spendLoginLink(linkHash: string, nowMs: number): string | undefined
  beginSession(session: ConsoleSession, origin: SessionOrigin, actor: Actor): void
  useSession(cookieHash: string, usedMs: number): void
  endSession(cookieHash: string): void
  ageSessions(nowMs: number, unusedSinceMs: number): number
}

interface SessionRow {
  readonly cookie_hash: string
  readonly half_hash: string
  readonly key_id: string
  readonly begun_ms: number
  readonly ends_ms: number
  readonly used_ms: number
}

const columns = 'cookie_hash, half_hash, key_id, begun_ms, ends_ms, used_ms'

export function fileConsoleSessions(db: Connection, link: WriterLink): Unguarded<ConsoleSessionStore> {
  const find = db.prepare<[string], SessionRow>(
    `SELECT ${columns} FROM console_session WHERE cookie_hash = CAST(? AS TEXT)`,
  )
  return {
    addLink: (added) => link.call('addLoginLink', added),
    spendLink: (linkHash, nowMs) => link.call('spendLoginLink', linkHash, nowMs),
    begin: (session, origin, actor) => link.call('beginSession', session, origin, actor),
    find(cookieHash) {
      const row = find.get(cookieHash)
      return row && sessionOf(row)
    },
    use: (cookieHash, usedMs) => link.call('useSession', cookieHash, usedMs),
    end: (cookieHash) => link.call('endSession', cookieHash),
    age: (nowMs, unusedSinceMs) => link.call('ageSessions', nowMs, unusedSinceMs),
  }
}

function sessionOf(row: SessionRow): ConsoleSession {
  return {
    cookieHash: row.cookie_hash,
    halfHash: row.half_hash,
    keyId: row.key_id,
    begunMs: row.begun_ms,
    endsMs: row.ends_ms,
    usedMs: row.used_ms,
  }
}

export function consoleSessionWrites(db: Connection, note: NoteChanges): ConsoleSessionWrites {
  const addLink = db.prepare('INSERT INTO login_link (link_hash, key_id, expires_ms) VALUES (?, ?, ?)')
  const spend = db.prepare<[string], { readonly key_id: string; readonly expires_ms: number }>(
    'DELETE FROM login_link WHERE link_hash = ? RETURNING key_id, expires_ms',
  )
  const insert = db.prepare(`INSERT INTO console_session (${columns}) VALUES (?, ?, ?, ?, ?, ?)`)
  const makeRoom = db.prepare(
    `DELETE FROM console_session WHERE cookie_hash IN (SELECT cookie_hash FROM console_session
      WHERE key_id = ? ORDER BY used_ms DESC, cookie_hash LIMIT -1 OFFSET ${sessionsPerKey - 1})`,
  )
  const use = db.prepare('UPDATE console_session SET used_ms = ? WHERE cookie_hash = ? AND used_ms < ?')
  const end = db.prepare('DELETE FROM console_session WHERE cookie_hash = ?')
  const removeLinks = db.prepare(
    `DELETE FROM login_link WHERE link_hash IN (SELECT link_hash FROM login_link WHERE expires_ms <= ? LIMIT ${sessionsPerStep})`,
  )
  const removeOver = db.prepare(
    `DELETE FROM console_session WHERE cookie_hash IN
      (SELECT cookie_hash FROM console_session WHERE ends_ms <= ? OR used_ms < ? LIMIT ${sessionsPerStep})`,
  )
  const begin = db.transaction((session: ConsoleSession, { by, tenantIds }: SessionOrigin, actor: Actor) => {
    const { cookieHash, halfHash, keyId, begunMs, endsMs, usedMs } = session
    makeRoom.run(keyId)
    insert.run(cookieHash, halfHash, keyId, begunMs, endsMs, usedMs)
    note(sessionBegun(keyId, tenantIds, by), actor)
  })
  const age = db.transaction(
    (nowMs: number, unusedSinceMs: number): number =>
      removeLinks.run(nowMs).changes + removeOver.run(nowMs, unusedSinceMs).changes,
  )
  return {
    addLoginLink: ({ linkHash, keyId, expiresMs }) => void addLink.run(linkHash, keyId, expiresMs),
    spendLoginLink(linkHash, nowMs) {
      const row = spend.get(linkHash)
      return row !== undefined && nowMs < row.expires_ms ? row.key_id : undefined
    },
    beginSession: (session, origin, actor) => begin.immediate(session, origin, actor),
    useSession: (cookieHash, usedMs) => void use.run(usedMs, cookieHash, usedMs),
    endSession: (cookieHash) => void end.run(cookieHash),
    ageSessions: (nowMs, unusedSinceMs) => age.immediate(nowMs, unusedSinceMs),
  }
}
