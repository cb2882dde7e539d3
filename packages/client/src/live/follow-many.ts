/** `client.followMany`: the events of all tenants of a key as they come. One request waits for any of them to move (PROTOCOL §11.5). */
import type { Connection } from '../connection.ts'
import { AbortedError, NetworkError, PropertyEventsError } from '../errors.ts'
import { getMovedHeads, requestRun } from '../reading/get.ts'
import { AccessError, NotFoundError, ServiceError } from '../service-errors.ts'
import { resyncReasonOf } from '../sync/read-numbers.ts'
import { feedPaths } from '../wire.ts'
import type { EventRun, FeedHead, Heads } from '../wire.ts'
import { nextPause, pause, tooSoonMs, usualPauses } from './poll-runs.ts'
import { checkQuery, restAfter } from './follow.ts'
import type { FollowedEvent, FollowManyQuery, FollowPosition } from './follow-options.ts'

/** Tenants that are read at the same time. */
const atATime = 8
/** Events of one answer: eight of them are some 6 MB, and 400 at the most. */
const eventsAtATime = 200
/** Attempts of a request for one tenant, while others wait for their turn. */
const attemptsAtMost = 3
/** How long a request waits for heads while some tenant could not be read. */
const soonSeconds = 5

/** Checks the query at once; sends nothing before the first event is requested. */
export function followMany(
  connection: Connection,
  query: FollowManyQuery = {},
): AsyncIterable<FollowedEvent> {
  checkQuery({ after: query.after, types: query.types })
  const cursors = tenantCursors(query.positions)
  return { [Symbol.asyncIterator]: () => eventsOf(connection, query, cursors) }
}

async function* eventsOf(
  connection: Connection,
  query: FollowManyQuery,
  cursors: TenantCursors,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { signal, after = 'head' } = query
  const watch = createWatch(connection, query, cursors)
  try {
    let hadNews = true
    for (let isFirst = true; ; isFirst = false) {
      const heads = await watch.next(hadNews)
      hadNews = false
      const ofFeed = heads.filter(({ feed }) => feed === connection.feed)
      recordHeads(cursors, ofFeed, isFirst ? after : 0)
      while (cursors.unread.size > 0) {
        for await (const event of readSome(connection, query, cursors)) {
          hadNews = true
          yield event
        }
      }
    }
  } catch (error) {
    if (error instanceof AbortedError && signal?.aborted === true) return
    throw error
  }
}

/** Asks repeatedly for heads that have moved: with waiting requests. */
function createWatch(connection: Connection, query: FollowManyQuery, cursors: TenantCursors) {
  const { transports } = connection
  const { signal, onTrouble } = query
  let since: string | undefined
  let intervalMs = usualPauses.minIntervalMs
  let waits = true
  let wasTooSoon = false

  async function requestHeads(wait: number | undefined): Promise<Heads['heads']> {
    // A waiting request is made once: the next one, which does not wait, shows what is wrong.
    const retry = wait === undefined ? connection.retry : { ...connection.retry, attempts: 1 }
    const sentMs = connection.now()
    const { heads, next } = await getMovedHeads({ ...connection, retry }, since, {
      wait,
      ...(signal === undefined ? {} : { signal }),
    })
    since = next
    wasTooSoon = wait === undefined || connection.now() - sentMs < tooSoonMs
    return heads
  }

  function waitNow(): number | undefined {
    if (!waits || since === undefined) return undefined
    return cursors.failed.size > 0 ? Math.min(soonSeconds, transports.waitSeconds) : transports.waitSeconds
  }

  return {
    /** `hadNews`: the last heads led to events. A feed may be named again and again without one. */
    async next(hadNews: boolean): Promise<Heads['heads']> {
      intervalMs = nextPause(intervalMs, hadNews, usualPauses)
      if (since !== undefined && !hadNews && wasTooSoon) await pause(connection, intervalMs, signal)
      for (;;) {
        const wait = waitNow()
        waits = true
        try {
          return await requestHeads(wait)
        } catch (error) {
          if (!(error instanceof PropertyEventsError) || error.again === 'never') throw error
          else if (wait !== undefined) {
            waits = false
            const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
            const longestMs = connection.retry.maxRetryAfterMs
            await pause(connection, Math.max(usualPauses.minIntervalMs, Math.min(longestMs, askedMs)), signal)
          } else if (since === undefined) throw error
          else {
            onTrouble?.(error)
            await restAfter(connection, error, signal)
          }
        }
      }
    },
  }
}

type Outcome = { readonly cursor: TenantCursor } & (
  | { readonly kind: 'run'; readonly run: EventRun }
  | { readonly kind: 'failed'; readonly error: unknown }
)

/** Reads one answer for each of a few tenants. */
async function* readSome(
  connection: Connection,
  query: FollowManyQuery,
  cursors: TenantCursors,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { signal, onMark } = query
  const batch = takeUnread(cursors, atATime)
  const outcomes = await Promise.all(batch.map((cursor) => readOne(connection, query, cursor)))
  // If the loop is left in the middle, the others are read again.
  for (const cursor of batch) cursors.unread.add(cursor)
  for (const outcome of outcomes) {
    const { cursor } = outcome
    if (outcome.kind === 'failed') {
      cursors.unread.delete(cursor)
      await handle(outcome.error, query, cursors, cursor)
      continue
    }
    const { run } = outcome
    for (const event of run.items) {
      if (signal?.aborted === true) throw new AbortedError()
      cursor.after = event.sequenceNumber
      cursor.epoch = run.epoch
      yield { ...event, checkpoint: { after: event.sequenceNumber, epoch: run.epoch } }
    }
    cursors.unread.delete(cursor)
    recordRun(cursors, cursor, run)
    const { tenantId, after, epoch } = cursor
    if (run.next < run.head) continue
    await onMark?.({ tenantId, checkpoint: { after, epoch }, head: run.head, revision: run.revision })
  }
}

