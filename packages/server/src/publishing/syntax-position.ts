/** Where a body stops being JSON: line, column and, if nothing personal can be there, the text around it. */
import { findSyntaxFault, textPositionOf } from '@property-events/protocol'
import type { FeedName, ProblemError } from '@property-events/protocol'
import type { BodyFault } from './publication-body.ts'

const openBrace = 0x7b
const singleQuote = 0x27

interface Place {
  readonly body: Buffer
  readonly format: 'json' | 'ndjson'
  readonly feed: FeedName
}

/**
 * The fault with its place, in pieces between which others can have a turn. Use it for one fault of a request: a text that is invalid in
 * one place may be invalid in thousands.
 */
export function* withPlace(
  { body, format, feed }: Place,
  { error, start }: BodyFault,
): Generator<undefined, ProblemError> {
  const lineEnd = format === 'json' ? -1 : body.indexOf('\n', start)
  const end = lineEnd === -1 ? body.length : lineEnd
  const found = yield* findSyntaxFault(body.subarray(start, end))
  if (found === undefined) return error
  // For an empty text there is nothing to add.
  if (found === 0 && end === start) return error
  const offset = start + found
  const { line, column, excerpt } = yield* textPositionOf(body, offset)
  const what = offset === end ? 'It ends too early' : 'It stops being JSON'
  // For contacts, an excerpt could be somebody's name (D18).
  const isShown = feed === 'property' && excerpt !== ''
  const shown = isShown ? `, near \`${excerpt.replaceAll(/\p{C}/gu, '\ufffd')}\`` : ''
  // The first line was whole, so what follows it may be meant as another one.
  const isLines = format === 'json' && body[offset] === openBrace && line > 1 && column === 1
  const remedy = isLines
    ? ' If each line is an event, send them as application/x-ndjson.'
    : body[offset] === singleQuote
      ? ' Names and texts must be in double quotes.'
      : ''
  const message = `${error.message} ${what} at line ${line}, column ${column}${shown}.${remedy}`
  return { ...error, message }
}
