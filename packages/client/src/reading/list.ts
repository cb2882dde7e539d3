/** Lists a feed with the contract's own operation (spec §4.1): a page that can be awaited and iterated. */
import type { Connection } from '../connection.ts'
import { checkPage, checkWindow, createTenantCheck } from './answer-checks.ts'
import { decodePage } from '../decode.ts'
import { InvalidAnswerError } from '../errors.ts'
import { requestJson } from '../http/requests.ts'
import type { Answer } from '../http/requests.ts'
import { pageBytes } from '../http/size-limits.ts'
import { createShrinkingTotal, createWalkCheck, incomplete } from './walk-check.ts'
import type { ShrinkingTotal } from './walk-check.ts'
import { feedPaths } from '../wire.ts'
import type { EventPage, FeedEvent } from '../wire.ts'

export interface ListQuery {
  /** `property`, `salesproperty`, `lettingsproperty`, `contact`; the whole feed by default. */
  readonly apiEventType?: string | undefined
  /** From 1. Iteration starts there. */
  readonly page?: number | undefined
  /** 100 by default. */
  readonly pageSize?: number | undefined
  /**
   * The contract's form is `YYYY-MM-DD HH:mm:ss.ff`, UTC. Property Events also reads `YYYY-MM-DD`, `HH:mm`, a `T`, and `Z`
   * or an offset such as `+01:00` at the end; the text is sent as it is, percent-encoded.
   */
  readonly from?: string | undefined
  /** The same form; it includes the whole interval of its last digit. */
  readonly to?: string | undefined
  /**
   * Only the last event of each property or contact, as of a moment that the first page fixes: `page` is then 1, and `from` and `to` are
   * not allowed. Left out: the key decides. Needs a service with PROTOCOL §3.5.
   */
  readonly current?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * `await` it for the one page that was asked for; `for await` over it for every event from that page to the last, or
 * over `pages()` for the pages. The first page is requested once, at once, for all three.
 */
export interface EventList extends Promise<EventPage>, AsyncIterable<FeedEvent> {
  pages(): AsyncIterable<EventPage>
}

/**
 * The list of a feed. Iteration ends at the last page that the service reports, or at an empty one if that last page is empty, too; never
 * at a short page or at a gap. If a service lists the newest events first, a feed that grows meanwhile may show an event twice: `sync`
 * copes with that.
 */
export function list(connection: Connection, query: ListQuery = {}): EventList {
  const firstPage = query.page ?? 1
  const check = createWalkCheck(firstPage)
  const checkTenant = createTenantCheck(connection.tenant)
  const requestAt = pageRequester(connection, query, (page) => {
    checkWindow(query, page.items)
    checkTenant(page.items)
    check.check(page)
  })
  const first = requestAt(firstPage)
  // Iteration reports a failure itself; without this, Node would end the program first, because of an unhandled
  // rejection.
  first.catch(() => undefined)

  async function* pages(): AsyncGenerator<EventPage> {
    const shrinkingTotal = createShrinkingTotal(connection, query.signal)
    let page = await first
    for (let total = page.availableCount; ;) {
      check.add(page)
      total = Math.min(total, page.availableCount)
      const isGap = page.items.length === 0 && page.page < page.totalPages
      // The last page shows whether this is a gap or a total that is too large.
      const isOver =
        page.page >= page.totalPages || (isGap && (await requestAt(page.totalPages)).items.length === 0)
      const missing = isOver ? check.missing(total, page) : 0
      if (missing > 0) throw incomplete(missing, total)
      if (page.items.length > 0) yield page
      if (isOver) return
      page = await pageAfter(page, requestAt, shrinkingTotal)
    }
  }
  async function* events(): AsyncGenerator<FeedEvent> {
    for await (const page of pages()) yield* page.items
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: events })
}

/** The next page. A smaller total than that of the page before is believed when that page reports it as well. */
async function pageAfter(
  before: EventPage,
  requestAt: (page: number) => Promise<EventPage>,
  shrinkingTotal: ShrinkingTotal,
): Promise<EventPage> {
  for (;;) {
    const page = await requestAt(before.page + 1)
    const reading = { page: page.page, available: before.availableCount }
    if (page.availableCount >= before.availableCount) return page
    if ((await requestAt(before.page)).availableCount <= page.availableCount) return page
    await shrinkingTotal.judge(reading, page)
  }
}

/** All pages of a list of current events are as of one moment, which the service names. */
function pageRequester(
  connection: Connection,
  query: ListQuery,
  check: (page: EventPage) => void,
): (page: number) => Promise<EventPage> {
  let asOf: string | null | undefined
  return async (page) => {
    const { value, headers } = await requestPage(connection, { ...query, page }, check)
    const reported = headers.get('x-current-as-of')
    asOf ??= reported
    if (reported === asOf) return value
    throw new InvalidAnswerError(
      `Page ${page} is as of event ${reported}, and the pages before it as of event ${asOf}: another list of current events was begun with this key. Begin again, and give each reader its own key.`,
    )
  }
}

/** One page, with its headers. `check` throws for a page that does not fit others; it is then asked for again. */
export function requestPage(
  connection: Connection,
  query: ListQuery,
  check?: (page: EventPage) => void,
): Promise<Answer<EventPage>> {
  const { apiEventType, page = 1, pageSize = 100, from, to, current } = query
  return requestJson(
    connection,
    {
      method: 'GET',
      path: feedPaths[connection.feed].list,
      maxBytes: pageBytes(pageSize),
      query: {
        apiEventType,
        page,
        pageSize,
        from,
        to,
        current: current === undefined ? undefined : String(current),
      },
    },
    (value) => {
      const answer = decodePage(value)
      if (answer === undefined) return undefined
      checkPage(connection, query, answer)
      check?.(answer)
      return answer
    },
    query.signal,
  )
}
