/** Where the list has its rows from. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { Rows } from '../../list/scale.ts'
import type { FeedEvent } from '../../service/answers.ts'
import type { Trouble } from '../../service/trouble.ts'

/** What a source tells the list, as signals. */
export interface SourceState {
  /** All events of the view; `undefined` before the first answer. */
  readonly total: Signal<number | undefined>
  /** Rises with every answer that changed something: who reads `event` reads this too. */
  readonly version: Signal<number>
  readonly trouble: Signal<Trouble | undefined>
  /** How much of the feed the rows are, in words, where they are not all of it. */
  readonly reach: Signal<string | undefined>
}

export interface FeedSource extends SourceState {
  event(row: number): FeedEvent | undefined
  /** Asks for what is not held of these rows. */
  want(rows: Rows): void
  /** The feed has moved: asks for its newest events, which is cheap where it has not. */
  refresh(): void
  /** What is held may not be so any more: an epoch has begun, or payloads were reduced. */
  forget(): void
  close(): void
}

export function sourceState(): SourceState {
  return {
    total: signal(undefined),
    version: signal(0),
    trouble: signal(undefined),
    reach: signal(undefined),
  }
}

/** One timer: a later one takes the place of an earlier one. */
export function createRest(): { readonly after: (ms: number | undefined, work: () => void) => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    after(ms, work) {
      clearTimeout(timer)
      timer = ms === undefined ? undefined : setTimeout(work, ms)
    },
  }
}
