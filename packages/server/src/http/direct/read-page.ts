/** A page, from what is known of the feed's ranges and from sealed segments where there are any (D4, D20). */
import { locatePage, pageOf } from '../../feed/list.ts'
import type { LocatedPage } from '../../feed/list.ts'
import type { ContentCoding } from '../../pages/index.ts'
import type { FeedKey, Located } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { pageTag, tagMatches } from '../entity-tag.ts'
import type { ListParameters } from '../list-parameters.ts'
import type { DirectQuestion, DirectReading } from './answer.ts'

interface TaggedPage {
  readonly page: LocatedPage
  readonly etag: string
}

/** `undefined`: no such tenant. */
export function readPageDirectly(
  { pages, ranges }: Pick<HttpContext, 'pages' | 'ranges'>,
  { key, coding, ifNoneMatch }: DirectQuestion,
  parameters: ListParameters,
): DirectReading {
  const answer = ({ page, etag }: TaggedPage): DirectReading => {
    const { head } = page
    if (tagMatches(ifNoneMatch, etag)) return { kind: 'notModified', etag, head }
    // An empty page is shorter than a gzip header is worth.
    const sent = page.range.count === 0 ? 'identity' : coding
    return whenThere(pages.read(page, sent), (body) => ({ kind: 'body', etag, head, body, coding: sent }))
  }

  const isWholeView = parameters.from === undefined && parameters.to === undefined
  const known = isWholeView ? ranges.known(key, parameters.view) : undefined
  if (known !== undefined) return answer(pageOfKnown(known, key, coding, parameters))
  const asked = { key, ...parameters }
  return locatePage(ranges, asked).then(
    (page) => page && answer({ page, etag: pageTag(asked, page, coding) }),
  )
}

/** What a target led to last, which polls ask again and again: its parameters are one object while a connection asks for it. */
const lastPages = new WeakMap<
  ListParameters,
  TaggedPage & { readonly known: Located; coding: ContentCoding }
>()

function pageOfKnown(
  known: Located,
  key: FeedKey,
  coding: ContentCoding,
  parameters: ListParameters,
): TaggedPage {
  const last = lastPages.get(parameters)
  // What is known of a feed's view is one object until the feed changes, and no other feed's.
  if (last?.known === known && last.coding === coding) return last
  const page = pageOf(known, parameters.page, parameters.pageSize)
  const found = { known, coding, page, etag: pageTag({ key, ...parameters }, page, coding) }
  lastPages.set(parameters, found)
  return found
}
