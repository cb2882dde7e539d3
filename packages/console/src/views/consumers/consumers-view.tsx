/** Who reads the feeds of an agency, and what each lacks. */
import { useLocation } from 'preact-iso/router'
import { isFeedName, places } from '../../base.ts'
import { Answer } from '../../parts/answer.tsx'
import { Age } from '../../parts/age.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Table } from '../../parts/table.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { hrefOf } from '../../root.ts'
import { listConsumers } from '../../service/operations/tenants.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { countText } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { consumerLines, lagWords } from './consumer-line.ts'
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
          of the feed of{' '}
          <select
            value={feed}
            onChange={({ currentTarget }) =>
              route(hrefOf(places.consumers(tenantId, { feed: currentTarget.value })), true)
            }
          >
            <option value="property">properties</option>
            <option value="contact">contacts</option>
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
              columns={[
                { name: 'Consumer', isName: true, cell: ({ who }) => who },
                {
                  name: 'Reads',
                  cell: ({ consumer }) => consumer.views.map(({ view }) => view).join(', ') || '–',
                },
                { name: 'Lacks', isNumber: true, cell: ({ lag }) => lagWords(lag) },
                { name: 'Last asked', cell: ({ consumer }) => <Age at={consumer.lastAskedAt} /> },
                {
                  name: 'How',
                  isWide: true,
                  cell: ({ consumer: { lastRoute, lastStatus } }) =>
                    lastRoute === null ? '–' : `${lastRoute}, ${lastStatus ?? '–'}`,
                },
                {
                  name: 'Applied',
                  isNumber: true,
                  isWide: true,
                  cell: ({ consumer: { acknowledged } }) =>
                    acknowledged === null ? 'does not say' : countText(acknowledged.sequenceNumber),
                },
                {
                  name: 'State',
                  cell: ({ mark, state }) => <span class={`mark-${mark}`}>{state}</span>,
                },
              ]}
              rows={consumerLines(items, now.value)}
              keyOf={({ consumer }) => `${consumer.keyId} ${consumer.name}`}
              isSought={({ consumer }) => consumer.keyId === query['key']}
            />
          )
        }
      </Answer>
    </article>
  )
}

function NoReader({ tenantId }: { readonly tenantId: string }) {
  return (
    <Empty title="No key may read this feed.">
      {mayAdminister(signedIn().key, 'admin:manage', tenantId) && (
        <p>
          <PlaceLink place={places.keys(tenantId)}>Issue a key</PlaceLink> that may, and give it to the site.
        </p>
      )}
    </Empty>
  )
}