async function readOne(
  connection: Connection,
  { apiEventType, types, signal }: FollowManyQuery,
  cursor: TenantCursor,
): Promise<Outcome> {
  const { tenantId, after, epoch } = cursor
  const attempts = Math.min(attemptsAtMost, connection.retry.attempts)
  const ofTenant = { ...connection, tenant: tenantId, retry: { ...connection.retry, attempts } }
  const query = {
    after,
    apiEventType,
    limit: eventsAtATime,
    types,
    ...(epoch === '' ? {} : { epoch }),
  }
  try {
    return {
      kind: 'run',
      cursor,
      run: await requestRun(ofTenant, feedPaths[connection.feed].events, query, signal),
    }
  } catch (error) {
    return { kind: 'failed', cursor, error }
  }
}

/** What a failure of one tenant means for it and for the others. Throws what ends the loop. */
async function handle(
  error: unknown,
  { onReset, onTrouble }: FollowManyQuery,
  cursors: TenantCursors,
  cursor: TenantCursor,
): Promise<void> {
  if (!(error instanceof PropertyEventsError) || error instanceof AbortedError) throw error
  const { tenantId } = cursor
  const reason = resyncReasonOf(error)
  if (onReset !== undefined && reason !== undefined && reason !== 'server_changed') {
    await onReset(reason, tenantId)
    beginAnew(cursors, cursor)
  } else if (error.again !== 'never') {
    cursors.failed.add(cursor)
    // The service is away: there is no need to find that out for each tenant.
    if (error instanceof NetworkError) failAll(cursors)
    onTrouble?.(error, tenantId)
  } else if (error instanceof AccessError || error instanceof NotFoundError) {
    // The failure is this tenant's alone, as when it is suspended: it is read again when it moves.
    onTrouble?.(error, tenantId)
  } else throw error
}

/** How far a tenant has been read. */
interface TenantCursor {
  readonly tenantId: string
  after: number
  /** '' before the first answer, if none was given. */
  epoch: string
  /** -1 before the first answer. */
  revision: number
}

interface TenantCursors {
  readonly tenants: Map<string, TenantCursor>
  /** Tenants that have moved and have not been read since. */
  readonly unread: Set<TenantCursor>
  /** Tenants that could not be read: they are tried again with the next heads. */
  readonly failed: Set<TenantCursor>
}

function tenantCursors(given: Iterable<readonly [string, FollowPosition]> = []): TenantCursors {
  const tenants = new Map<string, TenantCursor>()
  for (const [tenantId, { after, epoch = '' }] of given) {
    tenants.set(tenantId.toLowerCase(), { tenantId, after, epoch, revision: -1 })
  }
  return { tenants, unread: new Set(), failed: new Set() }
}

/** Records which tenants have moved. A tenant without a position begins at `beginning`. */
function recordHeads(cursors: TenantCursors, heads: readonly FeedHead[], beginning: 0 | 'head'): void {
  for (const { tenantId, sequenceNumber, epoch, revision } of heads) {
    const begun = { tenantId, after: 0, epoch, revision: -1 }
    const cursor =
      cursors.tenants.get(tenantId.toLowerCase()) ??
      (beginning === 'head' ? { ...begun, after: sequenceNumber, revision } : begun)
    cursors.tenants.set(tenantId.toLowerCase(), cursor)
    if (cursor.epoch === '') cursor.epoch = epoch
    const isThere = cursor.after === sequenceNumber && cursor.epoch === epoch && cursor.revision === revision
    if (!isThere) cursors.unread.add(cursor)
  }
  for (const cursor of cursors.failed) cursors.unread.add(cursor)
  cursors.failed.clear()
}

/** Takes the next tenants to read. One that has more to read is added again, after the others. */
function takeUnread({ unread }: TenantCursors, count: number): readonly TenantCursor[] {
  const batch: TenantCursor[] = []
  for (const cursor of unread) {
    if (batch.length === count) break
    batch.push(cursor)
    unread.delete(cursor)
  }
  return batch
}

/** The events of a run have been handed out. */
function recordRun({ unread }: TenantCursors, cursor: TenantCursor, run: EventRun): void {
  cursor.after = Math.max(cursor.after, run.next)
  cursor.epoch = run.epoch
  cursor.revision = run.revision
  if (run.next < run.head) unread.add(cursor)
}

/** Numbers now mean other events: all of them are read. */
function beginAnew({ unread }: TenantCursors, cursor: TenantCursor): void {
  cursor.after = 0
  cursor.epoch = ''
  cursor.revision = -1
  unread.add(cursor)
}

/** No tenant can be read at present. */
function failAll({ unread, failed }: TenantCursors): void {
  for (const cursor of unread) failed.add(cursor)
  unread.clear()
}
