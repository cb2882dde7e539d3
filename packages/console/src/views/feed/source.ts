/** The source of a list's rows. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { Rows } from '../../list/scale.ts'
import type { FeedEvent } from '@property-events/protocol/wire'
import type { Failure } from '../../service/failure.ts'

/** What a source reports to the list, as signals. */
export interface SourceState {
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
