/** Where a stream begins (PROTOCOL §13): after the last id that its reader has, or after the place in its query. */
import type { FeedName, ProblemError, ViewName } from '@property-events/protocol'
import type { Refused, Request } from '../http/exchange.ts'
import type { TypeFilter } from '../reading/representation/type-filter.ts'
import { readCursorParameters } from '../reading/routes/cursor-parameters.ts'
import type { CursorRules } from '../reading/routes/cursor-parameters.ts'
import { quoteInput } from '../http/requests/echo-text.ts'

export interface StreamQuery {
  readonly view: ViewName
  /** `undefined`: events of all types. */
  readonly types: TypeFilter | undefined
  /** `head`: only what comes from now on. `undefined`: the query does not say. */
  readonly after: number | 'head' | undefined
  readonly epoch: string | undefined
}

export interface StreamStart {
  readonly after: number | 'head'
  readonly epoch: string | undefined
}

const streamNames = ['after', 'epoch', 'apiEventType', 'types'] as const

export const lastIdHeader = 'last-event-id'
/** The epoch and the number. */
export const lastIdPattern = /^([0-9A-Za-z]{1,64})\.(0|[1-9]\d{0,15})$/

export function readStreamQuery(
  queryText: string,
  feed: FeedName,
  rules: CursorRules,
): StreamQuery | Refused {
  const parts = queryText.split('&')
  // Read as a number, so that it is checked like one, and refused if it is repeated.
  const text = parts.map((part) => (part === 'after=head' ? 'after=0' : part)).join('&')
  const reading = readCursorParameters(text, streamNames, feed, rules)
  if (reading.kind === 'refused') return reading
  const { view, types, epoch, after } = reading.parameters
  if (parts.includes('after=head')) return { view, types, epoch, after: 'head' }
  return { view, types, epoch, after: parts.some(isAfter) ? after : undefined }
}

function isAfter(part: string): boolean {
  return part === 'after' || part.startsWith('after=')
}

/** `Last-Event-ID` wins over the query, because a browser that reconnects sends it to its original address. */
export function streamStart(request: Request, query: StreamQuery): StreamStart | ProblemError {
  const lastId = request.header(lastIdHeader)
  if (lastId !== undefined && lastId !== '') {
    const [, epoch, number = ''] = lastIdPattern.exec(lastId) ?? []
    if (epoch !== undefined && Number.isSafeInteger(Number(number))) return { epoch, after: Number(number) }
    const message = `${quoteInput(lastId)} is not an id of this stream: <epoch>.<sequenceNumber>, as the stream sent it.`
    return { parameter: 'Last-Event-ID', code: 'not_an_event_id', message }
  }
  if (query.after !== undefined) return { after: query.after, epoch: query.epoch }
  const message =
    'A stream needs a place to begin: after=<sequenceNumber>, after=0 for the whole feed, or after=head for what comes from now on.'
  return { parameter: 'after', code: 'required', message }
}
