/** Where the messages of an endpoint come from: its view of a feed (feed-source.ts), or the notices about other endpoints (notice-source.ts). */
import type { Message } from './message.ts'
import type { ViewEvent } from './waiting-rows.ts'

/** Events, ascending, and the number up to which there are no others. */
export interface SourceRead {
  readonly events: readonly ViewEvent[]
  readonly through: number
}

export interface MessageSource {
  /** Of which the numbers are now; `undefined`: nothing can be read yet. */
  readonly epoch: string | undefined
  /** Whether there may be events after this number. */
  hasAfter(number: number): boolean
  read(after: number, limit: number): Promise<SourceRead>
  /** The next event of a subject after a number, up to `through`; `undefined`: there is none. */
  find(subjectId: string, after: number, through: number): Promise<number | undefined>
  /**
   * What is posted for an event; `undefined`: it is not in the view any more. `since`: the number that was acknowledged last of its
   * property, for endpoints that want changes. It counts as sent from now on.
   */
  message(event: ViewEvent, since: number | undefined, atMs: number): Promise<Message | undefined>
  /** Calls the one listener whenever there may be something new. */
  onChange(listener: () => void): void
  /** Nothing that was read before is used any more (D17). */
  forget(): void
  stop(): void
}
