/**
 * Who is signed in to the console (PROTOCOL §15). A session has two secrets: one in a cookie, which servers on other ports of the host
 * receive as well, and one that the page keeps and other origins cannot read. A link that signs somebody in has one secret. The store
 * receives only hashes: SHA-256 without a pepper, since nobody guesses 128 bits.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { reported, unreported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'
import { idleSessionMs } from './session.ts'
import type { ConsoleSession, ConsoleSessionStore, SessionOrigin } from './session.ts'

/** A session ends after this time, even if it is in use. */
export const sessionLengthMs = 12 * 3_600_000

/** A link that has not been used within this time no longer works. */
export const linkLengthMs = 600_000

/** Reading or removing personal data requires a session that began at most this long ago. */
const freshSessionMs = 300_000

/** The interval between two notes that a session is in use. */
const useEveryMs = 60_000

/** The same as for keys: a session that was ended on another node ends here within 2 s. */
const cacheMs = 1_000
const cacheLimit = 2_000

interface BegunSession {
  readonly session: ConsoleSession
  /** The secret in the cookie. */
  readonly cookie: string
  /** The secret that the page keeps. */
  readonly half: string
}

/** Each method rejects when the store does. */
export interface ConsoleSessions {
  /** Uses the link up and returns its key. `undefined`: the link was used before, is too old, or never existed. */
  spendLink(secret: string): Promise<string | undefined>
  begin(keyId: string, origin: SessionOrigin): Promise<BegunSession>
  /** The session that has both secrets; the call counts as using it. `undefined`: there is no such session, or no longer. */
  find(cookie: string, half: string): Promise<ConsoleSession | undefined>
  /** Whether the session is still open. The call counts as using it. */
  isOpen(session: ConsoleSession): Promise<boolean>
  isFresh(session: ConsoleSession): boolean
  /** When the session stops being fresh. In milliseconds since 1970, as below. */
  freshUntilMs(session: ConsoleSession): number
  /** When the session ends if it is used now and never again. */
  idleEndMs(session: ConsoleSession): number
  end(session: ConsoleSession): Promise<void>
}

interface ConsoleSessionsOptions {
  readonly store: ConsoleSessionStore
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly report?: TaskReport
}

interface CachedSession {
  readonly session: ConsoleSession
  readonly askedMs: number
}

export function consoleSessions({
  store,
  clock,
  report = unreported,
}: ConsoleSessionsOptions): ConsoleSessions {
  const cache = new BoundedMap<string, CachedSession>(cacheLimit)

  async function lookUp(cookieHash: string): Promise<ConsoleSession | undefined> {
    const nowMs = clock()
    const before = cache.get(cookieHash)
    const ageMs = nowMs - (before?.askedMs ?? 0)
    if (before !== undefined && ageMs >= 0 && ageMs < cacheMs) return lasting(before.session, nowMs)
    const found = await store.find(cookieHash)
    if (found === undefined) cache.delete(cookieHash)
    else cache.set(cookieHash, { session: found, askedMs: nowMs })
    return found && lasting(found, nowMs)
  }

  async function use(session: ConsoleSession): Promise<void> {
    const usedMs = clock()
    if (usedMs - session.usedMs < useEveryMs) return
    const { cookieHash } = session
    const askedMs = cache.get(cookieHash)?.askedMs ?? usedMs
    cache.set(cookieHash, { session: { ...session, usedMs }, askedMs })
    // If the store has no room for the note, the session still works.
    await reported(report, 'use_session', store.use(cookieHash, usedMs))
  }

  return {
    spendLink: (secret) => store.spendLink(hashOf(secret), clock()),

    async begin(keyId, origin) {
      const nowMs = clock()
      const cookie = newSecret(32)
      const half = Buffer.concat([randomBytes(24), markOf(cookie)]).toString('base64url')
      const session = {
        cookieHash: hashOf(cookie),
        halfHash: hashOf(half),
        keyId,
        begunMs: nowMs,
        endsMs: nowMs + sessionLengthMs,
        usedMs: nowMs,
      }
      await store.begin(session, origin, `key:${keyId}`)
      return { session, cookie, half }
    },

    async find(cookie, half) {
      const session = await lookUp(hashOf(cookie))
      if (session === undefined || !isSame(session.halfHash, hashOf(half))) return undefined
      await use(session)
      return session
    },

    async isOpen({ cookieHash }) {
      const session = await lookUp(cookieHash)
      if (session !== undefined) await use(session)
      return session !== undefined
    },

    isFresh: (session) => clock() < freshUntilMs(session),
    freshUntilMs,
    idleEndMs: ({ endsMs }) => Math.min(endsMs, clock() + idleSessionMs),

    async end({ cookieHash }) {
      await store.end(cookieHash)
      cache.delete(cookieHash)
    },
  }
}

/** Makes a link for a key. Only the answer contains the secret: 22 characters of `A-Z a-z 0-9 - _`, 128 bits. */
export async function makeLoginLink(
  store: Pick<ConsoleSessionStore, 'addLink'>,
  keyId: string,
  nowMs: number,
): Promise<string> {
  const secret = newSecret(16)
  await store.addLink({ linkHash: hashOf(secret), keyId, expiresMs: nowMs + linkLengthMs })
  return secret
}

function freshUntilMs({ begunMs }: ConsoleSession): number {
  return begunMs + freshSessionMs
}

function lasting(session: ConsoleSession, nowMs: number): ConsoleSession | undefined {
  const isOver = nowMs >= session.endsMs || nowMs - session.usedMs >= idleSessionMs
  return isOver ? undefined : session
}

/**
 * Of several cookies of our name, the one that a half belongs to: its last 8 bytes are the beginning of the cookie's hash. Anybody on another port
 * of the host can plant cookies, and those cost no request to the store.
 */
export function cookieOfHalf(cookies: readonly string[], half: string): string | undefined {
  const mark = Buffer.from(half, 'base64url').subarray(24)
  return cookies.find((cookie) => markOf(cookie).equals(mark))
}

function markOf(cookie: string): Buffer {
  return createHash('sha256').update(cookie).digest().subarray(0, 8)
}

function newSecret(byteLength: number): string {
  return randomBytes(byteLength).toString('base64url')
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

function isSame(hash: string, other: string): boolean {
  return hash.length === other.length && timingSafeEqual(Buffer.from(hash), Buffer.from(other))
}
