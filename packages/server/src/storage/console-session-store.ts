/**
 * The port's part for people who work with the service in a browser (PROTOCOL §15): links that sign somebody in, and sessions. Of the
 * secrets of either there are SHA-256 hashes alone. Neither goes with a backup: a restored copy begins with nobody signed in.
 */
import type { Actor } from './audit-store.ts'

/** Signs somebody in with a key, once. Times here are milliseconds since 1970, by the clock of the node that gives them. */
export interface LoginLink {
  readonly linkHash: string
  readonly keyId: string
  /** It is of no use from then on. */
  readonly expiresMs: number
}

export interface ConsoleSession {
  /** Of what stands in the cookie. */
  readonly cookieHash: string
  /** Of what the page keeps by itself. */
  readonly halfHash: string
  readonly keyId: string
  readonly begunMs: number
  /** However much it is used. */
  readonly endsMs: number
  /** Sampled: at most a minute old. */
  readonly usedMs: number
}

/** How a session was begun, for the audit: in that of each tenant of its key, or in the operator's. */
export interface SessionOrigin {
  readonly by: 'pasted_key' | 'link'
  readonly tenantIds: readonly string[]
}

/** One that was not used for so long is over. */
export const idleSessionMs = 3_600_000

/** A key has no more: with one more, the one that was used longest ago ends. */
export const sessionsPerKey = 100

/** How many rows `age` removes in one step, of each kind. */
export const sessionsPerStep = 500

export interface ConsoleSessionStore {
  addLink(link: LoginLink): Promise<void>
  /** The key of the link, which is gone with that; `undefined`: there is no such link (any more). Of any number of calls one gets it. */
  spendLink(linkHash: string, nowMs: number): Promise<string | undefined>
  begin(session: ConsoleSession, origin: SessionOrigin, actor: Actor): Promise<void>
  /** Also one that is over and not removed yet. */
  find(cookieHash: string): Promise<ConsoleSession | undefined>
  /** It was used then. Later times win. Nothing where it has ended. */
  use(cookieHash: string, usedMs: number): Promise<void>
  /** Nothing where it has ended already. */
  end(cookieHash: string): Promise<void>
  /**
   * One step: removes links and sessions that are over, and sessions that were last used before `unusedSinceMs`. Answers how many; 0:
   * nothing is left to do. Any number of nodes may call it at once.
   */
  age(nowMs: number, unusedSinceMs: number): Promise<number>
}
