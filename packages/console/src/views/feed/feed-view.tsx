/** A feed: the list of all its events, oldest first, and one of them beside it. */
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { isFeedName, places } from '../../base.ts'
import type { Query } from '../../base.ts'
import { createListState } from '../../list/list-state.ts'
import type { ListState } from '../../list/list-state.ts'
import { rowOfNumber } from '../../list/jumps.ts'
import { followFeed } from '../../live/follow-feed.ts'
import { Waiting } from '../../parts/empty.tsx'
import { Problem } from '../../parts/problem.tsx'
import { hrefOf } from '../../root.ts'
import { call } from '../../service/call.ts'
import type { FeedPlace } from '../../service/operations/feeds.ts'
import type { Trouble } from '../../service/trouble.ts'
import { feedDoor } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { readCount } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { apiEventTypeOf, readCategory, readType } from './categories.ts'
import { EventDetails } from './event-details.tsx'
import { EmptyFeed } from './empty-feed.tsx'
import { FeedBar } from './feed-bar.tsx'
import { FeedList } from './feed-list.tsx'
import { createFeedSource } from './feed-source.ts'
import type { FeedSource } from './source.ts'
import { createTypedSource } from './typed-source.ts'
import './feed.css'

export function FeedView({ parts, query }: ViewProps) {
  const { tenantId = '', feed } = parts
  const door = isFeedName(feed) ? feedDoor(signedIn().key, tenantId, feed) : undefined
  if (!isFeedName(feed) || door === undefined) return null
  const narrowed = `${readCategory(query['category'])} ${readType(feed, query['type'])}`
  return <Feed key={`${tenantId} ${feed} ${narrowed}`} place={{ tenantId, feed, door }} query={query} />
}

interface FeedProps {
  readonly place: FeedPlace
  readonly query: ViewProps['query']
}

function Feed({ place, query }: FeedProps) {
  const { tenantId, feed } = place
  const category = readCategory(query['category'])
  const type = readType(feed, query['type'])
  const number = readCount(query['number'] ?? '')
  const apiEventType = apiEventTypeOf(feed, category)
  const [trouble, setTrouble] = useState<Trouble>()
  const { route } = useLocation()
  const typed = useMemo(
    () => (type === undefined ? undefined : createTypedSource(place, apiEventType, type)),
    [],
  )
  const source = useMemo<FeedSource>(() => typed ?? createFeedSource(place, apiEventType), [])
  const list = useMemo(() => createListState(), [])
  useFollowing(place, source)
  useFirstStand({
    place,
    apiEventType,
    number: typed === undefined ? number : undefined,
    source,
    list,
    onTrouble: setTrouble,
  })
  const total = source.total.value

  function change(changes: Query): void {
    route(hrefOf(places.feed(tenantId, feed, { category, type, number, ...changes })), true)
  }

  const shownTrouble = trouble ?? source.trouble.value
  if (total === undefined && shownTrouble !== undefined) return <Problem trouble={shownTrouble} />
  if (total === undefined) return <Waiting what="the events" />
  if (total === 0 && category === undefined && type === undefined) return <EmptyFeed feed={feed} />
  return (
    <div class="feed">
      <h1 class="unseen">{feed === 'property' ? 'Property events' : 'Contact events'}</h1>
      {shownTrouble !== undefined && <Problem trouble={shownTrouble} />}
      <FeedBar
        place={place}
        category={category}
        list={list}
        total={total}
        type={type}
        typed={typed}
        onNarrow={(chosen) => change({ ...chosen, number: undefined })}
        onTrouble={setTrouble}
      />
      <Reach source={source} total={total} />
      <div class={`beside ${number === undefined ? '' : 'open'}`}>
        <FeedList
          feed={feed}
          source={source}
          list={list}
          total={total}
          chosen={number}
          onChoose={(event) => change({ number: event.sequenceNumber })}
        />
        {number !== undefined && (
          <EventDetails
            key={number}
            place={place}
            number={number}
            onClose={() => change({ number: undefined })}
          />
        )}
      </div>
    </div>
  )
}

/** How much of the feed was searched for events of one type. */
function Reach({ source, total }: { readonly source: FeedSource; readonly total: number }) {
  const { value } = source.reach
  if (value === undefined) return null
  return (
    <p class="reach">
      {value}{' '}
      <button type="button" onClick={() => source.want({ first: 0, last: total })}>
        Look further
      </button>
    </p>
  )
}

/** New publications appear as long as the view exists. */
function useFollowing(place: FeedPlace, source: FeedSource): void {
  useEffect(() => {
    const controller = new AbortController()
    source.want({ first: 0, last: 0 })
    const watch = { onMove: () => source.refresh(), onChange: () => source.forget() }
    followFeed(place, watch, controller.signal)
    return () => {
      controller.abort()
      source.close()
    }
  }, [])
}

interface FirstStand {
  readonly place: FeedPlace
  readonly apiEventType: string | undefined
  /** For the event that the address names. */
  readonly number: number | undefined
  readonly source: FeedSource
  readonly list: ListState
  readonly onTrouble: (trouble: Trouble) => void
}

/** The list begins at the event that the address names, or else at the newest. */
function useFirstStand({ place, apiEventType, number, source, list, onTrouble }: FirstStand): void {
  const isHere = source.total.value !== undefined
  useEffect(() => {
    if (!isHere) return
    const count = source.total.peek() ?? 0
    if (number === undefined) list.follow(count)
    else void stand(number)
    async function stand(at: number): Promise<void> {
      const jump = await rowOfNumber((operation) => call(operation), place, apiEventType, at)
      const now = source.total.peek() ?? count
      if (jump === undefined) return
      if ('trouble' in jump) onTrouble(jump.trouble)
      else list.goTo(now, Math.max(0, Math.min(jump.row, now - 1)))
    }
  }, [isHere])
}
