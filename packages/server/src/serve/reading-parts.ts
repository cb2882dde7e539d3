/** The parts that feeds are read with: what is known about them, and what is ready-made. */
import { createCurrentPages } from '../reading/current/current-pages.ts'
import { createEventPositionCache } from '../reading/event-position-cache.ts'
import { createPageRangeCache } from '../reading/page-range-cache.ts'
import { changedFeeds } from '../live/changed-feeds.ts'
import { faultCache } from '../consumers/fault-cache.ts'
import { lastPublished } from '../publishing/last-published.ts'
import { representationsOver } from '../reading/representation/representation.ts'
import type { Outages } from './outages.ts'
import { plainPages, sealedPages } from '../reading/page-cache/index.ts'
import type { CountBytes, PageReader, SealedPagesOptions } from '../reading/page-cache/index.ts'
import type { BytesInFlight } from '../http/bytes-in-flight.ts'
import type { HttpContext } from '../http/context.ts'
import type { ServiceParts } from './prepare-service.ts'

export const defaultPages: SealedPagesOptions = { memoryBytes: 64 * 2 ** 20, folder: undefined, fileBytes: 0 }

export function readingParts(
  options: Pick<ServiceParts, 'storage' | 'pages'>,
  clock: () => number,
  outages: Outages,
  inFlight: BytesInFlight,
): Pick<
  HttpContext,
  | 'ranges'
  | 'positions'
  | 'moved'
  | 'pages'
  | 'currentPages'
  | 'formOf'
  | 'catalogue'
  | 'lastPublished'
  | 'faults'
> {
  const { events, moments, settings } = options.storage
  const ranges = createPageRangeCache(events)
  return {
    ranges,
    positions: createEventPositionCache(),
    moved: changedFeeds(events, outages),
    pages: pagesOf(options, outages, (bytes, own) => inFlight.count(bytes, own)),
    currentPages: createCurrentPages({ events, moments, ranges, clock }),
    catalogue: settings.catalogue,
    formOf: representationsOver(settings.catalogue),
    lastPublished: lastPublished(events, clock),
    faults: faultCache(options.storage, clock),
  }
}

function pagesOf(
  { storage: { events }, pages = defaultPages }: Pick<ServiceParts, 'storage' | 'pages'>,
  outages: Outages,
  count: CountBytes,
): PageReader {
  return pages === 'off' ? plainPages(events, count) : sealedPages(events, pages, outages, count)
}
