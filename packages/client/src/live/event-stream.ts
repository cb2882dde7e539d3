/** Reads `text/event-stream` as the HTML standard defines it (§9.2.6), from bytes that may be cut anywhere. */
import { decodeUtf8 } from '../http/requests.ts'
import { maxLineLength, tooLong } from '../http/size-limits.ts'

/** A message that a blank line ended. */
export interface StreamMessage {
  /** `message` if the stream names none. */
  readonly event: string
  readonly data: string
  /** Of this message itself. */
  readonly id: string | undefined
}

interface EventStreamParser {
  /**
   * The messages that end in these bytes. Throws `InvalidAnswerError` for bytes that are not UTF-8, and for a message that does not end.
   */
  push(bytes: Uint8Array): readonly StreamMessage[]
  /** The last `retry`, in milliseconds. */
  readonly retryMs: number | undefined
}

/** What has arrived of the next message. */
interface Fields {
  event: string
  data: string | undefined
  id: string | undefined
  length: number
}

/**
 * Looks at each byte once, however small the pieces are. A message without its blank line is dropped at the end of the stream, as the
 * standard says.
 */
export function createEventStreamParser(): EventStreamParser {
  // This decoder keeps the first bytes of a character that was cut. Node's drops two byte order marks if the first one was cut.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let hasBegun = false
  let fields = noFields()
  let retryMs: number | undefined
  let line = ''
  let endedInReturn = false

  function endLine(messages: StreamMessage[]): void {
    if (line === '') {
      const { event, data, id } = fields
      if (data !== undefined) messages.push({ event: event === '' ? 'message' : event, data, id })
      fields = noFields()
      return
    }
    retryMs = retryOf(line) ?? retryMs
    addLine(fields, line)
    line = ''
  }

  return {
    push(bytes) {
      const text = decodeUtf8(decoder, bytes)
      const messages: StreamMessage[] = []
      if (text === '') return messages
      // The second half of a line end that was cut in two, or a byte order mark at the beginning.
      let from = (endedInReturn && text.startsWith('\n')) || (!hasBegun && text.startsWith('\uFEFF')) ? 1 : 0
      hasBegun = true
      endedInReturn = text.endsWith('\r')
      const lineEnd = /\r\n|\n|\r/g
      lineEnd.lastIndex = from
      for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
        line += text.slice(from, end.index)
        from = lineEnd.lastIndex
        endLine(messages)
      }
      line += text.slice(from)
      if (line.length + fields.length > maxLineLength) {
        throw tooLong(`A message of the stream is longer than ${maxLineLength} characters.`)
      }
      return messages
    },
    get retryMs() {
      return retryMs
    },
  }
}

function noFields(): Fields {
  return { event: '', data: undefined, id: undefined, length: 0 }
}

/** Name and value of a line; a line that begins with a colon is a comment, whose name is empty. */
function fieldOf(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon === -1) return [line, '']
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)]
}

function addLine(fields: Fields, line: string): void {
  const [name, value] = fieldOf(line)
  if (name === 'event') fields.event = value
  else if (name === 'data') fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`
  else if (name === 'id' && !value.includes('\0')) fields.id = value
  else return
  fields.length += line.length
}

function retryOf(line: string): number | undefined {
  if (!line.startsWith('retry')) return undefined
  const [name, value] = fieldOf(line)
  return name === 'retry' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}
