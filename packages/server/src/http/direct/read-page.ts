/** A page, from what is known of the feed's ranges and from sealed segments where there are any (D4, D20). */
import { locatePage, pageOf } from '../../feed/list.ts'
import type { ContentCoding } from '../../pages/index.ts'
import type { FeedKey, Located } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { pageTag, tagMatches } from '../entity-tag.ts'
import type { DirectQuestion, DirectReading } from './answer.ts'
import type { ListTarget, TaggedPage } from './target.ts'

/** `undefined`: no such tenant. */
export function readPageDirectly(
  { pages, ranges }: Pick<HttpContext, 'pages' | 'ranges'>,
  { key, coding, ifNoneMatch }: DirectQuestion,
  target: ListTarget,
): DirectReading {
  const { parameters } = target
  const answer = ({ page, etag }: TaggedPage): DirectReading => {
    const { head } = page
    if (tagMatches(ifNoneMatch, etag)) return { kind: 'notModified', etag, head }
    // An empty page is shorter than a gzip header is worth.
    const sent = page.range.count === 0 ? 'identity' : coding
    return whenThere(pages.read(page, sent), (body) => ({ kind: 'body', etag, head, body, coding: sent }))
  }

  const asked = { key, ...parameters }
  const known = ranges.known(asked)
  if (known !== undefined) return answer(pageOfKnown(known, key, coding, target))
  return locatePage(ranges, asked).then(
    (page) => page && answer({ page, etag: pageTag(asked, page, coding) }),
  )
}

/** Polls ask for the same page again and again, and its target is one object while a connection does. */
function pageOfKnown(known: Located, key: FeedKey, coding: ContentCoding, target: ListTarget): TaggedPage {
  const { lastPage, parameters } = target
  // What is known of a feed's view is one object until the feed changes, and no other feed's.
  if (lastPage?.known === known && lastPage.coding === coding) return lastPage
  const page = pageOf(known, parameters.page, parameters.pageSize)
  const etag = pageTag({ key, ...parameters }, page, coding)
  target.lastPage = { known, coding, page, etag }
  return target.lastPage
}
