/** A page, from what is known of the feed's ranges and from sealed segments where there are any (D4, D20). */
import { locatePage, pageOf } from '../../feed/list.ts'
import type { LocatedPage } from '../../feed/list.ts'
import type { PageBody } from '../../pages/index.ts'
import type { HttpContext } from '../context.ts'
import { pageTag, tagMatches } from '../entity-tag.ts'
import { readListParameters } from '../list-parameters.ts'
import type { DirectAnswer, DirectQuestion, DirectReading } from './answer.ts'

/** `undefined`: there is something to say about the parameters, or no such tenant. */
export function readPageDirectly(
  { limits, pages, ranges }: Pick<HttpContext, 'limits' | 'pages' | 'ranges'>,
  { key, coding, ifNoneMatch }: DirectQuestion,
  queryText: string,
): DirectReading {
  const reading = readListParameters(queryText, key.feed, limits)
  if (reading.kind === 'faults' || reading.ignored.length > 0) return undefined
  const asked = { key, ...reading.parameters }

  const answer = (page: LocatedPage): DirectReading => {
    const { head } = page
    const etag = pageTag(asked, page, coding)
    if (tagMatches(ifNoneMatch, etag)) return { kind: 'notModified', etag, head }
    // An empty page is shorter than a gzip header is worth.
    const sent = page.range.count === 0 ? 'identity' : coding
    const withBody = (body: PageBody): DirectAnswer => ({ kind: 'body', etag, head, body, coding: sent })
    const made = pages.read(page, sent)
    return made instanceof Promise ? made.then(withBody) : withBody(made)
  }

  const isWholeView = asked.from === undefined && asked.to === undefined
  const known = isWholeView ? ranges.known(key, asked.view) : undefined
  return known === undefined
    ? locatePage(ranges, asked).then((page) => page && answer(page))
    : answer(pageOf(known, asked.page, asked.pageSize))
}
