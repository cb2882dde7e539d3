/**
 * Page bodies, plain or gzipped, with as little work as the page allows: sealed segments are used where there are any,
 * and the rest (the newest events, a store that is read for the first time) is read from the engine. Both ways give the
 * same text.
 */
import type { LocatedPage } from '../feed/list.ts'
import type { FeedKey, Head } from '../storage/storage.ts'
import { createFeedSeries } from './feed-series.ts'
import { readGzip, sealedGzip } from './gzip-page.ts'
import type { ContentCoding, PageBody } from './page-body.ts'
import { partsOf } from './page-parts.ts'
import type { PageSources, SealedPages } from './page-parts.ts'
import { readPlain, sealedPlain } from './plain-page.ts'
import { eventsPerSegment } from './segment.ts'

export interface PageReader {
  /**
   * Returns at once, without a promise, where all of the page is in sealed segments, so that such answers do not wait
   * for others.
   */
  read(page: LocatedPage, coding: ContentCoding): PageBody | Promise<PageBody>
  /** The bytes of the event at a position, if its segment is sealed; to be released like a page. */
  readSealedEvent(key: FeedKey, head: Head, position: number): PageBody | undefined
  close(): Promise<void>
}

/** Without `sealed`, every page comes from the engine. */
export function createPageReader(events: PageSources['events'], sealed: SealedPages | undefined): PageReader {
  const sources: PageSources = { events, sealed }
  const feedSeries = createFeedSeries(() => {
    sealed?.sealer.forgetAll()
    sealed?.store.clear()
  })
  sealed?.store.watch(feedSeries)

  return {
    read(page, coding) {
      const { range, head } = page
      const parts = partsOf(page, feedSeries.of(range.key, head, range.view))
      if (coding === 'gzip')
        return (sealed && sealedGzip(sealed, page, parts)) ?? readGzip(sources, page, parts)
      return (sealed && sealedPlain(sealed, page, parts)) ?? readPlain(sources, page, parts)
    },
    readSealedEvent(key, head, position) {
      const series = feedSeries.of(key, head, 'all')
      const number = Math.floor((position - 1) / eventsPerSegment)
      const found = sealed?.store.event({ series, number }, position - 1 - number * eventsPerSegment)
      return found && { pieces: [found.bytes], byteLength: found.bytes.byteLength, release: found.release }
    },
    async close() {
      sealed?.sealer.forgetAll()
      await sealed?.sealer.idle()
      sealed?.store.close()
    },
  }
}
