/** A property: the answer on top, then what it is and what became of it. It takes two requests: its delivery and its history. */
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { paths } from '../../base.ts'
import { Empty, Problem, Waiting } from '../../parts/answer.tsx'
import { Chart } from '../../parts/chart.tsx'
import { NumberTiles } from '../../parts/number-tiles.tsx'
import { hrefOf, serviceBase } from '../../root.ts'
import { getPropertyConsumers, getPropertyDelivery } from '../../service/operations/feeds.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { feedDoor, mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { counted, countText, readCount } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { mediaTiles, pictureOf } from './media-tiles.ts'
import type { MediaTile, MediaTiles, PictureRules } from './media-tiles.ts'
import { priceChart, priceSteps } from './price-steps.ts'
import type { PriceStep } from './price-steps.ts'
import type { Version } from './read-version.ts'
import { summaryOf } from './summary.ts'
import { readVersions, timelineOf } from './timeline.ts'
import { TimelineList } from './timeline-list.tsx'
import { useHistory } from './use-history.ts'
import './property.css'

/** The store receives the notes of deliveries twice a minute. */
const askAgainMs = 15_000

export function PropertyView({ parts: { tenantId = '', agentRef = '' }, query }: ViewProps) {
  const { key } = signedIn()
  const isAdmin = mayAdminister(key, 'admin:inspect', tenantId)
  const door = feedDoor(key, tenantId, 'property') ?? 'own'
  const ask = isAdmin ? getPropertyDelivery : getPropertyConsumers
  const delivery = useAnswer(ask(tenantId, agentRef), { everyMs: askAgainMs })
  const wanted = delivery.value?.event.sequenceNumber ?? 0
  const history = useHistory({ tenantId, feed: 'property', door }, agentRef, wanted)
  const versions = useMemo(() => readVersions(history.events), [history.events])
  if (versions.length === 0) {
    const failure = history.failure ?? delivery.failure
    return (
      <article class="property">
        <h1>Property</h1>
        {failure === undefined ? (
          <NoVersion isWhole={history.isWhole} />
        ) : (
          <Problem failure={failure} again={history.askAgain} />
        )}
      </article>
    )
  }
  const category = delivery.value?.event.category ?? null
  return (
    <article class="property">
      <Head versions={versions} agentRef={agentRef} category={category} tenantId={tenantId} />
      <AnswerPanel delivery={delivery} />
      {history.failure !== undefined && <Problem failure={history.failure} again={history.askAgain} />}
      <Facts versions={versions} />
      <Timeline versions={versions} query={query} isWhole={history.isWhole} />
    </article>
  )
}

function NoVersion({ isWhole }: { readonly isWhole: boolean }) {
  return isWhole ? (
    <Empty title="No events of this property." />
  ) : (
    <Waiting what="the history of the property" />
  )
}

interface HeadProps {
  readonly versions: readonly Version[]
  readonly agentRef: string
  readonly category: string | null
  readonly tenantId: string
}

function Head({ versions, agentRef, category, tenantId }: HeadProps) {
  const { address, price, status, presence } = summaryOf(versions, agentRef, now.value)
  const listed = category ?? versions.findLast(({ listing }) => listing !== undefined)?.listing?.category
  const last = versions.at(-1)?.event.sequenceNumber
  return (
    <header>
      <h1>{address}</h1>
      <p class="quiet">
        <code>{agentRef}</code>{' '}
        <a href={hrefOf(paths.feed(tenantId, 'property', { number: last }))}>View in the feed</a>
      </p>
      <NumberTiles
        tiles={[
          { name: 'Price', value: price ?? '–' },
          { name: 'Status', value: status ?? '–' },
          { name: 'Category', value: listed ?? '–' },
          { name: 'Market', value: presence },
          { name: 'Events', value: countText(versions.length) },
        ]}
      />
    </header>
  )
}

