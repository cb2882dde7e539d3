/** Reads one event, and one subject: the contract's get (spec §4.2), and the service's own reads (PROTOCOL §11). */
import { checkTenants, otherAnswer } from './answer-checks.ts'
import type { CallOptions, Connection } from '../connection.ts'
import { decodeEvent, decodeHeads, decodeRun } from '../decode.ts'
import { InvalidAnswerError } from '../errors.ts'
import { requestJson } from '../http/requests.ts'
import type { CodeOf } from '../codes.ts'
import { NotFoundError } from '../service-errors.ts'
import { namedSubject } from '../event.ts'
import { feedPaths, headsPath } from '../wire.ts'
import type { EventRun, FeedEvent, FeedHead, Heads } from '../wire.ts'

/** The event with this id, or `undefined` if the feed has none. */
export async function getEvent(
  connection: Connection,
  eventId: string,
  options: CallOptions = {},
): Promise<FeedEvent | undefined> {
  const path = feedPaths[connection.feed].get + encodeURIComponent(eventId)
  return whenFound('event_not_found', async () => {
    const request = { method: 'GET', path } as const
    const decode = (value: unknown) => {
      const event = decodeEvent(value)
      if (event !== undefined) checkOne(connection, event, eventId, event.id)
      return event
    }
    return (await requestJson(connection, request, decode, options.signal)).value
  })
}

/** Throws `InvalidAnswerError` for another event than the one that was asked for. */
function checkOne({ tenant }: Connection, event: FeedEvent, requested: string, given: string): void {
  checkTenants(tenant, [event])
  if (given.toLowerCase() === requested.toLowerCase()) return
  throw otherAnswer(`The request was for ${requested}, and the answer is about ${given}.`)
}

/** The latest event of a property or contact, or `undefined` if the feed has none. Needs a service with PROTOCOL §11. */
export async function getSubject(
  connection: Connection,
  subjectId: string,
  options: CallOptions = {},
): Promise<FeedEvent | undefined> {
  const path = feedPaths[connection.feed].subjects + encodeURIComponent(subjectId)
  return whenFound('subject_not_found', async () => {
    const request = { method: 'GET', path } as const
    const decode = (value: unknown) => {
      const event = decodeEvent(value)
      if (event === undefined) return undefined
      checkOne(connection, event, subjectId, namedSubject(connection.feed, event) ?? subjectId)
      return event
    }
    return (await requestJson(connection, request, decode, options.signal)).value
  })
}

/** Every event of a property or contact, oldest first; an empty list if the feed has none. Needs PROTOCOL §11. */
export async function* getHistory(
  connection: Connection,
  subjectId: string,
  options: CallOptions = {},
): AsyncGenerator<FeedEvent> {
  const path = `${feedPaths[connection.feed].subjects}${encodeURIComponent(subjectId)}/history`
  for (let after = 0; ;) {
    const run = await whenFound('subject_not_found', () =>
      requestRun(connection, path, { after, limit: 100 }, options.signal),
    )
    if (run === undefined) return
    yield* run.items
    if (run.items.length === 0 || run.next >= run.head) return
    after = run.next
  }
}

/** The heads of the feeds that the key can read. Needs PROTOCOL §11. */
export async function getHeads(
  connection: Connection,
  options: CallOptions = {},
): Promise<readonly FeedHead[]> {
  return (await getMovedHeads(connection, undefined, options)).heads
}

export interface MovedHeadsOptions extends CallOptions {
  /** Seconds, 1 to 30: the answer waits this long until a feed has moved (PROTOCOL §13). Needs a `since`. */
  readonly wait?: number | undefined
}

/** The heads of the feeds that have changed since `next` of an earlier answer; without one, all heads. Needs PROTOCOL §11. */
export async function getMovedHeads(
  connection: Connection,
  since: string | undefined,
  { wait, signal }: MovedHeadsOptions = {},
): Promise<Heads> {
  const request = { method: 'GET', path: headsPath, query: { since, wait } } as const
  return (await requestJson(patientFor(connection, wait), request, decodeHeads, signal)).value
}

export interface RunQuery {
  /** Events with a greater number. */
  readonly after: number
  /** By default, the most that the service gives. */
  readonly limit?: number
  readonly apiEventType?: string | undefined
  /** Short codes: only events of these types, and every removal (PROTOCOL §13). */
  readonly types?: readonly string[] | undefined
  /** The epoch of the number: in another epoch, the service refuses with `epoch_changed`. */
  readonly epoch?: string
  /** Seconds, 1 to 30: the answer waits this long until there is an event (PROTOCOL §13). */
  readonly wait?: number | undefined
}

export async function requestRun(
  connection: Connection,
  path: string,
  query: RunQuery,
  signal: AbortSignal | undefined,
): Promise<EventRun> {
  const decode = (value: unknown) => runAfter(connection, query.after, decodeRun(value))
  const { types, ...rest } = query
  const request = { method: 'GET', path, query: { ...rest, types: types?.join(',') } } as const
  return (await requestJson(patientFor(connection, query.wait), request, decode, signal)).value
}

/** For a request whose answer waits: silence counts from the time when it is due. */
function patientFor(connection: Connection, waitSeconds = 0): Connection {
  const { attemptTimeoutMs, deadlineMs } = connection
  const waitMs = waitSeconds * 1_000
  const mostMs = 2 ** 31 - 1
  return {
    ...connection,
    attemptTimeoutMs: Math.min(mostMs, attemptTimeoutMs + waitMs),
    deadlineMs: Math.min(mostMs, deadlineMs + waitMs),
  }
}

/**
 * The run, if it can be the answer to this request. A run with events at or below the number belongs to another request and comes from a
 * cache that ignores the query: its events may be older than the reader's. A run without progress would be requested endlessly.
 */
function runAfter({ tenant }: Connection, after: number, run: EventRun | undefined): EventRun | undefined {
  if (run === undefined) return undefined
  const repeated = run.items.find(({ sequenceNumber }) => sequenceNumber <= after)
  if (repeated !== undefined) {
    throw otherAnswer(
      `The request was for events after ${after}, and the answer has number ${repeated.sequenceNumber}.`,
    )
  }
  if (run.next <= after && run.next < run.head) {
    throw new InvalidAnswerError(
      `The request was for events after ${after}, and the answer says to continue after ${run.next}, although its head is ${run.head}: there is no progress.`,
    )
  }
  checkNumbers(run)
  checkTenants(tenant, run.items)
  return run
}

/** The numbers of a run rise, and end at its `next` at the latest: otherwise what comes in between would be skipped. */
function checkNumbers({ items, next }: EventRun): void {
  let last = 0
  for (const { sequenceNumber } of items) {
    if (sequenceNumber <= last) {
      throw new InvalidAnswerError(
        `The events of the answer are not in order: ${sequenceNumber} comes after ${last}.`,
      )
    }
    last = sequenceNumber
  }
  if (last > next) {
    throw new InvalidAnswerError(`The answer has number ${last}, and says to continue at next ${next}.`)
  }
}

async function whenFound<T>(absent: CodeOf<'notFound'>, request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    // A plain server sends 404 without a code. From a server with codes, a 404 without one may mean that the path does not exist, which
    // is something else.
    const isAbsent = error instanceof NotFoundError && (error.code === absent || error.code === 'not_found')
    if (isAbsent) return undefined
    throw error
  }
}
