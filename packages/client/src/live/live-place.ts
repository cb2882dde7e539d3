/** Where a reader that follows a feed is, and which events it wants. */

/** Moves on with each answer. `answers` counts those that could be used; with none, nothing is known of the feed yet. */
export interface LivePlace {
  after: number
  readonly epoch: string
  answers: number
}

export interface LiveQuery {
  readonly apiEventType: string | undefined
  /** Short codes; `undefined`: every type. */
  readonly types: readonly string[] | undefined
}

/** Removals are of every selection: without one, a copy would keep what has gone (PROTOCOL §13). */
const removingCodes: readonly string[] = ['PropertyUnpublished', 'ContactErased']

/** Whether an event is of the types asked for. A service filters itself; not every server does. */
export function isOfTypes(shortCode: string, types: readonly string[] | undefined): boolean {
  return types === undefined || types.includes(shortCode) || removingCodes.includes(shortCode)
}
