import type { CopyView, FeedEvent, HeldSubject } from '@property-events/client'

/** One property or contact in a copy: its latest event, with the payload as JSON. */
interface CopyEntry {
  readonly subjectId: string
  readonly event: FeedEvent
}

/** The place where `sync` keeps the copy. */
export interface LocalCopy extends CopyView {
  put(entry: CopyEntry): Promise<void>
  remove(subjectId: string): Promise<void>
  /** As it stands on disk, with the numbers of the events; 0 for an entry that cannot be read. */
  held(): Iterable<HeldSubject>
  /** True when everything so far is on disk. A copy may postpone that, unless the sync has `finished`. */
  flush(finished: boolean): Promise<boolean>
}

/** The entry as one line of JSON: the event's members, with the payload as an object where it is one. */
export function entryText({ subjectId, event }: CopyEntry): string {
  const { payload, ...members } = event
  return JSON.stringify({ subjectId, ...members, payload: parsed(payload) })
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}

/** What an entry's text is of, and the number of its event, 0 where it has none. */
export function heldIn(text: string, name: string): HeldSubject {
  const value = parsed(text)
  const isEntry = typeof value === 'object' && value !== null && 'sequenceNumber' in value
  const number = isEntry ? Number(value.sequenceNumber) : Number.NaN
  const subjectId = subjectIn(text) ?? name
  return { subjectId, sequenceNumber: Number.isSafeInteger(number) ? number : 0 }
}

/** The `subjectId` of an entry's text; `undefined` when it is not one. */
export function subjectIn(text: string): string | undefined {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || !('subjectId' in value)) return undefined
  return typeof value.subjectId === 'string' ? value.subjectId : undefined
}
