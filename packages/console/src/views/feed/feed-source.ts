/** The events of a view for the list. It requests the visible pages, and follows the feed. */
import { createHeldPages, pageCount, pageSize } from '../../list/pages.ts'
import type { Rows } from '../../list/scale.ts'
import type { FeedEvent } from '@property-events/protocol/wire'
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import { call } from '../../service/call.ts'
import { listEvents } from '../../service/operations/feeds.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import { restAfter } from '../../service/failure.ts'
import type { Failure } from '../../service/failure.ts'

const restAfterShortMs = 1_000

export function createFeedSource(address: FeedAddress, apiEventType: string | undefined): FeedSource {
  let pages = createHeldPages<FeedEvent>()
  const state = sourceState()
  const rest = createRest()
  const controller = new AbortController()
  const asked = new Set<number>()
  let wanted: Rows = { first: 0, last: -1 }
  let isStale = false

  async function ask(page: number): Promise<void> {
    if (asked.has(page)) return
    asked.add(page)
    const operation = listEvents(address, { apiEventType, page, pageSize })
    const of = pages
    const outcome = await call(operation, { signal: controller.signal, etag: pages.etagOf(page) })
    asked.delete(page)
    if (outcome.kind === 'stopped') return
    // Requested before everything was forgotten.
    if (of !== pages) return void ask(page)
    state.failure.value = outcome.kind === 'failure' ? outcome.failure : undefined
    if (outcome.kind === 'failure') {
      rest.after(restAfter(outcome.failure), askAgain)
      return
    }
    if (outcome.kind === 'answer') {
      pages.take(page, outcome.value, outcome.head.get('etag') ?? undefined)
      state.total.value = pages.total
      state.version.value += 1
    }
    // Other pages may be wanted now, and the last page may be a different one.
    if (isStale) refresh()
    for (const missing of pages.missing(wanted)) {
      // A node that is behind another one does not have it yet, and would be asked without a pause.
      if (missing === page) rest.after(restAfterShortMs, askAgain)
      else void ask(missing)
    }
  }

  function askAgain(): void {
    refresh()
    want(wanted)
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
    ...state,
    event: (row) => pages.item(row),
    want,
    refresh,
    forget() {
      pages = createHeldPages<FeedEvent>()
      askAgain()
    },
    close() {
      controller.abort()
      rest.after(undefined, askAgain)
    },
  }
}

/** What a source reports to the list, as signals. */
interface SourceState {
  /** All events of the view; `undefined` before the first answer. */
  readonly total: Signal<number | undefined>
  /** Rises with every answer that changed something: whoever reads `event` must read this too. */
  readonly version: Signal<number>
  readonly failure: Signal<Failure | undefined>
  /** In words, how much of the feed the rows cover, if not all of it. */
  readonly reach: Signal<string | undefined>
}

export interface FeedSource extends SourceState {
  event(row: number): FeedEvent | undefined
  /** Requests the missing events of these rows. */
  want(rows: Rows): void
  /** The feed has moved. Requests its newest events, which is cheap if there are none. */
  refresh(): void
  /** The held events may be outdated: an epoch has begun, or payloads were reduced. */
  forget(): void
  close(): void
}

export function sourceState(): SourceState {
  return {
    total: signal(undefined),
    version: signal(0),
    failure: signal(undefined),
    reach: signal(undefined),
  }
}

/** One timer: a later one replaces an earlier one. */
export function createRest(): { readonly after: (ms: number | undefined, work: () => void) => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    after(ms, work) {
      clearTimeout(timer)
      timer = ms === undefined ? undefined : setTimeout(work, ms)
    },
  }
}
