/** A page, from what is known of the feed's ranges and from sealed segments where there are any (D4, D20). */
import { locatePage, pageOf } from '../../feed/list.ts'
import type { HttpContext } from '../context.ts'
import { pageTag, tagMatches } from '../entity-tag.ts'
import { readListParameters } from '../list-parameters.ts'
import type { DirectAnswer, DirectQuestion } from './answer.ts'

/** `undefined`: there is something to say about the parameters, or no such tenant. */
export async function readPageDirectly(
  { limits, pages, ranges }: Pick<HttpContext, 'limits' | 'pages' | 'ranges'>,
  { key, coding, ifNoneMatch }: DirectQuestion,
  queryText: string,
): Promise<DirectAnswer | undefined> {
  const reading = readListParameters(queryText, key.feed, limits)
  if (reading.kind === 'faults' || reading.ignored.length > 0) return undefined
  const asked = { key, ...reading.parameters }
  const isWholeView = asked.from === undefined && asked.to === undefined
  const known = isWholeView ? ranges.known(key, asked.view) : undefined
  const page =
    known === undefined ? await locatePage(ranges, asked) : pageOf(known, asked.page, asked.pageSize)
  if (page === undefined) return undefined
  const etag = pageTag(asked, page, coding)
  if (tagMatches(ifNoneMatch, etag)) return { kind: 'notModified', etag, head: page.head }
  // An empty page is shorter than a gzip header is worth.
  const sent = page.range.count === 0 ? 'identity' : coding
  const made = pages.read(page, sent)
  const body = made instanceof Promise ? await made : made
  return { kind: 'body', etag, head: page.head, body, coding: sent }
}
