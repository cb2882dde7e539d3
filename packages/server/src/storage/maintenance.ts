/** The port's part for stopping publication to a whole store for planned work, while reading continues. */

export interface Maintenance {
  /** When it began, milliseconds since 1970, by the clock of the operator's machine. */
  readonly sinceMs: number
  /** How long publishers are told to wait before they send the same again. 1 to 3,600. */
  readonly retryAfterSeconds: number
}

/** After a change, every node of the store has noticed it within this time. */
export const maintenanceNoticeMs = 2_000
