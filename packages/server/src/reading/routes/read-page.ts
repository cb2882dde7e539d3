/** A page, from the known ranges of the feed and from sealed segments if there are any (D4, D20). */
import type { FeedName } from '@property-events/protocol'
import { locatePage, pageOf } from '../list.ts'
import type { LocatedPage, PageRequest } from '../list.ts'
import type { Delivered } from '../../consumers/read-ranges.ts'
import { disclosedRange } from '../../privacy/disclosure/disclosure.ts'
import type { Representation, RepresentationOf } from '../representation/representation.ts'
import { deliveredPage, nothingDelivered } from '../../consumers/delivered.ts'
import type { ContentCoding } from '../../http/answer-body.ts'
import type { Located } from '../../events/event-log.ts'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { feedKeyOf } from '../../http/access.ts'
import { refused } from '../../http/exchange.ts'
import type { Headers, Outcome } from '../../http/exchange.ts'
import { feedViewOf } from '../feed-view.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { tagMatches } from '../../http/requests/entity-tag.ts'
import { pageTag } from '../page-tag.ts'
import type { ListParameters } from './list-parameters.ts'
import { cacheHeaders, joined, jsonHeaders, pageAnswer } from './answers.ts'
import type { Call } from '../../http/operation.ts'
import type { PageReader } from '../page-cache/index.ts'
import type { PageRangeCache } from '../page-range-cache.ts'
import type { RequestObserver } from '../../http/observer.ts'

/** What reading a page needs. */
export interface PageContext {
  readonly formOf: RepresentationOf
  readonly metrics: RequestObserver
  readonly pages: PageReader
  readonly ranges: PageRangeCache
}

interface TaggedPage {
  readonly page: LocatedPage
  readonly etag: string
  /** What the reader is told with it, and with a 304. */
  readonly delivered: Delivered
  readonly unchanged: Delivered
}

/** A page that stays valid while the known state of its view is the same object. */
interface CachedPage extends TaggedPage {
  readonly known: Located
  readonly coding: ContentCoding
  readonly form: Representation | undefined
}

/** Reads one page: validators first, events only if they are needed. `headers`: additional headers of its answers. */
export function pageCall(
  { pages, ranges, metrics, formOf }: Pick<PageContext, 'pages' | 'ranges' | 'metrics' | 'formOf'>,
  feed: FeedName,
  parameters: ListParameters,
  headers: Headers,
): Call {
  const bodyHeaders = joined(jsonHeaders, headers)
  const notModifiedHeaders = joined(cacheHeaders, headers)
  let lastPage: CachedPage | undefined

  /** Polls request the same page again and again, and a connection keeps its call meanwhile. */
  const pageOfKnown = (
    known: Located,
    asked: PageRequest,
    coding: ContentCoding,
    form: Representation | undefined,
  ): TaggedPage => {
    // The known state of a feed's view is one object until the feed changes, and belongs to no other feed.
    if (lastPage?.known === known && lastPage.coding === coding && lastPage.form === form) return lastPage
    const page = inForm(pageOf(known, asked), form)
    lastPage = { known, coding, form, ...tagged(page, pageTag(asked, page, coding)) }
    return lastPage
  }

  return (request, access) => {
    const key = feedKeyOf(access, feed)
    const coding = preferredCoding(request.header('accept-encoding'))
    const form = formOf(access, feed)
    const onBytes = (bytes: number): void => metrics.streamed(key.tenantId, bytes)
    const answer = ({ page, etag, delivered, unchanged }: TaggedPage): Outcome | Promise<Outcome> => {
      const { head, completeUntil } = page
      if (tagMatches(request.header('if-none-match'), etag)) {
        return {
          kind: 'notModified',
          headers: notModifiedHeaders,
          etag,
          feed: head,
          completeUntil,
          delivered: unchanged,
        }
      }
      // An empty page is too short for gzip to be worth its header.
      const coded = page.range.count === 0 ? 'identity' : coding
      const sent = disclosedRange(page.range)
      return mapMaybePromise(pages.read(page, coded), (body) => {
        return pageAnswer(
          { headers: bodyHeaders, etag, feed: head, completeUntil, coding: coded, sent, delivered },
          body,
          onBytes,
        )
      })
    }
    const asked = { ...parameters, key, view: feedViewOf(access, parameters.view) }
    const known = ranges.known(asked)
    if (known !== undefined) return answer(pageOfKnown(known, asked, coding, form))
    return locatePage(ranges, asked).then((located) => {
      if (located === undefined) return refused({ code: 'key_disabled' })
      const page = inForm(located, form)
      return answer(tagged(page, pageTag(asked, page, coding)))
    })
  }
}

function tagged(page: LocatedPage, etag: string): TaggedPage {
  const delivered = deliveredPage(page.range, page.head.epoch)
  return { page, etag, delivered, unchanged: nothingDelivered(delivered) }
}

function inForm(page: LocatedPage, form: Representation | undefined): LocatedPage {
  return form === undefined ? page : { ...page, range: { ...page.range, form } }
}
