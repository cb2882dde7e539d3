import type { LocateQuery, Located } from './event-log.ts'

/** Whether an event that is not visible yet could still fall into the query's window (P3). */
export function isOpenWindow(query: LocateQuery, { head }: Pick<Located, 'head'>): boolean {
  if (query.from === undefined && query.to === undefined) return false
  const { created } = head
  // Stamps of a feed rise, so the last event is the only one with its stamp.
  return query.to === undefined || created === undefined || query.to > created + 1n
}
