/** The endpoints of an agency, and one of them. */
import { useState } from 'preact/hooks'
import { paths } from '../../base.ts'
import type { FeedName } from '../../base.ts'
import type { Webhook } from '@property-events/protocol/wire'
import { Age } from '../../parts/age.tsx'
import { Answer, Empty } from '../../parts/answer.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import { hrefOf } from '../../root.ts'
import { adminListWebhooks, listWebhooks } from '../../service/operations/webhooks.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { hasScope, mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { countText } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import type { ViewProps } from '../view.ts'
import { CreateDialog } from './create-dialog.tsx'
import { webhookName } from './webhook-line.ts'
import { sentWords, State } from './webhook-parts.tsx'
import { WebhookDetails } from './webhook-view.tsx'
import '../records.css'

const askAgainMs = 5_000

export function WebhooksView({ parts: { tenantId = '', webhookId }, query }: ViewProps) {
  const { key } = signedIn()
  const isAdmin = mayAdminister(key, 'admin:inspect', tenantId)
  const list = isAdmin ? adminListWebhooks(tenantId) : listWebhooks(tenantId)
  const webhooks = useAnswer(list, { everyMs: askAgainMs })
  const [isMaking, setMaking] = useState(false)
  const feeds = (['property', 'contact'] as const).filter((feed) => mayMake(tenantId, feed))
  const make = feeds.length === 0 ? undefined : () => setMaking(true)
  return (
    <article class="webhooks">
      <Answer of={webhooks} what="the webhooks">
        {({ items }) => {
          const one = items.find(({ id }) => id === webhookId)
          if (one !== undefined) {
            return <WebhookDetails webhook={one} subject={query['subject']} askAgain={webhooks.askAgain} />
          }
          return webhookId === undefined ? (
            <List items={items} make={make} />
          ) : (
            <Empty title="There is no such endpoint." isView>
              <a href={hrefOf(paths.webhooks(tenantId))}>All endpoints</a>
            </Empty>
          )
        }}
      </Answer>
      {isMaking && (
        <CreateDialog
          tenantId={tenantId}
          feeds={feeds}
          onClose={() => {
            setMaking(false)
            webhooks.askAgain()
          }}
        />
      )}
    </article>
  )
}

/** Whoever makes an endpoint has to read the feed. */
function mayMake(tenantId: string, feed: FeedName): boolean {
  const { key } = signedIn()
  return (['webhooks', 'read'] as const).every((scope) => hasScope(key, `${feed}:${scope}`, tenantId))
}

interface ListProps {
  readonly items: readonly Webhook[]
  /** `undefined`: the session may not. */
  readonly make: (() => void) | undefined
}

function List({ items, make }: ListProps) {
  return (
    <>
      <header>
        <h1>Webhooks</h1>
        {make !== undefined && (
          <button type="button" class="main" onClick={make}>
            Create an endpoint
          </button>
        )}
      </header>
      {items.length === 0 ? (
        <Empty title="No endpoints yet.">
          {make === undefined && (
            <p>A key that reads a feed and has its webhooks scope creates them: sign in with it.</p>
          )}
        </Empty>
      ) : (
        <Table caption="Endpoints" columns={columns} rows={items} keyOf={({ id }) => id} />
      )}
    </>
  )
}

const columns: readonly Column<Webhook>[] = [
  {
    name: 'Endpoint',
    isName: true,
    cell: (one) => <a href={hrefOf(paths.webhook(one.tenantId, one.id))}>{webhookName(one)}</a>,
  },
  { name: 'Address', cell: ({ url }) => <code>{oneLine(url.replace('https://', ''), 80)}</code> },
  { name: 'Sends', cell: sentWords },
  { name: 'State', cell: (one) => <State of={one} /> },
  {
    name: 'Acknowledged',
    isNumber: true,
    cell: ({ cursor: { acknowledged, acknowledgedAt } }) =>
      acknowledged === null ? (
        '–'
      ) : (
        <>
          {countText(acknowledged)}, <Age at={acknowledgedAt} />
        </>
      ),
  },
  { name: 'Waiting', isNumber: true, cell: ({ waiting }) => countText(waiting) },
  { name: 'Given up', isNumber: true, cell: ({ givenUp }) => countText(givenUp) },
]
