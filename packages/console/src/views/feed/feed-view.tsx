/** A feed: the list of all its events, oldest first, and one of them beside it. */
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { isFeedName, paths } from '../../base.ts'
import type { FeedName, Query } from '../../base.ts'
import { createListState } from '../../list/list-state.ts'
import type { ListState } from '../../list/list-state.ts'
import { rowOfNumber } from '../../list/jumps.ts'
import { followFeed } from '../../live/follow-feed.ts'
import { Copy } from '../../parts/copy.tsx'
import { Empty, Problem, Waiting } from '../../parts/answer.tsx'
import { hrefOf } from '../../root.ts'
import { call } from '../../service/call.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import type { Failure } from '../../service/failure.ts'
import { feedDoor } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { readCount } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { apiEventTypeOf, readCategory, readType } from './categories.ts'
import { EventDetails } from './event-details.tsx'
import { FeedBar } from './feed-bar.tsx'
import { FeedList } from './feed-list.tsx'
import { createFeedSource } from './feed-source.ts'
import type { FeedSource } from './feed-source.ts'
import { createTypedSource } from './typed-source.ts'
import './feed.css'

export function FeedView({ parts, query }: ViewProps) {
  const { tenantId = '', feed } = parts
  const door = isFeedName(feed) ? feedDoor(signedIn().key, tenantId, feed) : undefined
  if (!isFeedName(feed) || door === undefined) return null
  const narrowed = `${readCategory(query['category'])} ${readType(feed, query['type'])}`
  return <Feed key={`${tenantId} ${feed} ${narrowed}`} address={{ tenantId, feed, door }} query={query} />
}

interface FeedProps {
  readonly address: FeedAddress
  readonly query: ViewProps['query']
}

function Feed({ address, query }: FeedProps) {
  const { tenantId, feed } = address
  const category = readCategory(query['category'])
  const type = readType(feed, query['type'])
  const number = readCount(query['number'] ?? '')
  const apiEventType = apiEventTypeOf(feed, category)
  const [failure, setFailure] = useState<Failure>()
  const { route } = useLocation()
  const typed = useMemo(
    () => (type === undefined ? undefined : createTypedSource(address, apiEventType, type)),
    [],
  )
  const source = useMemo<FeedSource>(() => typed ?? createFeedSource(address, apiEventType), [])
  const list = useMemo(() => createListState(), [])
  useFollowing(address, source)
  useFirstPosition({
    address,
    apiEventType,
    number: typed === undefined ? number : undefined,
    source,
    list,
    onFailure: setFailure,
  })
  const total = source.total.value

  function change(changes: Query): void {
    route(hrefOf(paths.feed(tenantId, feed, { category, type, number, ...changes })), true)
  }

  const shownFailure = failure ?? source.failure.value
  if (total === undefined && shownFailure !== undefined) return <Problem failure={shownFailure} />
  if (total === undefined) return <Waiting what="the events" />
  if (total === 0 && category === undefined && type === undefined) return <EmptyFeed feed={feed} />
  return (
    <div class="feed">
      <h1 class="unseen">{feed === 'property' ? 'Property events' : 'Contact events'}</h1>
      {shownFailure !== undefined && <Problem failure={shownFailure} />}
      <FeedBar
        address={address}
        category={category}
        list={list}
        total={total}
        type={type}
        typed={typed}
        onNarrow={(chosen) => change({ ...chosen, number: undefined })}
        onFailure={setFailure}
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
            address={address}
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
        Search further
      </button>
    </p>
  )
}

/** New publications appear as long as the view exists. */
function useFollowing(address: FeedAddress, source: FeedSource): void {
  useEffect(() => {
    const controller = new AbortController()
    source.want({ first: 0, last: 0 })
    const watch = { onMove: () => source.refresh(), onChange: () => source.forget() }
    followFeed(address, watch, controller.signal)
    return () => {
      controller.abort()
      source.close()
    }
  }, [])
}

interface FirstPosition {
  readonly address: FeedAddress
  readonly apiEventType: string | undefined
  /** For the event that the address names. */
  readonly number: number | undefined
  readonly source: FeedSource
  readonly list: ListState
  readonly onFailure: (failure: Failure) => void
}

/** The list begins at the event that the address names, or else at the newest. */
function useFirstPosition({ address, apiEventType, number, source, list, onFailure }: FirstPosition): void {
  const isHere = source.total.value !== undefined
  useEffect(() => {
    if (!isHere) return
    const count = source.total.peek() ?? 0
    if (number === undefined) list.follow(count)
    else void goToNumber(number)
    async function goToNumber(at: number): Promise<void> {
      const jump = await rowOfNumber((operation) => call(operation), address, apiEventType, at)
      const now = source.total.peek() ?? count
      if (jump === undefined) return
      if ('failure' in jump) onFailure(jump.failure)
      else list.goTo(now, Math.max(0, Math.min(jump.row, now - 1)))
    }
  }, [isHere])
}

/** An empty feed, and how to publish the first event into it. */
function EmptyFeed({ feed }: { readonly feed: FeedName }) {
  const text = firstEvent(signedIn().serviceUrl, feed)
  return (
    <Empty title="No events in this feed yet.">
      <p>
        Publish the first event with a key that has the scope <code>{feed}:publish</code>. It appears here at
        once.
      </p>
      <pre>{text}</pre>
      <p>
        <Copy text={text} name="Copy the request" />
      </p>
    </Empty>
  )
}

function firstEvent(serviceUrl: string, feed: FeedName): string {
  const payload =
    feed === 'property'
      ? '{"agent_ref":"0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10","published":true,"price_information":{"price":450000}}'
      : '{"contact_ref":"0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a11","last_name":"Example"}'
  return `curl -X POST -H "x-api-key: $PROPERTY_EVENTS_KEY" -H 'content-type: application/json' \\
  -d '{"payload":${payload}}' \\
  '${serviceUrl}/v1/${feed}-events'`
}
