/** The events of a view for the list: asks for the pages that are seen, and follows the feed. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import { createHeldPages, pageCount, pageSize } from '../../list/pages.ts'
import type { Rows } from '../../list/scale.ts'
import type { FeedEvent } from '../../service/answers.ts'
import { call } from '../../service/call.ts'
import { listEvents } from '../../service/operations/feeds.ts'
import type { FeedPlace } from '../../service/operations/feeds.ts'
import { restAfter } from '../../service/trouble.ts'
import type { Trouble } from '../../service/trouble.ts'

export interface FeedSource {
  /** All events of the view; `undefined` before the first answer. */
  readonly total: Signal<number | undefined>
  /** Rises with every answer that changed something: who reads `event` reads this too. */
  readonly version: Signal<number>
  readonly trouble: Signal<Trouble | undefined>
  event(row: number): FeedEvent | undefined
  /** Asks for the pages of these rows that are not held. */
  want(rows: Rows): void
  /** The feed has moved: asks for its last page again, which is cheap where it has not. */
  refresh(): void
  close(): void
}

const restAfterShortMs = 1_000

export function createFeedSource(place: FeedPlace, apiEventType: string | undefined): FeedSource {
  const pages = createHeldPages<FeedEvent>()
  const total = signal<number | undefined>(undefined)
  const version = signal(0)
  const trouble = signal<Trouble | undefined>(undefined)
  const controller = new AbortController()
  const asked = new Set<number>()
  let wanted: Rows = { first: 0, last: -1 }
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStale = false

  async function ask(page: number): Promise<void> {
    if (asked.has(page)) return
    asked.add(page)
    const operation = listEvents(place, { apiEventType, page, pageSize })
    const outcome = await call(operation, { signal: controller.signal, etag: pages.etagOf(page) })
    asked.delete(page)
    if (outcome.kind === 'stopped') return
    trouble.value = outcome.kind === 'trouble' ? outcome.trouble : undefined
    if (outcome.kind === 'trouble') {
      const restMs = restAfter(outcome.trouble)
      if (restMs !== undefined) later(restMs)
      return
    }
    if (outcome.kind === 'answer') {
      pages.take(page, outcome.value, outcome.head.get('etag') ?? undefined)
      total.value = pages.total
      version.value += 1
    }
    // What was wanted may be other pages now, and the last page another one.
    if (isStale) refresh()
    for (const missing of pages.missing(wanted)) {
      // A node that is behind another one does not have it yet: it would be asked without a rest.
      if (missing === page) later(restAfterShortMs)
      else void ask(missing)
    }
  }

  function later(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      refresh()
      want(wanted)
    }, ms)
  }

  function want(rows: Rows): void {
    wanted = rows
    for (const page of pages.missing(rows)) void ask(page)
  }

  function refresh(): void {
    const last = Math.max(1, pageCount(pages.total ?? 0))
    isStale = asked.has(last)
    if (!isStale) void ask(last)
  }

  return {
    total,
    version,
    trouble,
    event: (row) => pages.item(row),
    want,
    refresh,
    close() {
      controller.abort()
      clearTimeout(timer)
    },
  }
}
