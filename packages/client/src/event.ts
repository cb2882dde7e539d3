/** The short codes that every service has: the only place of this package that knows what each says (PROTOCOL §5.2). */
import type { FeedName } from './wire.ts'

export interface EventCode {
  readonly feed: FeedName
  /** The subject is not there any more, whatever the payload says. Otherwise it is. */
  readonly isGone: boolean
}

const codes: ReadonlyMap<string, EventCode> = new Map([
  ['PropertyPublished', { feed: 'property', isGone: false }],
  ['PropertyUpdated', { feed: 'property', isGone: false }],
  ['PropertyUnpublished', { feed: 'property', isGone: true }],
  ['ContactCreated', { feed: 'contact', isGone: false }],
  ['ContactUpdated', { feed: 'contact', isGone: false }],
  ['ContactErased', { feed: 'contact', isGone: true }],
])

/** `undefined`: a code of this service alone, whose events say by `published` whether their subject is there. */
export function readEventCode(shortCode: string): EventCode | undefined {
  return codes.get(shortCode)
}
