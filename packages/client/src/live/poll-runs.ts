/** Runs of events by one request after another: requests that wait, or pauses between requests that do not. */
import type { Connection } from '../connection.ts'
import { requestRun } from '../reading/get.ts'
import { InvalidAnswerError } from '../errors.ts'
import { feedPaths } from '../wire.ts'
import type { EventRun } from '../wire.ts'
import type { LiveCursor, LiveQuery } from './live-cursor.ts'

export interface Pauses {
  /** The pause after an answer with events; it doubles while there are none. */
  readonly minIntervalMs: number
  readonly maxIntervalMs: number
}

export const usualPauses: Pauses = { minIntervalMs: 1_000, maxIntervalMs: 30_000 }

/** The first doubling leads to the shortest pause. */
const intervalAtFirst = usualPauses.minIntervalMs / 2

/** An empty answer that comes sooner than this did not wait: something in between answers for the service, or the service is stopping. */
export const tooSoonMs = 500

/**
 * Waiting requests (PROTOCOL §13.1), until `isOver` says so between two of them. The very first request does not wait: it returns the
 * head of the feed at once, as the first mark of a stream does.
 */
export async function* waitRuns(
  connection: Connection,
  cursor: LiveCursor,
  query: LiveQuery,
  isOver: () => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventRun, void, undefined> {
  let intervalMs = intervalAtFirst
  while (!isOver()) {
    const before = cursor.after
    const sentMs = connection.now()
    const wait = cursor.answers === 0 ? undefined : connection.transports.waitSeconds
    const run = await requestOnce(connection, cursor, query, signal, wait)
    const isTooSoon = wait !== undefined && connection.now() - sentMs < tooSoonMs
    yield run
    const isFruitless = run.items.length === 0 && isTooSoon
    intervalMs =
      isFruitless && cursor.after === before ? nextPause(intervalMs, false, usualPauses) : intervalAtFirst
    if (isFruitless) await pause(connection, Math.max(usualPauses.minIntervalMs, intervalMs), signal)
  }
}

/** Requests with pauses between them, until `isOver` says so after everything has been read. */
export async function* pollRuns(
  connection: Connection,
  cursor: LiveCursor,
  query: LiveQuery,
  isOver: () => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventRun, void, undefined> {
  let intervalMs = usualPauses.minIntervalMs
  for (;;) {
    const run = await requestOnce(connection, cursor, query, signal)
    yield run
    if (run.next < run.head) continue
    if (isOver()) return
    intervalMs = nextPause(intervalMs, run.items.length > 0, usualPauses)
    await pause(connection, intervalMs, signal)
  }
}

export function nextPause(intervalMs: number, hasNews: boolean, pauses: Pauses): number {
  return hasNews ? pauses.minIntervalMs : Math.min(pauses.maxIntervalMs, intervalMs * 2)
}

/** A quarter shorter or longer, so that many clients do not ask at the same moment. */
export function pause(connection: Connection, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return connection.sleep(ms * (0.75 + connection.random() / 2), signal)
}

/** Makes one attempt: the caller repeats it, over whatever transport is best then. */
async function requestOnce(
  connection: Connection,
  cursor: LiveCursor,
  { apiEventType, types }: LiveQuery,
  signal: AbortSignal | undefined,
  wait?: number,
): Promise<EventRun> {
  const once = { ...connection, retry: { ...connection.retry, attempts: 1 } }
  const { after, epoch } = cursor
  const query = { after, epoch, apiEventType, types, wait }
  const run = await requestRun(once, feedPaths[connection.feed].events, query, signal)
  if (run.epoch !== epoch) {
    throw new InvalidAnswerError(
      `The request was for epoch ${epoch}, and the answer is of epoch ${run.epoch}.`,
    )
  }
  cursor.checkTenant(run.items)
  cursor.after = Math.max(after, run.next)
  cursor.answers += 1
  return run
}
