/** Lists a feed with the contract's own operation (spec §4.1): a page that can be awaited and iterated. */
import type { Connection } from './connection.ts'
import { decodePage } from './decode.ts'
import { InvalidAnswerError } from './errors.ts'
import { requestJson } from './http.ts'
import type { Answer } from './http.ts'
import { feedPaths } from './wire.ts'
import type { EventPage, FeedEvent } from './wire.ts'

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
  const ask = pageAsker(connection, query)
  const firstPage = query.page ?? 1
  const first = ask(firstPage)
  // Iteration reports a failure itself; without this, Node would end the program first, because of an unhandled
  // rejection.
  first.catch(() => undefined)

  async function* pages(): AsyncGenerator<EventPage> {
    let page = await first
    for (let number = firstPage; ;) {
      if (page.items.length > 0) yield page
      if (number >= page.totalPages) return
      // The last page shows whether this is a gap or a total that is too large.
      if (page.items.length === 0 && (await ask(page.totalPages)).items.length === 0) return
      number += 1
      page = await ask(number)
    }
  }
  async function* events(): AsyncGenerator<FeedEvent> {
    for await (const page of pages()) yield* page.items
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: events })
}

/** All pages of a list of current events are as of one moment, which the service names. */
function pageAsker(connection: Connection, query: ListQuery): (page: number) => Promise<EventPage> {
  let asOf: string | null | undefined
  return async (page) => {
    const { value, headers } = await requestPage(connection, { ...query, page })
    const said = headers.get('x-current-as-of')
    asOf ??= said
    if (said === asOf) return value
    throw new InvalidAnswerError(
      `Page ${page} is as of event ${said}, and the pages before it as of event ${asOf}: another list of current events was begun with this key. Begin again, and give each reader its own key.`,
    )
  }
}

/** One page, with its headers. */
export function requestPage(connection: Connection, query: ListQuery): Promise<Answer<EventPage>> {
  const { apiEventType, page = 1, pageSize = 100, from, to, current } = query
  return requestJson(
    connection,
    {
      method: 'GET',
      path: feedPaths[connection.feed].list,
      query: {
        apiEventType,
        page,
        pageSize,
        from,
        to,
        current: current === undefined ? undefined : String(current),
      },
    },
    decodePage,
    query.signal,
  )
}
