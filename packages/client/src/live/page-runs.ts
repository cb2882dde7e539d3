/** Follows a server of the contract alone: reads all its pages, or those of a time window, again and again. */
import { createTenantCheck } from '../reading/answer-checks.ts'
import type { Connection } from '../connection.ts'
import { createdMsOf } from '../event.ts'
import { requestPage } from '../reading/list.ts'
import { ConflictError } from '../service-errors.ts'
import { forgettableBeforeMs, windowBound } from '../sync/plan.ts'
import { walk } from '../sync/read-pages.ts'
import { firstWalk } from '../sync/reading.ts'
import type { PagesReading } from '../sync/reading.ts'
import type { EventRun, FeedEvent } from '../wire.ts'
import { nextPause, pause, usualPauses } from './poll-runs.ts'
import { isOfTypes } from './live-cursor.ts'
import type { LiveQuery } from './live-cursor.ts'

/** How far reading has got. */
export interface PagesCursor {
  reading: PagesReading | undefined
  /** Events of the first walk up to this number are not handed out; later this does not apply, because an event may appear late. */
  floor: number
  /** The greatest number handed out so far. */
  next: number
  /** The creation time of each event that was read, by id: for the window and, during the first walk, for the whole feed. */
  readonly known: Map<string, number>
  /** Throws when an event is of another tenant than the ones before. */
  readonly checkTenant: (events: readonly FeedEvent[]) => void
}

function pagesCursor(after: number | 'head', tenant: string | undefined): PagesCursor {
  const next = after === 'head' ? 0 : after
  // Everything in the first walk is old to a reader who begins at the head.
  const floor = after === 'head' ? Infinity : after
  return { reading: undefined, floor, next, known: new Map(), checkTenant: createTenantCheck(tenant) }
}

/** As in `sync`: how much older than the newest event a new one may be when it appears. */
const overlapMs = 3_600_000

/**
 * Every event once, by its id, as it becomes visible; those of a page by rising number. Such a server can show a greater number before a
 * smaller one. Throws a `ConflictError` with the code `epoch_changed` if the feed is another one.
 */
async function* pageRuns(
  connection: Connection,
  cursor: PagesCursor,
  { apiEventType, types, signal }: LiveQuery & { readonly signal: AbortSignal | undefined },
): AsyncGenerator<EventRun, void, undefined> {
  const round = { apiEventType, pageSize: undefined, overlapMs, signal }
  let intervalMs = usualPauses.minIntervalMs
  for (;;) {
    cursor.reading ??= cursor.floor === Infinity ? await fromNewest(connection, round) : firstWalk
    const before = cursor.next
    for await (const walked of walk(connection, cursor.reading, round)) {
      if (walked.kind === 'startOver') throw anotherFeed()
      cursor.checkTenant(walked.events)
      const items = newOf(cursor, walked.events).filter((event) => isOfTypes(event, types))
      cursor.reading = walked.reading
      if (items.length > 0) yield runOf(cursor, items)
    }
    cursor.floor = -Infinity
    const forgetMs = forgettableBeforeMs(cursor.reading, overlapMs)
    for (const [id, createdMs] of cursor.known) if (createdMs < forgetMs) cursor.known.delete(id)
    yield runOf(cursor, [])
    intervalMs = nextPause(intervalMs, cursor.next > before, usualPauses)
    await pause(connection, intervalMs, signal)
  }
}

/** The events that were not read before; a page and the last page, which is read with it, may share some. */
function newOf(cursor: PagesCursor, events: readonly FeedEvent[]): readonly FeedEvent[] {
  const fresh = new Map(events.filter(({ id }) => !cursor.known.has(id)).map((event) => [event.id, event]))
  for (const [id, { createdDate }] of fresh) cursor.known.set(id, createdMsOf(createdDate))
  return [...fresh.values()]
    .filter(({ sequenceNumber }) => sequenceNumber > cursor.floor)
    .sort((one, other) => one.sequenceNumber - other.sequenceNumber)
}

function runOf(cursor: PagesCursor, items: readonly FeedEvent[]): EventRun {
  cursor.next = Math.max(cursor.next, items.at(-1)?.sequenceNumber ?? 0)
  return { items, next: cursor.next, head: cursor.next, epoch: '', revision: 0 }
}

/** A window that begins an overlap before the newest event, which is on the first or on the last page. */
async function fromNewest(
  connection: Connection,
  {
    apiEventType,
    signal,
  }: { readonly apiEventType: string | undefined; readonly signal: AbortSignal | undefined },
): Promise<PagesReading> {
  const pageAt = async (page: number) => (await requestPage(connection, { page, apiEventType, signal })).value
  const first = await pageAt(1)
  const last = first.totalPages > 1 ? await pageAt(first.totalPages) : first
  const newestMs = Math.max(
    ...[...first.items, ...last.items].map(({ createdDate }) => createdMsOf(createdDate)),
  )
  return Number.isFinite(newestMs) ? { ...firstWalk, from: windowBound(newestMs - overlapMs) } : firstWalk
}

function anotherFeed(): ConflictError {
  const detail =
    'The newest event that was read is not in the feed any more, so numbers may mean other events now. Begin with the first event again.'
  return new ConflictError({
    code: 'epoch_changed',
    serviceCode: undefined,
    status: 200,
    message: detail,
    detail,
    requestId: undefined,
    faults: [],
    retryAfterMs: undefined,
  })
}

/** Given to `follow` where the server may be one of the contract alone. */
export const byPages = { cursorAt: pagesCursor, runs: pageRuns } as const

export type ByPages = typeof byPages