function Facts({ versions }: { readonly versions: readonly Version[] }) {
  const { images, serviceUrl } = signedIn()
  const steps = useMemo(() => priceSteps(versions), [versions])
  const tiles = useMemo(() => mediaTiles(versions), [versions])
  const { statuses } = summaryOf(versions, '', now.value)
  return (
    <div class="history">
      <section>
        <h2>Price</h2>
        <Prices steps={steps} />
        {statuses.length > 0 && <p>{statuses.join(' ▸ ')}</p>}
      </section>
      <section>
        <h2>Photographs</h2>
        <MediaStrip of={tiles} rules={{ ...images, serviceUrl, serviceBase }} />
      </section>
    </div>
  )
}

function Prices({ steps }: { readonly steps: readonly PriceStep[] }) {
  // The line grows by the minute, so that it is not redrawn every second.
  const chart = priceChart(steps, Math.ceil(now.value / 60_000) * 60_000)
  if (chart === undefined) return <p class="quiet">No version has a price.</p>
  const { points, times, words } = chart
  return (
    <>
      <Chart
        kind="steps"
        points={points}
        times={times}
        words={`Prices: ${words}`}
        textOf={(pounds) => `£${countText(pounds)}`}
      />
      <p class="quiet">{words}</p>
    </>
  )
}

interface TimelineProps {
  readonly versions: readonly Version[]
  readonly query: ViewProps['query']
  readonly isWhole: boolean
}

function Timeline({ versions, query, isWhole }: TimelineProps) {
  const { path, route } = useLocation()
  const isOnlyChanges = query['only'] === 'changes'
  const raw = query['raw'] === undefined ? undefined : readCount(query['raw'])
  const lines = useMemo(() => timelineOf(versions), [versions])
  const shown = isOnlyChanges ? lines.filter((line) => !line.isUnchanged) : lines
  const hidden = lines.length - shown.length
  const address = (only: boolean, number: number | undefined): string => {
    const parameters = [...(only ? ['only=changes'] : []), ...(number === undefined ? [] : [`raw=${number}`])]
    return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
  }
  return (
    <section>
      <header class="timeline-head">
        <h2>Timeline</h2>
        <label>
          <input
            type="checkbox"
            checked={isOnlyChanges}
            onChange={({ currentTarget }) => route(address(currentTarget.checked, raw), true)}
          />{' '}
          Only changes
        </label>
        <span class="quiet">
          {counted(lines.length, 'event')}
          {hidden > 0 && `, ${hidden} of them without a change`}
          {!isWhole && ', more are being read …'}
        </span>
      </header>
      <TimelineList lines={shown} raw={raw} rawHref={(number) => address(isOnlyChanges, number)} />
    </section>
  )
}

interface MediaStripProps {
  readonly of: MediaTiles
  readonly rules: PictureRules
}

/** Photographs and other media as numbered tiles, with what became of each. */
function MediaStrip({ of: { tiles, more }, rules }: MediaStripProps) {
  if (tiles.length === 0) return <p class="quiet">No photographs and no other media.</p>
  return (
    <>
      <ol class="tiles">
        {tiles.map((tile) => (
          <Tile key={`${tile.mark ?? ''} ${tile.item.name}`} tile={tile} rules={rules} />
        ))}
      </ol>
      {more > 0 && <p class="quiet">and {more} more</p>}
    </>
  )
}

function Tile({ tile, rules }: { readonly tile: MediaTile; readonly rules: PictureRules }) {
  const { item, mark } = tile
  const source = item.kind === 'photograph' ? pictureOf(item.url, rules) : undefined
  const words = markWords(tile)
  return (
    <li class={mark ?? 'same'} title={item.caption === '' ? undefined : item.caption}>
      {source === undefined ? (
        <span class="number">{item.kind === 'photograph' ? item.position : item.name}</span>
      ) : (
        <img src={source} alt={item.caption === '' ? item.name : item.caption} loading="lazy" />
      )}
      {words !== undefined && <span class="mark">{words}</span>}
      {item.caption !== '' && <span class="caption">{item.caption}</span>}
    </li>
  )
}

function markWords({ mark, from, item }: MediaTile): string | undefined {
  if (mark === 'moved') return `${item.position} ← ${from ?? '?'}`
  return mark
}
