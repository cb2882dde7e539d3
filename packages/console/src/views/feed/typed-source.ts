/**
 * The events of one type for the list. The contract's list cannot be narrowed to a type, so these are read forward from a number, run by
 * run. The last row says how far.
 */
import type { Rows } from '../../list/scale.ts'
import { call } from '../../service/call.ts'
import { readEvents } from '../../service/operations/feeds.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import { restAfter } from '../../service/failure.ts'
import { createRest, sourceState } from './feed-source.ts'
import type { FeedSource } from './feed-source.ts'
import { addRun, beginRuns, isWhole, startBefore } from './typed-runs.ts'

export interface TypedSource extends FeedSource {
  /** Starts again with the first event of the type that has this number or a greater one. */
  readonly beginAt: (number: number) => void
}

const runLength = 500
/** The most runs at a time: for a rare type, the reader asks for each further step. */
const mostRuns = 10

export function createTypedSource(
  address: FeedAddress,
  apiEventType: string | undefined,
  type: string,
): TypedSource {
  const state = sourceState()
  const rest = createRest()
  let controller = new AbortController()
  let runs = beginRuns(type, undefined)
  let isReading = false
  let isClosed = false

  /** Reads on until there are enough rows, the end is reached, or `mostRuns` are read. */
  async function read(rowsWanted: number): Promise<void> {
    if (isReading || isClosed) return
    isReading = true
    const { signal: ended } = controller
    for (let n = 0; n < mostRuns && !ended.aborted && !(isWhole(runs) && n > 0); n += 1) {
      const after = runs.next ?? 0
      // The end of the feed is unknown before the first answer.
      const limit = runs.next === undefined ? 1 : runLength
      const outcome = await call(readEvents(address, { after, limit, apiEventType, types: type }), {
        signal: ended,
      })
      if (outcome.kind === 'stopped' || ended.aborted) break
      state.failure.value = outcome.kind === 'failure' ? outcome.failure : undefined
      if (outcome.kind === 'failure') rest.after(restAfter(outcome.failure), () => void read(rowsWanted))
      if (outcome.kind !== 'answer') break
      const { value } = outcome
      runs = runs.next === undefined ? beginRuns(type, startBefore(value.head)) : addRun(runs, value)
      show()
      if (runs.items.length >= rowsWanted && n > 0) break
    }
    // Meanwhile another start was requested, whose own reading has begun.
    if (ended === controller.signal) isReading = false
  }

  function show(): void {
    state.total.value = runs.items.length
    state.reach.value = runs.reach
    state.version.value += 1
  }

  function begin(after: number | undefined): void {
    controller.abort()
    controller = new AbortController()
    runs = beginRuns(type, after)
    isReading = false
    show()
    void read(runLength)
  }

  return {
    ...state,
    event: (row) => runs.items[row],
    want({ last }: Rows) {
      if (!isWhole(runs) && last >= runs.items.length - 60) void read(runs.items.length + runLength)
    },
    refresh: () => void read(runs.items.length + 1),
    forget: () => begin(undefined),
    beginAt: (number) => begin(Math.max(0, number - 1)),
    close() {
      isClosed = true
      controller.abort()
      rest.after(undefined, () => undefined)
    },
  }
}
