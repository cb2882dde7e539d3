/** The series of segments that may be read: those of a feed's present state. */
import type { FeedName, ViewName } from '@property-events/protocol'
import type { FeedKey, Head } from '../storage/storage.ts'
import type { SeriesWatcher } from './segment-index.ts'

export interface FeedSeries extends SeriesWatcher {
  /** The series of a view of the feed, in the state that `head` has. */
  of(key: FeedKey, head: Head, view: ViewName): string
}

interface State {
  readonly epoch: string
  readonly revision: number
  readonly series: Map<ViewName, string>
  /** There are also segments of another state of the feed. */
  isMixed: boolean
}

/**
 * `onOtherState`: a feed is read, and there are, or may be, segments of another state of it. Segments of an earlier
 * epoch or revision must not be served, nor stay on disk (D13, D17), so all of them are to be removed.
 */
export function createFeedSeries(onOtherState: () => void): FeedSeries {
  /** The state in which a feed was last read or, if it was not read yet, the state of its segments. */
  const states: Readonly<Record<FeedName, Map<string, State>>> = { property: new Map(), contact: new Map() }

  function stateOf({ tenantId, feed }: FeedKey, head: Head): State {
    const known = states[feed].get(tenantId)
    if (known !== undefined && isOf(known, head) && !known.isMixed) return known
    if (known !== undefined) onOtherState()
    const { epoch, revision } = head
    const state = { epoch, revision, series: new Map(), isMixed: false }
    states[feed].set(tenantId, state)
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
    added(name) {
      const state = stateOfName(name)
      if (state === undefined) return
      const known = states[state.feed].get(state.tenantId)
      if (known === undefined) states[state.feed].set(state.tenantId, state)
      else if (!isOf(known, state)) known.isMixed = true
    },
    cleared() {
      states.property.clear()
      states.contact.clear()
    },
  }
}

function isOf(state: State, { epoch, revision }: Pick<Head, 'epoch' | 'revision'>): boolean {
  return state.epoch === epoch && state.revision === revision
}

const seriesName = /^(\S+)\/(property|contact) (\S+)\/(\d+) \S+$/

function stateOfName(name: string): (State & FeedKey) | undefined {
  const [, tenantId, feed, epoch, revision] = seriesName.exec(name) ?? []
  if (tenantId === undefined || epoch === undefined || (feed !== 'property' && feed !== 'contact'))
    return undefined
  return { tenantId, feed, epoch, revision: Number(revision), series: new Map(), isMixed: false }
}
