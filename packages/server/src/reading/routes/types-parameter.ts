/** `types`: short codes of events, separated by commas (PROTOCOL §13.4). */
import { nearestName } from '@property-events/protocol'
import type { EventTypeCatalogue, FeedName, ProblemError } from '@property-events/protocol'
import { typeFilter } from '../representation/type-filter.ts'
import type { TypeFilter } from '../representation/type-filter.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'

/** `undefined`: events of all types. Each code is one of the store's, in its spelling. */
export function readTypes(
  text: string | undefined,
  feed: FeedName,
  catalogue: EventTypeCatalogue,
): { readonly filter: TypeFilter | undefined } | ProblemError {
  if (text === undefined) return { filter: undefined }
  const known = Object.keys(catalogue[feed])
  const codes = text.split(',')
  const unknown = codes.find((code) => !known.includes(code))
  if (unknown === undefined) return { filter: typeFilter(feed, codes) }
  const nearest = nearestName(unknown, known)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const message = `${quoteInput(unknown)} is not a short code of this feed.${meant} Allowed: ${known.join(', ')}; put commas between several.`
  return { parameter: 'types', code: 'unknown_type', message }
}
