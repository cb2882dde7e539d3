/** The series of segments that may be read: those of a feed's present state. */
import { feedNames } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { Representation } from '../../representation/representation.ts'
import { payloadState } from '../../../events/append/reduced-event.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { FeedView } from '../../../events/branches/branch-view.ts'
import type { Head } from '../../../events/event-log.ts'
import { seriesPrefix } from './segment-id.ts'
import type { SeriesWatcher } from './segment-index.ts'

interface FeedSeries extends SeriesWatcher {
  /** The series of a view of the feed in the state that `head` has, as it is stored or in another form. */
  of(key: FeedKey, head: Head, view: FeedView, form?: Representation): string
  /** Forgets the feed, as if it had never been read. */
  forget(key: FeedKey): void
  /** Whether segments exist of another state of the feed than that of `head`. */
  isOther(key: FeedKey, head: Head): boolean
  /** The feeds that were read or have segments. */
  feeds(): readonly FeedKey[]
}

interface State {
  readonly epoch: string
  readonly revision: number
  readonly thinned: number
  /** By the end of their names. */
  readonly series: Map<string, string>
  /** Segments of another state of the feed exist as well. */
  isMixed: boolean
}

/**
 * `onOtherState` is called when a feed is read and segments of another state of it exist, or may exist. Segments of an earlier epoch, or
 * with payloads that are gone, must be neither served nor left on disk (D13, D17), so those of this feed have to be removed.
 */
export function createFeedSeries(onOtherState: (key: FeedKey) => void): FeedSeries {
  /** The state in which a feed was last read. If it has not been read yet, it is the state of its segments. */
  const states: Readonly<Record<FeedName, Map<string, State>>> = { property: new Map(), contact: new Map() }

  function stateOf(key: FeedKey, head: Head): State {
    const { tenantId, feed } = key
    const known = states[feed].get(tenantId)
    if (known !== undefined && isOf(known, head) && !known.isMixed) return known
    if (known !== undefined) onOtherState(key)
    const { epoch, revision, thinned } = head
    const state = { epoch, revision, thinned, series: new Map(), isMixed: false }
    states[feed].set(tenantId, state)
    return state
  }

  return {
    of(key, head, view, form) {
      const { series, epoch } = stateOf(key, head)
      const end = form === undefined ? view : `${view}~${form.name}`
      const known = series.get(end)
      if (known !== undefined) return known
      const name = `${seriesPrefix(key)}${epoch}/${payloadState(head)} ${end}`
      series.set(end, name)
      return name
    },
    added(name) {
      const state = stateOfName(name)
      if (state === undefined) return
      const known = states[state.feed].get(state.tenantId)
      if (known === undefined) states[state.feed].set(state.tenantId, state)
      else if (!isOf(known, state)) known.isMixed = true
    },
    forget({ tenantId, feed }) {
      states[feed].delete(tenantId)
    },
    isOther({ tenantId, feed }, head) {
      const known = states[feed].get(tenantId)
      return known !== undefined && (known.isMixed || !isOf(known, head))
    },
    feeds: () =>
      feedNames.flatMap((feed) => [...states[feed].keys()].map((tenantId) => ({ tenantId, feed }))),
    cleared() {
      states.property.clear()
      states.contact.clear()
    },
  }
}

function isOf(
  state: State,
  { epoch, revision, thinned }: Pick<Head, 'epoch' | 'revision' | 'thinned'>,
): boolean {
  return state.epoch === epoch && state.revision === revision && state.thinned === thinned
}

const seriesName = /^(\S+)\/(property|contact) (\S+)\/(\d+)(?:\.(\d+))? \S+$/

function stateOfName(name: string): (State & FeedKey) | undefined {
  const [, tenantId, feed, epoch, revision, thinned = '0'] = seriesName.exec(name) ?? []
  if (tenantId === undefined || epoch === undefined) return undefined
  if (feed !== 'property' && feed !== 'contact') return undefined
  const counters = { revision: Number(revision), thinned: Number(thinned) }
  return { tenantId, feed, epoch, ...counters, series: new Map(), isMixed: false }
}

/** Forgets every feed that has segments of another state. */
export async function forgetOthers(
  feedSeries: FeedSeries,
  headOf: (key: FeedKey) => Promise<Head | undefined>,
  forget: (key: FeedKey) => Promise<void>,
): Promise<void> {
  for (const key of feedSeries.feeds()) {
    const head = await headOf(key)
    if (head !== undefined && feedSeries.isOther(key, head)) await forget(key)
  }
}
