/**
 * The port's part for people who work with the service in a browser (PROTOCOL §15): sign-in links, and sessions. It stores only SHA-256
 * hashes of their secrets. Both go with a new epoch in every feed: in a restored copy, nobody of before is signed in.
 */
import type { Actor } from '../audit/actor.ts'

/** A link that signs a person in with a key, once. Times here are milliseconds since 1970, by the clock of the node that sets them. */
export interface LoginLink {
  readonly linkHash: string
  readonly keyId: string
  /** The link is useless from then on. */
  readonly expiresMs: number
}

export interface ConsoleSession {
  /** The hash of the cookie's secret. */
  readonly cookieHash: string
  /** The hash of the secret that the page keeps. */
  readonly halfHash: string
  readonly keyId: string
  readonly begunMs: number
  /** The session ends then, however much it is used. */
  readonly endsMs: number
  /** Sampled: at most a minute old. */
  readonly usedMs: number
}

/** How a session was begun, for the audit of each tenant of its key, or for the operator's. */
export interface SessionOrigin {
  readonly by: 'pasted_key' | 'link'
  readonly tenantIds: readonly string[]
}

/** A session ends if it is unused for this long. */
export const idleSessionMs = 3_600_000

/** The most sessions of a key: with one more, the least recently used one ends. */
export const sessionsPerKey = 100

/** The most rows of each kind that `age` removes in one step. */
export const sessionsPerStep = 500

export interface ConsoleSessionStore {
  addLink(link: LoginLink): Promise<void>
  /** The key of the link, which this removes; `undefined`: there is no such link (any more). Of any number of calls, one gets the key. */
  spendLink(linkHash: string, nowMs: number): Promise<string | undefined>
  begin(session: ConsoleSession, origin: SessionOrigin, actor: Actor): Promise<void>
  /** Also finds a session that is over and not removed yet. */
  find(cookieHash: string): Promise<ConsoleSession | undefined>
  /** Records the use of a session. Later times win. Has no effect if the session has ended. */
  use(cookieHash: string, usedMs: number): Promise<void>
  /** Has no effect if the session has already ended. */
  end(cookieHash: string): Promise<void>
  /**
   * Takes one step: removes links and sessions that are over, and sessions that were last used before `unusedSinceMs`. Returns how many;
   * 0: nothing is left to do. Any number of nodes may call it at the same time.
   */
  age(nowMs: number, unusedSinceMs: number): Promise<number>
}
