/** `client.follow`: the events of a feed as they come, as an async iterable. */
import { createTenantCheck } from '../reading/answer-checks.ts'
import type { Connection } from '../connection.ts'
import { AbortedError, InvalidAnswerError, InvalidOptionError, PropertyEventsError } from '../errors.ts'
import { ServiceError } from '../service-errors.ts'
import { probeHead } from '../sync/capabilities.ts'
import { resyncReasonOf } from '../sync/read-numbers.ts'
import type { EventRun } from '../wire.ts'
import { usualPauses } from './poll-runs.ts'
import type {
  EventFollower,
  FollowedEvent,
  FollowMark,
  FollowPosition,
  FollowQuery,
} from './follow-options.ts'
import type { LiveCursor } from './live-cursor.ts'
import { liveRuns } from './live-runs.ts'
import type { ByPages, PagesCursor } from './page-runs.ts'

/**
 * Checks the query at once, but sends no request until the caller asks for the first event. `byPages` follows a server that has only the
 * contract. Without it such a server is refused; a page that knows its server leaves it out and is smaller.
 */
export function follow(connection: Connection, query: FollowQuery = {}, byPages?: ByPages): EventFollower {
  checkQuery(query)
  const state: State = { mark: undefined }
  return {
    get checkpoint() {
      return state.mark?.checkpoint
    },
    get head() {
      return state.mark?.head
    },
    get revision() {
      return state.mark?.revision
    },
    [Symbol.asyncIterator]: () => eventsOf(connection, query, byPages, state),
  }
}

interface State {
  mark: FollowMark | undefined
}

const transports: readonly unknown[] = ['auto', 'stream', 'wait', 'polls', undefined]

/** Throws `InvalidOptionError`. */
export function checkQuery({ after = 'head', transport, types }: FollowQuery): void {
  if (after !== 'head' && !(Number.isSafeInteger(after) && after >= 0)) {
    throw new InvalidOptionError(`after must be a number from 0, or 'head', not ${String(after)}.`)
  }
  if (!transports.includes(transport)) {
    throw new InvalidOptionError(
      `transport must be 'auto', 'stream', 'wait' or 'polls', not ${String(transport)}.`,
    )
  }
  const isShortCode = (type: unknown) =>
    typeof type === 'string' && /^[\x21-\x2b\x2d-\x7e]{1,100}$/.test(type)
  if (types !== undefined && !(types.length > 0 && types.every(isShortCode))) {
    throw new InvalidOptionError("types must be short codes of events, such as ['PropertyPublished'].")
  }
}

async function* eventsOf(
  connection: Connection,
  query: FollowQuery,
  byPages: ByPages | undefined,
  state: State,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { signal, onMark } = query
  try {
    for await (const { items, next, head, revision, epoch } of runsFor(connection, query, byPages, state)) {
      const positionAt = (after: number): FollowPosition => (epoch === '' ? { after } : { after, epoch })
      for (const event of items) {
        if (signal?.aborted === true) return
        const checkpoint = positionAt(event.sequenceNumber)
        state.mark = { checkpoint, head, revision }
        yield { ...event, checkpoint }
      }
      state.mark = { checkpoint: positionAt(next), head, revision }
      await onMark?.(state.mark)
    }
  } catch (error) {
    if (error instanceof AbortedError && signal?.aborted === true) return
    throw error
  }
}

type Cursor =
  | { readonly by: 'numbers'; readonly cursor: LiveCursor }
  | { readonly by: 'pages'; readonly cursor: PagesCursor; readonly byPages: ByPages }

/** Runs for ever: through failures, once it has had an answer, and through resets, if the caller handles them. */
async function* runsFor(
  connection: Connection,
  query: FollowQuery,
  byPages: ByPages | undefined,
  state: State,
): AsyncGenerator<EventRun, void, undefined> {
  const { onReset, onTrouble, signal } = query
  let start: FollowQuery = { ...query, ...state.mark?.checkpoint }
  let hasBegun = false
  for (let at: Cursor | undefined; ;) {
    try {
      at ??= await cursorFor(connection, start, byPages)
      hasBegun = true
      yield* runsFrom(connection, at, query)
    } catch (error) {
      const reason = resyncReasonOf(error)
      if (onReset !== undefined && reason !== undefined && reason !== 'server_changed') {
        await onReset(reason)
        state.mark = undefined
        start = { ...query, after: (query.after ?? 'head') === 'head' ? 'head' : 0, epoch: undefined }
        at = undefined
        continue
      }
      if (!hasBegun || !(error instanceof PropertyEventsError) || error.again === 'never') throw error
      onTrouble?.(error)
      await restAfter(connection, error, signal)
    }
  }
}

/** The client has used up its attempts, so the wait is longer: at least as long as the service asks for, and at most an hour. */
export async function restAfter(
  connection: Connection,
  error: PropertyEventsError,
  signal: AbortSignal | undefined,
): Promise<void> {
  const askedMs = error instanceof ServiceError ? Math.min(3_600_000, error.retryAfterMs ?? 0) : 0
  await connection.sleep(askedMs + usualPauses.maxIntervalMs * (0.5 + connection.random() / 2), signal)
}

async function cursorFor(
  connection: Connection,
  { after = 'head', epoch, signal }: FollowQuery,
  byPages: ByPages | undefined,
): Promise<Cursor> {
  const { tenant } = connection
  // The service refuses a number whose epoch has ended, so nothing needs to be asked first.
  if (after !== 'head' && epoch !== undefined) return numbersAt(after, epoch, tenant)
  const head = await probeHead(connection, signal)
  if (head === undefined) {
    if (byPages === undefined) throw new InvalidAnswerError('The server does not answer /v1/heads.')
    return { by: 'pages', cursor: byPages.cursorAt(after, tenant), byPages }
  }
  return numbersAt(after === 'head' ? head.sequenceNumber : after, epoch ?? head.epoch, head.tenantId)
}

function numbersAt(after: number, epoch: string, tenant: string | undefined): Cursor {
  return { by: 'numbers', cursor: { after, epoch, answers: 0, checkTenant: createTenantCheck(tenant) } }
}

function runsFrom(
  connection: Connection,
  at: Cursor,
  { apiEventType, types, transport = 'auto', signal }: FollowQuery,
): AsyncGenerator<EventRun, void, undefined> {
  const options = { apiEventType, types, transport, signal }
  return at.by === 'pages'
    ? at.byPages.runs(connection, at.cursor, options)
    : liveRuns(connection, at.cursor, options)
}
