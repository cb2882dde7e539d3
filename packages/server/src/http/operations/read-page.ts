/** A page, from what is known of the feed's ranges and from sealed segments where there are any (D4, D20). */
import type { FeedName } from '@property-events/protocol'
import { locatePage, pageOf } from '../../feed/list.ts'
import type { LocatedPage } from '../../feed/list.ts'
import { sentRange } from '../../feed/sent.ts'
import type { ContentCoding, StreamedBody } from '../../pages/index.ts'
import type { FeedKey, Located } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { feedKeyOf, refused } from '../exchange.ts'
import type { Answer, Headers, Outcome } from '../exchange.ts'
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

function longPage(
  said: Pick<Extract<Answer, { kind: 'stream' }>, 'headers' | 'etag' | 'feed' | 'coding' | 'sent'>,
  body: StreamedBody,
  onBytes: (bytes: number) => void,
): Answer {
  // It holds nothing but the piece that is being sent.
  const { byteLength } = body
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of body.pieces()) {
      onBytes(piece.byteLength)
      yield piece
    }
  }
  return { ...said, kind: 'stream', use: 'largePage', byteLength, pieces, release: () => undefined }
}

/** Reads one page: validators first, events only when they are needed. `headers`: further ones of its answers. */
export function pageCall(
  { pages, ranges, metrics }: Pick<HttpContext, 'pages' | 'ranges' | 'metrics'>,
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
    const onBytes = (bytes: number): void => metrics.streamed(key.tenantId, bytes)
    const answer = ({ page, etag }: TaggedPage): Outcome | Promise<Outcome> => {
      const { head } = page
      if (tagMatches(request.header('if-none-match'), etag)) {
        return { kind: 'notModified', headers: notModifiedHeaders, etag, feed: head }
      }
      // An empty page is shorter than a gzip header is worth.
      const coded = page.range.count === 0 ? 'identity' : coding
      const sent = sentRange(page.range)
      return whenThere(pages.read(page, coded), (body) => {
        const said = { headers: bodyHeaders, etag, feed: head, coding: coded, sent }
        return body.kind === 'whole' ? { ...said, kind: 'pieces', body } : longPage(said, body, onBytes)
      })
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
