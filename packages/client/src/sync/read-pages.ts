/** Reads with the contract's list alone (spec §4.1): a walk over the feed, later over a window of time. */
import type { Connection } from '../connection.ts'
import { requestPage } from '../reading/list.ts'
import { createShrinkingTotal, createWalkCheck, incomplete } from '../reading/walk-check.ts'
import type { EventPage, FeedEvent } from '../wire.ts'
import { forgettableBeforeMs, stepAfterPage, resumedAt, wantsLastPage } from './plan.ts'
import type { ResyncReason } from './plan.ts'
import type { PagesReading } from './reading.ts'
import type { RoundOptions } from './options.ts'
import type { Session } from './session.ts'

/** What a request of a walk brought. */
type Walked =
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
    session.gather(events, walked.reading)
    round.report(reading.from === undefined ? 'whole' : 'new', reading.page, Math.max(1, page.totalPages))
    if (isCaughtUp) await session.finish(forgettableBeforeMs(walked.reading, round.overlapMs))
    else await session.flushIfFull()
    reading = walked.reading
  }
  return undefined
}

/**
 * Walks to the last page, and once more over all pages if they have not shown as many events as the last one says. A walk that an earlier
 * run began is continued with the page before, which shows whether the next one follows it, and is followed by one from page 1, because a
 * service that lists the newest events first has put new ones before the page where the walk was resumed.
 */
export async function* walk(
  connection: Connection,
  from: PagesReading,
  round: Omit<RoundOptions, 'report'>,
): AsyncGenerator<Walked, void, undefined> {
  let wasBegunBefore = from.page > 1
  let reading: PagesReading = wasBegunBefore ? { ...from, page: from.page - 1 } : from
  let check = createWalkCheck(reading.page)
  /** Of a walk that is repeated because its pages lacked some: so many events it has to show. */
  let wanted: number | undefined
  const requestAt = (page: number, bound: string | undefined) => {
    const { pageSize, apiEventType, signal } = round
    return requestPage(connection, { page, pageSize, apiEventType, from: bound, signal }, (answer) =>
      check.check(answer),
    )
  }
  const shrinkingTotal = createShrinkingTotal(connection, round.signal)
  const begin = () => {
    wasBegunBefore = false
    wanted = undefined
    check = createWalkCheck()
    shrinkingTotal.reset()
  }
  for (;;) {
    const { value: page, headers } = await requestAt(reading.page, reading.from)
    if (wasBegunBefore && resumedAt(reading, page) !== reading) {
      reading = resumedAt(reading, page)
      begin()
      continue
    }
    if ((await shrinkingTotal.judge(reading, page)) === 'askAgain') continue
    check.add(page)
    const lastPage: readonly FeedEvent[] = wantsLastPage(reading, page)
      ? (await requestAt(page.totalPages, reading.from)).value.items
      : []
    check.addEvents(lastPage)
    const events = [...page.items, ...lastPage]
    const step = stepAfterPage(reading, { page, mark: markOf(headers), lastPage, overlapMs: round.overlapMs })
    if (step.kind === 'startOver') {
      yield step
      return
    }
    if (wanted !== undefined) wanted = Math.min(wanted, page.availableCount)
    const total = wanted ?? page.availableCount
    const missing = step.kind === 'caughtUp' ? check.missing(total, page) : 0
    if (missing > 0) {
      if (wanted !== undefined) throw incomplete(missing, total)
      wanted = total
      check.restart()
      reading = { ...reading, page: 1 }
      yield { kind: 'page', page, events, reading, isCaughtUp: false }
      continue
    }
    const isCaughtUp = step.kind === 'caughtUp'
    yield { kind: 'page', page, events, reading: step.reading, isCaughtUp }
    if (isCaughtUp) {
      if (!wasBegunBefore) return
      begin()
    }
    reading = step.reading
  }
}

function markOf(headers: Headers): string | undefined {
  const epoch = headers.get('x-feed-epoch')
  return epoch === null ? undefined : `${epoch}/${headers.get('x-feed-revision') ?? ''}`
}
