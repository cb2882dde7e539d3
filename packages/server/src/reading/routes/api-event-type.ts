import { feeds, nearestName, viewOfApiEventType } from '@property-events/protocol'
import type { FeedName, ProblemError, ViewName } from '@property-events/protocol'
import { quoteInput } from '../../http/requests/echo-text.ts'

/** The view that `apiEventType` asks for, or what is wrong with it (D1). */
export function readApiEventType(feed: FeedName, text: string): ViewName | ProblemError {
  const view = viewOfApiEventType(feed, text)
  if (view !== undefined) return view
  const allowed = Object.keys(feeds[feed].apiEventTypes)
  const letters = text.toLowerCase().replaceAll(/[ _-]/g, '')
  const nearest =
    allowed.find((one) => letters !== '' && one.startsWith(letters)) ?? nearestName(letters, allowed)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const message = `${quoteInput(text)} is not an event type of this feed; allowed: ${allowed.join(', ')}.${meant}`
  return { parameter: 'apiEventType', code: 'unknown_value', message }
}
