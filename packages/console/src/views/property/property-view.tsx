/** A property: the answer on top, then what it is and what became of it. It takes two requests: its delivery and its history. */
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { places } from '../../base.ts'
import { Empty, Waiting } from '../../parts/empty.tsx'
import { Problem } from '../../parts/problem.tsx'
import { hrefOf, serviceBase } from '../../root.ts'
import { getPropertyConsumers, getPropertyDelivery } from '../../service/operations/properties.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { feedDoor, mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { counted, readCount } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { MediaStrip } from './media-strip.tsx'
import { mediaTiles } from './media-tiles.ts'
import { PricePicture } from './price-picture.tsx'
import { priceSteps } from './price-steps.ts'
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
    const trouble = history.trouble ?? delivery.trouble
    return (
      <article class="property">
        <h1>Property</h1>
        {trouble === undefined ? (
          <NoVersion isWhole={history.isWhole} />
        ) : (
          <Problem trouble={trouble} again={history.askAgain} />
        )}
      </article>
    )
  }
  const category = delivery.value?.event.category ?? null
  return (
    <article class="property">
      <Head versions={versions} agentRef={agentRef} category={category} tenantId={tenantId} />
      <AnswerPanel asked={delivery} />
      {history.trouble !== undefined && <Problem trouble={history.trouble} again={history.askAgain} />}
      <Facts versions={versions} />
      <Timeline versions={versions} query={query} isWhole={history.isWhole} />
    </article>
  )
}

function NoVersion({ isWhole }: { readonly isWhole: boolean }) {
  return isWhole ? (
    <Empty title="The feed has no event of this property." />
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
  const { address, price, status, standing } = summaryOf(versions, agentRef, now.value)
  const shown = category ?? versions.findLast(({ listing }) => listing !== undefined)?.listing?.category
  const facts = [price, status, shown, standing].filter((text) => text !== undefined)
  const last = versions.at(-1)?.event.sequenceNumber
  return (
    <header>
      <h1>{address}</h1>
      <p class="facts">{facts.join(' · ')}</p>
      <p class="quiet">
        <code>{agentRef}</code>{' '}
        <a href={hrefOf(places.feed(tenantId, 'property', { number: last }))}>in the feed</a>
      </p>
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
        <PricePicture steps={steps} />
        {statuses.length > 0 && <p>{statuses.join(' ▸ ')}</p>}
      </section>
      <section>
        <h2>Photographs</h2>
        <MediaStrip of={tiles} rules={{ ...images, serviceUrl, serviceBase }} />
      </section>
    </div>
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
    const said = [...(only ? ['only=changes'] : []), ...(number === undefined ? [] : [`raw=${number}`])]
    return said.length === 0 ? path : `${path}?${said.join('&')}`
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
          only changes
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
