/** Tells the operator that an erasure cannot go on. Ids alone: what is erased is in no log. */
import type { Logger } from 'pino'

export function reportErasing(log: Logger, erasureId: string, error: unknown): void {
  log.warn({ erasureId, err: error }, 'an erasure could not go on; it is tried again')
}
