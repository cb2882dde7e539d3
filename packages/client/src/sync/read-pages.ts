/** Reads with the contract's list alone (spec §4.1): a walk over the feed, later over a window of time. */
import type { Connection } from '../connection.ts'
import { requestPage } from '../list.ts'
import type { FeedEvent } from '../wire.ts'
import { createFalls } from './falls.ts'
import { forgettableBeforeMs, pageRead, resumedAt, wantsLastPage } from './plan.ts'
import type { ResyncReason } from './plan.ts'
import type { PagesReading } from './reading.ts'
import type { RoundOptions } from './round.ts'
import type { Session } from './session.ts'

/**
 * Walks to the last page. A walk that an earlier run began is followed by one from page 1, because a service that lists
 * the newest events first has put new ones before the page where the walk was resumed. Returns a reason when reading
 * must start over.
 */
export async function walkPages(
  connection: Connection,
  session: Session,
  from: PagesReading,
  round: RoundOptions,
): Promise<ResyncReason | undefined> {
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
    if (step.kind === 'startOver') return step.reason
    session.checkTenant(page.items[0]?.tenantId ?? '')
    session.gather([...page.items, ...lastPage], step.reading)
    round.report(reading.from === undefined ? 'whole' : 'new', reading.page, Math.max(1, page.totalPages))
    if (step.kind === 'caughtUp') {
      await session.finish(forgettableBeforeMs(step.reading, round.overlapMs))
      if (!wasBegunBefore) return undefined
      wasBegunBefore = false
      falls.forget()
    } else await session.flushIfFull()
    reading = step.reading
  }
}

function markOf(headers: Headers): string | undefined {
  const epoch = headers.get('x-feed-epoch')
  return epoch === null ? undefined : `${epoch}/${headers.get('x-feed-revision') ?? ''}`
}
