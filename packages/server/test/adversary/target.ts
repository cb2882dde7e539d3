/** What is attacked, as it is told to other processes, and what an adversary is. */
import type { Random } from '../../../client/test/support/random.ts'
import type { Tally } from './tally.ts'

export interface Target {
  readonly port: number
  /** Read a tenant whose first page of a thousand events is large. */
  readonly largeKeys: readonly string[]
  /** Of that page, about. */
  readonly largeBytes: number
  /** Read a tenant with many events, all of them small. */
  readonly longKeys: readonly string[]
  /** Publish, each to a tenant of its own. */
  readonly publishKeys: readonly string[]
  /** For how long the service waits for a reader that takes nothing. */
  readonly readerTimeoutMs: number
  /** How much of everything; 1 in the short form. */
  readonly strength: number
}

/** Does harm until the signal comes, with nothing but sockets; then closes all of them and says what it was answered. */
export type Adversary = (target: Target, random: Random, signal: AbortSignal) => Promise<Tally>
