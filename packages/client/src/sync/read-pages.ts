/** Reads with the contract's list alone (spec §4.1): a walk over the feed, later over a window of time. */
import type { Connection } from '../connection.ts'
import { requestPage } from '../list.ts'
import type { EventPage, FeedEvent } from '../wire.ts'
import { createFalls } from './falls.ts'
import { forgettableBeforeMs, pageRead, resumedAt, wantsLastPage } from './plan.ts'
import type { ResyncReason } from './plan.ts'
import type { PagesReading } from './reading.ts'
import type { RoundOptions } from './round.ts'
import type { Session } from './session.ts'

/** What a request of a walk brought. */
export type Walked =
  | {
      readonly kind: 'page'
      readonly page: EventPage
      /** Of this page, and of the last one where that was asked for too. */
      readonly events: readonly FeedEvent[]
      /** Where the next request begins. */
      readonly reading: PagesReading
      readonly isCaughtUp: boolean
    }
  | { readonly kind: 'startOver'; readonly reason: ResyncReason }

/** Adds the results of a walk to the session. Returns a reason when reading must start over. */
export async function walkPages(
  connection: Connection,
  session: Session,
  from: PagesReading,
  round: RoundOptions,
): Promise<ResyncReason | undefined> {
  let reading = from
  for await (const walked of walk(connection, from, round)) {
    if (walked.kind === 'startOver') return walked.reason
    const { page, events, isCaughtUp } = walked
    session.checkTenant(page.items[0]?.tenantId ?? '')
    session.gather(events, walked.reading)
    round.report(reading.from === undefined ? 'whole' : 'new', reading.page, Math.max(1, page.totalPages))
    if (isCaughtUp) await session.finish(forgettableBeforeMs(walked.reading, round.overlapMs))
    else await session.flushIfFull()
    reading = walked.reading
  }
  return undefined
}

/**
 * Walks to the last page. A walk that an earlier run began is followed by one from page 1, because a service that lists
 * the newest events first has put new ones before the page where the walk was resumed.
 */
export async function* walk(
  connection: Connection,
  from: PagesReading,
  round: Omit<RoundOptions, 'report'>,
): AsyncGenerator<Walked, void, undefined> {
  const ask = (page: number, bound: string | undefined) =>
    requestPage(connection, {
      page,
      pageSize: round.pageSize,
      apiEventType: round.apiEventType,
      from: bound,
      signal: round.signal,
    })

  const falls = createFalls(connection, round.signal)
  let wasBegunBefore = from.page > 1
  for (let reading = from; ;) {
    const { value: page, headers } = await ask(reading.page, reading.from)
    if (wasBegunBefore && resumedAt(reading, page) !== reading) {
      reading = resumedAt(reading, page)
      wasBegunBefore = false
      continue
    }
    if ((await falls.look(reading, page)) === 'askAgain') continue
    const lastPage: readonly FeedEvent[] = wantsLastPage(reading, page)
      ? (await ask(page.totalPages, reading.from)).value.items
      : []
    const mark = markOf(headers)
    const step = pageRead(reading, { page, mark, lastPage, overlapMs: round.overlapMs })
    if (step.kind === 'startOver') {
      yield step
      return
    }
    const isCaughtUp = step.kind === 'caughtUp'
    yield { kind: 'page', page, events: [...page.items, ...lastPage], reading: step.reading, isCaughtUp }
    if (isCaughtUp) {
      if (!wasBegunBefore) return
      wasBegunBefore = false
      falls.forget()
    }
    reading = step.reading
  }
}

function markOf(headers: Headers): string | undefined {
  const epoch = headers.get('x-feed-epoch')
  return epoch === null ? undefined : `${epoch}/${headers.get('x-feed-revision') ?? ''}`
}
