/**
 * Page bodies, plain or gzipped, with as little work as the page allows. Sealed segments are used if there are any, and the rest (the
 * newest events, a store that is read for the first time) is read from the engine. Both ways give the same text.
 */
import { performance } from 'node:perf_hooks'
import type { LocatedPage } from '../list.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Head } from '../../events/event-log.ts'
import { createFeedSeries, forgetOthers } from './segments/feed-series.ts'
import { readGzip, sealedGzip } from './gzip-page.ts'
import type { Representation } from '../representation/representation.ts'
import { createAssemblyBudget, pageReads, partsOf } from './page-parts.ts'
import type { CountBytes, PageSources, RangeReads, SealedPages } from './page-parts.ts'
import type { StreamedBody } from './page-body.ts'
import type { ContentCoding, PageBody } from '../../http/answer-body.ts'
import { readPlain, sealedPlain } from './plain-page.ts'
import { streamedGzip } from './streamed-page.ts'
import { seriesPrefix } from './segments/segment-id.ts'
import { eventsPerSegment } from './segments/segment.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'

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
  const sources: PageSources = { events: pageReads(events), sealed, beginMaking: createAssemblyBudget(count) }
  /** A list of positions is a different one in a moment, so nothing of it is kept. */
  const unsealed: PageSources = { ...sources, sealed: undefined }
  const inLine = createTenantQueues()
  const readListed = (page: LocatedPage, coding: ContentCoding): Promise<AnyBody> => {
    const parts = partsOf(page, 'listed')
    return inLine(page.range.key.tenantId, () =>
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

  return {
    read(page, coding) {
      const { range, head } = page
      if (range.positions !== undefined) return readListed(page, coding)
      const parts = partsOf(page, feedSeries.of(range.key, head, range.view, range.form))
      if (coding === 'gzip') {
        const made = sealed && sealedGzip(sealed, page, parts)
        if (made === 'long') return streamedGzip(sources, page, parts)
        return made ?? inLine(range.key.tenantId, () => readGzip(sources, page, parts))
      }
      const made = sealed && sealedPlain(sealed, page, parts)
      if (made !== 'long' && made !== undefined) return made
      return inLine(range.key.tenantId, () => readPlain(sources, page, parts))
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

/**
 * Limits how many pages of each tenant are read from the store at a time. If the store is a database, all reads share its connections in
 * the order in which they come: 60 requests for cold pages of 6 MB kept everybody else waiting for five seconds, and some were refused.
 *
 * Where the store is a file, a read holds the event loop until it is done: 180 such requests that came together held it for two seconds. So
 * once reads have had their time in a turn of the event loop, the others take one turn each.
 */
type TenantQueues = <T>(tenantId: string, read: () => Promise<T>) => Promise<T>

/** The connections for reading that a node has. */
const connections = 8

interface Line {
  underWay: number
  readonly waiting: (() => void)[]
}

/** What reads may take of one turn of the event loop before others have theirs: many short pages, or one of some megabytes. */
const turnMs = 5

/** Reads at once, or when enough other reads of the tenant have ended: a tenant has at most three quarters of the connections. */
export function createTenantQueues(): TenantQueues {
  const mostAtOnce = Math.floor(0.75 * connections)
  const lines = new Map<string, Line>()

  const lineOf = (tenantId: string): Line => {
    const line = lines.get(tenantId) ?? { underWay: 0, waiting: [] }
    lines.set(tenantId, line)
    return line
  }
  const leave = (tenantId: string, line: Line): void => {
    const next = line.waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    line.underWay -= 1
    if (line.underWay === 0) lines.delete(tenantId)
  }

  /** When the first read of this turn of the event loop began. */
  let turnBeganMs: number | undefined
  const hasTime = (): boolean => {
    const nowMs = performance.now()
    if (turnBeganMs === undefined) {
      turnBeganMs = nowMs
      setImmediate(() => (turnBeganMs = undefined))
    }
    return nowMs - turnBeganMs <= turnMs
  }

  return async (tenantId, read) => {
    const line = lineOf(tenantId)
    if (line.underWay < mostAtOnce) line.underWay += 1
    // A read that ends passes its place on.
    else await new Promise<void>((resolve) => line.waiting.push(resolve))
    try {
      if (!hasTime()) await yieldForStep()
      return await read()
    } finally {
      leave(tenantId, line)
    }
  }
}
