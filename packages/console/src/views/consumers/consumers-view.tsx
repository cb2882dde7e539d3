/** Who reads the feeds of an agency, and how far each is behind. */
import { useLocation } from 'preact-iso/router'
import { isFeedName, paths } from '../../base.ts'
import { Answer, Empty } from '../../parts/answer.tsx'
import { Age } from '../../parts/age.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { hrefOf } from '../../root.ts'
import { listConsumers } from '../../service/operations/tenants.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { countText } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import type { ViewProps } from '../view.ts'
import { consumerLines, lagWords, liveAfterWords, notLiveWords } from './consumer-line.ts'
import type { ConsumerLine } from './consumer-line.ts'
import '../records.css'

/** The store receives the notes of what they were sent twice a minute. */
const askAgainMs = 10_000

export function ConsumersView({ parts: { tenantId = '' }, query }: ViewProps) {
  const { route } = useLocation()
  const feed = isFeedName(query['feed']) ? query['feed'] : 'property'
  const consumers = useAnswer(listConsumers(tenantId, feed), { everyMs: askAgainMs })
  return (
    <article class="consumers">
      <header>
        <h1>Consumers</h1>
        <label>
          Feed{' '}
          <select
            value={feed}
            onChange={({ currentTarget }) =>
              route(hrefOf(paths.consumers(tenantId, { feed: currentTarget.value })), true)
            }
          >
            <option value="property">Properties</option>
            <option value="contact">Contacts</option>
          </select>
        </label>
      </header>
      <Answer of={consumers} what="the consumers">
        {({ items }) =>
          items.length === 0 ? (
            <NoReader tenantId={tenantId} />
          ) : (
            <Table
              caption="Consumers"
              columns={columns}
              rows={consumerLines(items, now.value)}
              keyOf={({ consumer }) => `${consumer.keyId} ${consumer.name}`}
              isTarget={({ consumer }) => consumer.keyId === query['key']}
            />
          )
        }
      </Answer>
    </article>
  )
}

const columns: readonly Column<ConsumerLine>[] = [
  { name: 'Consumer', isName: true, cell: ({ who }) => who },
  {
    name: 'Reads',
    cell: ({ consumer }) => consumer.views.map(({ view }) => view).join(', ') || '–',
  },
  { name: 'Behind by', isNumber: true, cell: ({ lag }) => lagWords(lag) },
  {
    name: 'Last request',
    isShort: true,
    cell: ({ consumer }) => <Age at={consumer.lastAskedAt} />,
  },
  {
    name: 'Last response',
    isWide: true,
    cell: ({ consumer: { lastRoute, lastStatus } }) =>
      lastRoute === null ? '–' : `${routeWords(lastRoute)}, status ${lastStatus ?? '–'}`,
  },
  {
    name: 'Acknowledged',
    isNumber: true,
    isWide: true,
    cell: ({ consumer: { acknowledged } }) =>
      acknowledged === null ? 'not reported' : countText(acknowledged.sequenceNumber),
  },
  {
    name: 'Live after',
    isWide: true,
    cell: ({ consumer }) => liveAfterWords(consumer),
  },
  {
    name: 'Not live',
    isShort: true,
    cell: ({ consumer }) => notLiveWords(consumer, now.value),
  },
  {
    name: 'State',
    cell: ({ mark, state }) => <span class={`mark-${mark}`}>{state}</span>,
  },
]

const routes: Readonly<Record<string, string>> = { wait: 'long poll', run: 'events', heads: 'heads' }

/** A route that this page does not know is shown unchanged (PROTOCOL §9). */
function routeWords(route: string): string {
  return routes[route] ?? oneLine(route, 40)
}

function NoReader({ tenantId }: { readonly tenantId: string }) {
  return (
    <Empty title="No key can read this feed.">
      {mayAdminister(signedIn().key, 'admin:manage', tenantId) && (
        <p>
          <ViewLink path={paths.keys(tenantId)}>Issue a key</ViewLink> that reads it, and give it to the site.
        </p>
      )}
    </Empty>
  )
}
