import {
  compactJson,
  findUtf8Fault,
  memberOf,
  parseUuid,
  readJson,
  setMembers,
  utf8FaultText,
} from '@property-events/protocol'
import { syntaxFaultOf, uuidV5 } from '@property-events/server/plain'
import { isWhiteSpaceByte, maxPieceBytes } from './split.ts'
import type { Piece } from './split.ts'

/** Where an event is in the file: its line, and its number when the file is a JSON array. */
interface SourcePosition {
  readonly line: number
  readonly item: number | undefined
}

/** The unit that the events of a file are counted in: lines, or the items of a JSON array. */
export function positionNumber({ line, item }: SourcePosition): number {
  return item ?? line
}

/** An event ready to be sent: one line of JSON, with an id. */
export interface Entry extends SourcePosition {
  readonly text: string
  readonly bytes: number
  /** Lower case. As in the file, otherwise made from the run and the place. */
  readonly id: string
  readonly endOffset: number
}

/** An event that was left out, and why. */
export interface RefusedEntry extends SourcePosition {
  readonly code: string
  readonly pointer: string | undefined
  readonly message: string
}

export type EntryReading =
  | { readonly kind: 'entry'; readonly entry: Entry }
  | { readonly kind: 'refused'; readonly refused: RefusedEntry }

/** The service allows 32 levels in a payload; the event around it is one more. */
const maxDepth = 33

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads one piece. A piece that is not JSON is refused here, before it costs a request; the service judges everything
 * else. An event without an id gets a UUIDv5 of the run and its place: the same whenever it is sent in this run, and
 * another in every other run, where the same line is a new event.
 */
export function readEntry(piece: Piece, run: string): EntryReading {
  const { line, item } = piece
  const refuse = (code: string, message: string, pointer?: string): EntryReading => ({
    kind: 'refused',
    refused: { line, item, code, message, pointer },
  })
  if (piece.bytes === undefined) return refuse('line_too_long', `Longer than ${maxPieceBytes / 2 ** 20} MiB.`)
  let text: string
  try {
    text = decoder.decode(piece.bytes)
  } catch {
    return refuse('invalid_utf8', `The text is not UTF-8.${placeOf(piece)}`)
  }
  text = withoutOuterSpace(text)
  const reading = readJson(text, { maxDepth, members: { keys: ['id'], depth: 1 } })
  if (reading.kind === 'fault') {
    const { code, message, pointer } = reading.fault
    return refuse(code, code === 'invalid_json' ? invalidJsonText(piece, message) : message, pointer)
  }
  if (!text.startsWith('{')) return refuse('wrong_type', 'An event is an object such as {"payload": {…}}.')
  const given = memberOf(reading.value, 'id')
  const id = typeof given === 'string' ? parseUuid(given) : undefined
  const derived = uuidV5(run, String(positionNumber(piece)))
  if (text.includes('\n') || text.includes('\r')) text = compactJson(text)
  if (given === undefined)
    text = /^\{\s*\}$/.test(text) ? `{"id":"${derived}"}` : `{"id":"${derived}",${text.slice(1)}`
  else if (given === null) text = setMembers(text, { id: `"${derived}"` })
  return {
    kind: 'entry',
    entry: {
      line,
      item,
      text,
      bytes: Buffer.byteLength(text),
      id: id ?? derived,
      endOffset: piece.endOffset,
    },
  }
}

/** Where in the file a piece stops being UTF-8, and what to do. An item of an array may begin anywhere in its line. */
function placeOf({ bytes = Buffer.alloc(0), line, item }: Piece): string {
  const steps = findUtf8Fault(bytes)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  if (step.value === undefined) return ''
  const { line: inPiece, column, byte } = step.value
  const isOfFile = item === undefined || inPiece > 1
  return ` ${utf8FaultText({ line: line + inPiece - 1, column: isOfFile ? column : undefined, byte })}`
}

/** Where in the file a piece stops being JSON, and what to do, without any of the text, which may be about a person. */
function invalidJsonText({ bytes = Buffer.alloc(0), line, item }: Piece, otherwise: string): string {
  const fault = syntaxFaultOf(bytes)
  if (fault === undefined) return otherwise
  const isOfFile = item === undefined || fault.line > 1
  const column = isOfFile ? `, column ${fault.column}` : ''
  const what = fault.isCutOff ? 'The JSON ends too early, at' : 'Invalid JSON at'
  return `${what} line ${line + fault.line - 1}${column}.${fault.remedy}`
}

/** JSON's own white space; `trim` would take a byte order mark or a no-break space for it, too. */
function withoutOuterSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isWhiteSpaceByte(text.charCodeAt(start))) start += 1
  while (end > start && isWhiteSpaceByte(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}
