/** Stopping publication to a whole store for planned work, while reading continues. */
import type { Actor } from '../audit/actor.ts'

export interface Maintenance {
  /** When it began, milliseconds since 1970, by the clock of the operator's machine. */
  readonly sinceMs: number
  /** How long publishers are told to wait before they send the same again. 1 to 3,600. */
  readonly retryAfterSeconds: number
}

/** After a change, every node of the store has noticed it within this time. */
export const maintenanceNoticeMs = 2_000

export interface MaintenanceStore {
  /**
   * The maintenance that an operator has begun and not ended; it survives restarts. The store itself continues to accept appends: nodes
   * refuse publications while it is on (`watch.ts`).
   */
  maintenance(): Promise<Maintenance | undefined>
  /** Begins maintenance, or changes its values; `undefined` ends it. */
  setMaintenance(maintenance: Maintenance | undefined, actor: Actor): Promise<void>
}
