/** The series of segments that may be read: those of a feed's present state. */
import type { FeedName, ViewName } from '@property-events/protocol'
import type { FeedKey, Head } from '../storage/storage.ts'

export interface FeedSeries {
  /** Of a view of the feed, whose state is that of `head`. */
  of(key: FeedKey, head: Head, view: ViewName): string
}

interface State {
  readonly epoch: string
  readonly revision: number
  readonly series: Map<ViewName, string>
}

/**
 * `names`: of the series there are segments of. `onOtherState`: a feed is in another state than its segments are of; those of an
 * earlier epoch or revision must not be served, nor stay on disk (D13, D17).
 */
export function createFeedSeries(names: readonly string[], onOtherState: () => void): FeedSeries {
  const states: Readonly<Record<FeedName, Map<string, State>>> = { property: new Map(), contact: new Map() }
  for (const name of names) {
    const state = stateOfName(name)
    if (state !== undefined) states[state.feed].set(state.tenantId, state)
  }

  function stateOf({ tenantId, feed }: FeedKey, { epoch, revision }: Head): State {
    const known = states[feed].get(tenantId)
    if (known !== undefined && known.epoch === epoch && known.revision === revision) return known
    const state = { epoch, revision, series: new Map() }
    states[feed].set(tenantId, state)
    if (known !== undefined) onOtherState()
    return state
  }

  return {
    of(key, head, view) {
      const { series, epoch, revision } = stateOf(key, head)
      const known = series.get(view)
      if (known !== undefined) return known
      const name = `${key.tenantId}/${key.feed} ${epoch}/${revision} ${view}`
      series.set(view, name)
      return name
    },
  }
}

const seriesName = /^(\S+)\/(property|contact) (\S+)\/(\d+) \S+$/

function stateOfName(name: string): (State & FeedKey) | undefined {
  const [, tenantId, feed, epoch, revision] = seriesName.exec(name) ?? []
  if (tenantId === undefined || epoch === undefined || (feed !== 'property' && feed !== 'contact'))
    return undefined
  return { tenantId, feed, epoch, revision: Number(revision), series: new Map() }
}
