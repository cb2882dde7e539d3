import type { CopyView, FeedEvent } from '@property-events/client'

/** One property or contact in a copy: its latest event, with the payload as JSON. */
export interface CopyEntry {
  readonly subjectId: string
  readonly event: FeedEvent
}

/** The place where `sync` keeps the copy. */
export interface LocalCopy extends CopyView {
  put(entry: CopyEntry): Promise<void>
  remove(subjectId: string): Promise<void>
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

/** The `subjectId` of an entry's text; `undefined` when it is not one. */
export function subjectIn(text: string): string | undefined {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || !('subjectId' in value)) return undefined
  return typeof value.subjectId === 'string' ? value.subjectId : undefined
}
