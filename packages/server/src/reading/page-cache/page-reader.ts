/**
 * Page bodies, plain or gzipped, with as little work as the page allows. Sealed segments are used if there are any, and the rest (the
 * newest events, a store that is read for the first time) is read from the engine. Both ways give the same text.
 */
import type { LocatedPage } from '../list.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Head } from '../../events/event-log.ts'
import { createFeedSeries, forgetOthers } from './segments/feed-series.ts'
import { readGzip, sealedGzip } from './gzip-page.ts'
import type { Representation } from '../representation/representation.ts'
import { createAssemblyBudget } from './assembly-budget.ts'
import type { CountBytes } from './assembly-budget.ts'
import type { StreamedBody } from './page-body.ts'
import type { ContentCoding, PageBody } from '../../http/answer-body.ts'
import { partsOf } from './page-parts.ts'
import type { PageSources, SealedPages } from './page-parts.ts'
import { pageReads } from './page-reads.ts'
import type { RangeReads } from './page-reads.ts'
import { readPlain, sealedPlain } from './plain-page.ts'
import { streamedGzip } from './streamed-page.ts'
import { seriesPrefix } from './segments/segment-id.ts'
import { eventsPerSegment } from './segments/segment.ts'
import { createTenantQueues } from './tenant-queues.ts'

type AnyBody = PageBody | StreamedBody

export interface PageReader {
  /** Returns at once, without a promise, if all of the page is in sealed segments, so that such answers do not wait for others. */
  read(page: LocatedPage, coding: ContentCoding): AnyBody | Promise<AnyBody>
  /** The bytes of the event at a position, if its segment in this form is sealed. They must be released like a page. */
  readSealedEvent(key: FeedKey, head: Head, position: number, form?: Representation): PageBody | undefined
  /**
   * From now on, no answer uses anything that was read of the feed before. Resolves when the file has zeros in its place.
   */
  forget(key: FeedKey): Promise<void>
  /** Compares each feed's segments with its head, and forgets those of an earlier state, as `forget` does. */
  compare(headOf: (key: FeedKey) => Promise<Head | undefined>): Promise<void>
  close(): Promise<void>
}

/** Without `sealed`, every page comes from the engine. `count`: as in `createAssemblyBudget`. */
export function createPageReader(
  events: RangeReads,
  sealed: SealedPages | undefined,
  count?: CountBytes,
): PageReader {
  const sources: PageSources = { events: pageReads(events), sealed, making: createAssemblyBudget(count) }
  /** A list of positions is a different one in a moment, so nothing of it is kept. */
  const unsealed: PageSources = { ...sources, sealed: undefined }
  const lines = createTenantQueues()
  const readListed = (page: LocatedPage, coding: ContentCoding): Promise<AnyBody> => {
    const parts = partsOf(page, 'listed')
    return lines.run(page.range.key.tenantId, () =>
      coding === 'gzip' ? readGzip(unsealed, page, parts) : readPlain(unsealed, page, parts),
    )
  }
  const forgetFeed = async (key: FeedKey): Promise<void> => {
    const prefix = seriesPrefix(key)
    feedSeries.forget(key)
    sealed?.sealer.forget(prefix)
    await sealed?.store.forget(prefix)
  }
  // Bytes that could not be overwritten are left for the next time; readers do not notice.
  const feedSeries = createFeedSeries((key) => void forgetFeed(key).catch(() => undefined))
  sealed?.store.watch(feedSeries)
  sealed?.store.watch({
    added: () => undefined,
    cleared: () => undefined,
    forgotten: (prefix) => sealed.sealer.forget(prefix),
  })

  return {
    read(page, coding) {
      const { range, head } = page
      if (range.positions !== undefined) return readListed(page, coding)
      const parts = partsOf(page, feedSeries.of(range.key, head, range.view, range.form))
      if (coding === 'gzip') {
        const made = sealed && sealedGzip(sealed, page, parts)
        if (made === 'long') return streamedGzip(sources, page, parts)
        return made ?? lines.run(range.key.tenantId, () => readGzip(sources, page, parts))
      }
      const made = sealed && sealedPlain(sealed, page, parts)
      if (made !== 'long' && made !== undefined) return made
      return lines.run(range.key.tenantId, () => readPlain(sources, page, parts))
    },
    readSealedEvent(key, head, position, form) {
      const series = feedSeries.of(key, head, 'all', form)
      const number = Math.floor((position - 1) / eventsPerSegment)
      const found = sealed?.store.event({ series, number }, position - 1 - number * eventsPerSegment)
      if (found === undefined) return undefined
      const { bytes, ownBytes, release } = found
      return { kind: 'whole', pieces: [bytes], byteLength: bytes.byteLength, ownBytes, release }
    },
    forget: forgetFeed,
    compare: (headOf) => forgetOthers(feedSeries, headOf, forgetFeed),
    async close() {
      sealed?.sealer.forgetAll()
      await sealed?.sealer.idle()
      sealed?.store.close()
    },
  }
}
