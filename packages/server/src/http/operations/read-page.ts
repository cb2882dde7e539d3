/** A page, from what is known of the feed's ranges and from sealed segments where there are any (D4, D20). */
import type { FeedName } from '@property-events/protocol'
import { locatePage, pageOf } from '../../feed/list.ts'
import type { LocatedPage } from '../../feed/list.ts'
import type { ContentCoding } from '../../pages/index.ts'
import type { FeedKey, Located } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { feedKeyOf, refused } from '../exchange.ts'
import type { Headers, Outcome } from '../exchange.ts'
import { preferredCoding } from '../requests/accept.ts'
import { pageTag, tagMatches } from '../requests/entity-tag.ts'
import type { ListParameters } from '../requests/list-parameters.ts'
import { cacheHeaders, joined, jsonHeaders } from './answers.ts'
import type { Call } from './operation.ts'

interface TaggedPage {
  readonly page: LocatedPage
  readonly etag: string
}

/** A page as it is for as long as what is known of its view is one and the same. */
interface KnownPage extends TaggedPage {
  readonly known: Located
  readonly coding: ContentCoding
}

/** Reads one page: validators first, events only when they are needed. `headers`: further ones of its answers. */
export function pageCall(
  { pages, ranges }: Pick<HttpContext, 'pages' | 'ranges'>,
  feed: FeedName,
  parameters: ListParameters,
  headers: Headers,
): Call {
  const bodyHeaders = joined(jsonHeaders, headers)
  const notModifiedHeaders = joined(cacheHeaders, headers)
  let lastPage: KnownPage | undefined

  /** Polls ask for the same page again and again, and the call is one while a connection does. */
  const pageOfKnown = (known: Located, key: FeedKey, coding: ContentCoding): TaggedPage => {
    // What is known of a feed's view is one object until the feed changes, and no other feed's.
    if (lastPage?.known === known && lastPage.coding === coding) return lastPage
    const page = pageOf(known, parameters.page, parameters.pageSize)
    lastPage = { known, coding, page, etag: pageTag({ ...parameters, key }, page, coding) }
    return lastPage
  }

  return (request, access) => {
    const key = feedKeyOf(access, feed)
    const coding = preferredCoding(request.header('accept-encoding'))
    const answer = ({ page, etag }: TaggedPage): Outcome | Promise<Outcome> => {
      const { head } = page
      if (tagMatches(request.header('if-none-match'), etag)) {
        return { kind: 'notModified', headers: notModifiedHeaders, etag, feed: head }
      }
      // An empty page is shorter than a gzip header is worth.
      const sent = page.range.count === 0 ? 'identity' : coding
      return whenThere(pages.read(page, sent), (body) => ({
        kind: 'pieces',
        headers: bodyHeaders,
        etag,
        feed: head,
        body,
        coding: sent,
      }))
    }
    const asked = { ...parameters, key }
    const known = ranges.known(asked)
    if (known !== undefined) return answer(pageOfKnown(known, key, coding))
    return locatePage(ranges, asked).then((page) =>
      page === undefined
        ? refused({ code: 'key_disabled' })
        : answer({ page, etag: pageTag(asked, page, coding) }),
    )
  }
}
