import type { SyncProgress } from './options.ts'

/** What the readers of one round use in addition to the connection and the session. */
export interface RoundOptions {
  readonly apiEventType: string | undefined
  readonly pageSize: number | undefined
  readonly overlapMs: number
  readonly signal: AbortSignal | undefined
  readonly report: (phase: SyncProgress['phase'], done: number, total: number) => void
}
