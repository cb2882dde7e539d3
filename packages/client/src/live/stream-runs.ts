/** One stream (PROTOCOL §13.2) as runs of events: what arrived together, and how far the reader is with it. */
import type { Connection } from '../connection.ts'
import { decodeEvent, isObject, isWhole, parseJson } from '../decode.ts'
import { InvalidAnswerError, NetworkError } from '../errors.ts'
import { decodeUtf8, openAnswer } from '../http/requests.ts'
import type { OpenAnswer } from '../http/requests.ts'
import { NotFoundError, ServiceError } from '../service-errors.ts'
import { feedPaths } from '../wire.ts'
import type { EventRun, FeedEvent } from '../wire.ts'
import type { LiveCursor, LiveQuery } from './live-cursor.ts'
import { maxLineLength, tooLong } from '../http/size-limits.ts'

/** How a stream ended. */
type StreamEnd =
  /** It worked, and is over or was cut; the next one continues after it. */
  | { readonly kind: 'ended'; readonly retryMs: number; readonly hadEvents: boolean }
  /** No stream comes through here. */
  | { readonly kind: 'missing'; readonly reason: string }

/** A stream begins with a mark. If the mark does not come within this time, something in between holds it back. */
const firstMarkMs = 5_000
/** The time of two missing marks, and a little more. */
const silenceMs = 35_000
/** Used if the service does not say. */
const usualRetryMs = 2_000

/**
 * Reads a stream from `cursor` on and moves it along. Takes from the network only what the caller takes: a slow caller slows the
 * service down, and nothing piles up here. Throws what any request throws, for example for an invalid position.
 */
export async function* streamRuns(
  connection: Connection,
  cursor: LiveCursor,
  query: LiveQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventRun, StreamEnd, undefined> {
  const { answer, missing } = await open(connection, cursor, query, signal)
  if (answer === undefined) return { kind: 'missing', reason: missing }
  const parser = createEventStreamParser()
  const reading: StreamReading = { mark: undefined, isOver: false }
  let hadEvents = false
  try {
    for await (const chunk of answer.chunks()) {
      const run = take(reading, cursor, parser.push(chunk))
      if (run === undefined) continue
      answer.lift()
      cursor.answers += 1
      hadEvents ||= run.items.length > 0
      yield run
      if (reading.isOver) break
    }
  } catch (error) {
    // A mark comes every 15 s. If none does, a proxy passed on the beginning, which filled its buffers, and buffers what comes after it.
    if (isDeadline(error)) return { kind: 'missing', reason: heldBack }
    if (reading.mark === undefined || !(error instanceof NetworkError)) throw error
  }
  if (reading.mark === undefined) throw new NetworkError('network', 'The stream ended before its first mark.')
  return { kind: 'ended', retryMs: parser.retryMs ?? usualRetryMs, hadEvents }
}

const heldBack = `No mark of the stream came within ${firstMarkMs / 1_000} s, or none after it within ${silenceMs / 1_000} s. A proxy in between seems to hold answers back before it passes them on.`

type Opened =
  | { readonly answer: OpenAnswer; readonly missing?: never }
  | { readonly answer?: never; readonly missing: string }

async function open(
  connection: Connection,
  { after, epoch }: LiveCursor,
  { apiEventType, types }: LiveQuery,
  signal: AbortSignal | undefined,
): Promise<Opened> {
  const path = feedPaths[connection.feed].stream
  // The position is in the query, which means the same as `Last-Event-ID`; for that header browsers would need a preflight.
  const request = {
    method: 'GET',
    path,
    query: { after, epoch, apiEventType, types: types?.join(',') },
  } as const
  const patient = { ...connection, attemptTimeoutMs: silenceMs, deadlineMs: firstMarkMs }
  try {
    const answer = await openAnswer(patient, request, signal, connection.now() + firstMarkMs)
    if (/^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '')) return { answer }
    answer.close()
    return { missing: `GET ${path} is answered with something other than a stream.` }
  } catch (error) {
    if (error instanceof NotFoundError || isWithoutStreams(error)) {
      return { missing: `The service has no streams: ${error.message}` }
    }
    if (isDeadline(error)) return { missing: heldBack }
    throw error
  }
}

/** The answers of servers that know the path and not the method, or refuse the type of the answer. */
function isWithoutStreams(error: unknown): error is ServiceError {
  return error instanceof ServiceError && [405, 406, 501].includes(error.status)
}

function isDeadline(error: unknown): boolean {
  return error instanceof NetworkError && error.code === 'deadline'
}

interface StreamReading {
  /** The last mark. */
  mark: Mark | undefined
  isOver: boolean
}

interface Mark {
  readonly next: number
  readonly head: number
  readonly revision: number
}

/** The result of the messages; `undefined` if they have none yet. If it throws, `cursor` stays, and all of it is requested again. */
function take(
  reading: StreamReading,
  cursor: LiveCursor,
  messages: readonly StreamMessage[],
): EventRun | undefined {
  const { epoch } = cursor
  const items: FeedEvent[] = []
  let { after } = cursor
  let hasNews = false
  for (const message of messages) {
    if (message.event === 'reset') {
      // The next request will be refused, and the refusal says why.
      reading.isOver = true
      hasNews = reading.mark !== undefined
      break
    }
    // Kinds of messages that a later version may have.
    if (message.event !== 'message' && message.event !== 'mark') continue
    const number = numberOf(message, epoch)
    if (message.event === 'mark') reading.mark = markOf(message, number)
    else items.push(eventOf(message, number, after))
    after = Math.max(after, number)
    hasNews = true
  }
  const { mark } = reading
  if (!hasNews) return undefined
  if (mark === undefined) throw new InvalidAnswerError('The stream does not begin with a mark.')
  cursor.checkTenant(items)
  cursor.after = after
  return { items, next: after, head: Math.max(mark.head, after), epoch, revision: mark.revision }
}

/** The number in an id, `<epoch>.<number>`, if it has the requested epoch. */
function numberOf({ id = '' }: StreamMessage, epoch: string): number {
  const number = id.startsWith(`${epoch}.`) ? id.slice(epoch.length + 1) : ''
  if (/^(?:0|[1-9]\d{0,15})$/.test(number) && isWhole(Number(number))) return Number(number)
  throw new InvalidAnswerError(`The stream has the id ${JSON.stringify(id.slice(0, 100))} in epoch ${epoch}.`)
}

function markOf({ data }: StreamMessage, number: number): Mark {
  const value = parseJson(data)
  const { next, head, revision } = isObject(value) ? value : {}
  if (next === number && isWhole(head) && isWhole(revision)) return { next: number, head, revision }
  throw new InvalidAnswerError('The stream has a mark in another form than PROTOCOL §13 gives it.')
}

function eventOf({ data }: StreamMessage, number: number, after: number): FeedEvent {
  const event = decodeEvent(parseJson(data))
  if (event !== undefined && event.sequenceNumber === number && number > after) return event
  throw new InvalidAnswerError(
    `The stream has ${event === undefined ? 'something other than an event' : `event ${event.sequenceNumber}`} with the number ${number} after ${after}.`,
  )
}

/** Reads `text/event-stream` as the HTML standard defines it (§9.2.6), from bytes that may be cut anywhere. */

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
