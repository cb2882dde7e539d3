/** One endpoint: its state and settings, what was tried, what waits, and what can be done. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { paths } from '../../base.ts'
import type { Webhook, WebhookDelivery } from '@property-events/protocol/wire'
import { Age, LocalTime, Moment } from '../../parts/age.tsx'
import { Answer, Empty } from '../../parts/answer.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { hrefOf } from '../../root.ts'
import { adminPauseWebhook, listDeliveries, readWaiting, resend } from '../../service/operations/webhooks.ts'
import { useAction, useAnswer } from '../../service/use-answer.ts'
import { hasScope, mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { countText } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { WebhookDialog } from './webhook-dialogs.tsx'
import type { WebhookAct } from './webhook-dialogs.tsx'
import { answerWords, outcomeOf, waitingLines, webhookName } from './webhook-line.ts'
import type { WaitingLine } from './webhook-line.ts'
import { sentWords, State } from './webhook-parts.tsx'

const askAgainMs = 5_000
const shownDeliveries = 20
/** More than are shown: among them are the last answers to what waits. */
const readTries = 100

interface Props {
  readonly webhook: Webhook
  /** Only the deliveries of this property or contact. */
  readonly subject: string | undefined
  readonly askAgain: () => void
}

export function WebhookDetails({ webhook, subject, askAgain }: Props) {
  const { route } = useLocation()
  const { key } = signedIn()
  const { tenantId, feed } = webhook
  const isOwner = hasScope(key, `${feed}:webhooks`, tenantId)
  const [act, setAct] = useState<WebhookAct>()
  const close = (hasGone: boolean): void => {
    setAct(undefined)
    askAgain()
    if (hasGone) route(hrefOf(paths.webhooks(tenantId)))
  }
  return (
    <>
      <header>
        <h1>{webhookName(webhook)}</h1>
        {isOwner &&
          actsOf(webhook).map(([kind, name]) => (
            <button
              key={kind}
              type="button"
              class={kind === 'delete' ? 'danger' : undefined}
              onClick={() => setAct(kind)}
            >
              {name}
            </button>
          ))}
        {!isOwner && mayAdminister(key, 'admin:manage', tenantId) && (
          <OperatorPause webhook={webhook} askAgain={askAgain} />
        )}
      </header>
      <Settings webhook={webhook} />
      {isOwner ? (
        <Tries webhook={webhook} subject={subject} />
      ) : (
        <p class="quiet">
          A key with {feed}:webhooks sees what was sent and what waits, and can test, move and change it.
        </p>
      )}
      {act !== undefined && <WebhookDialog webhook={webhook} act={act} onClose={close} />}
    </>
  )
}

function actsOf({ state, givenUp }: Webhook): readonly (readonly [act: WebhookAct, name: string])[] {
  return [
    ['test', 'Test'],
    state === 'enabled' ? ['pause', 'Pause'] : ['enable', 'Enable'],
    ['replay', 'Replay'],
    ...(givenUp > 0 ? [['resend', 'Resend given up'] as const] : []),
    ['rotate', 'Rotate secret'],
    ['delete', 'Delete'],
  ]
}

/** Who looks after the agency does nothing else with it. */
function OperatorPause({ webhook, askAgain }: Pick<Props, 'webhook' | 'askAgain'>) {
  const action = useAction<Webhook>()
  const isPaused = signedIn().key.operator ? webhook.reason === 'operator' : webhook.state === 'paused'
  return (
    <>
      <button
        type="button"
        disabled={action.isBusy}
        onClick={() => void action.run(adminPauseWebhook(webhook, !isPaused)).then(askAgain)}
      >
        {isPaused ? 'Release' : 'Pause'}
      </button>
      <ActionFailure action={action} />
    </>
  )
}

function Settings({ webhook }: { readonly webhook: Webhook }) {
  const { url, payload, changes, mode, format, concurrency, maxPerSecond, timeoutSeconds, cursor } = webhook
  const rows = [
    ['State', <State of={webhook} />],
    ['Address', <code>{oneLine(url, 2_048)}</code>],
    ['Sends', `${sentWords(webhook)}, ${payload}${changes ? ' with changes' : ''}, ${mode}, as ${format}`],
    ['Settled through', countText(cursor.settled)],
    [
      'Last acknowledged',
      cursor.acknowledged === null ? (
        'nothing yet'
      ) : (
        <>
          {countText(cursor.acknowledged)}, <Moment at={cursor.acknowledgedAt} />
        </>
      ),
    ],
    [
      'Requests',
      `${concurrency} at once${maxPerSecond === null ? '' : `, ${maxPerSecond} a second`}, ${timeoutSeconds} s for an answer`,
    ],
    ['Key', <ViewLink path={paths.keys(webhook.tenantId, { key: webhook.keyId })}>{webhook.keyId}</ViewLink>],
    ['Created', <Moment at={webhook.createdAt} />],
    [
      'Secrets',
      webhook.secrets.map(({ id, createdAt, endsAt }) => (
        <p key={id}>
          created <Age at={createdAt} />
          {endsAt !== null && (
            <>
              , signs until <LocalTime at={endsAt} />
            </>
          )}
        </p>
      )),
    ],
  ] as const
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Tries({ webhook, subject }: Pick<Props, 'webhook' | 'subject'>) {
  const deliveries = useAnswer(listDeliveries(webhook, readTries, subject), { everyMs: askAgainMs })
  const waits = useAnswer(readWaiting(webhook), { everyMs: askAgainMs })
  const action = useAction<unknown>()
  const linkOf = (reference: string | null) => <Subject webhook={webhook} subject={reference} />
  const resendOne = (number: number): void => void action.run(resend(webhook, number)).then(waits.askAgain)
  return (
    <>
      <h2>Waiting and given up</h2>
      <ActionFailure action={action} />
      <Answer of={waits} what="what waits">
        {({ waiting, givenUp }) => {
          const rows = waitingLines(waiting, givenUp, deliveries.value?.items ?? [])
          return rows.length === 0 ? (
            <p class="quiet">Nothing waits, and nothing was given up.</p>
          ) : (
            <Table
              caption="Waiting and given up"
              columns={waitingColumns(linkOf, resendOne)}
              rows={rows}
              keyOf={({ subject: of, sequenceNumber }) => `${of} ${sequenceNumber}`}
            />
          )
        }}
      </Answer>
      <h2>Last deliveries</h2>
      {subject !== undefined && (
        <p>
          Of {linkOf(subject)} alone.{' '}
          <a href={hrefOf(paths.webhook(webhook.tenantId, webhook.id))}>Show all</a>
        </p>
      )}
      <Answer of={deliveries} what="the deliveries">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing was sent in the last 7 days." />
          ) : (
            <Table
              caption="Last deliveries"
              columns={deliveryColumns(linkOf)}
              rows={items.slice(0, shownDeliveries)}
              keyOf={({ number }) => String(number)}
            />
          )
        }
      </Answer>
    </>
  )
}

type LinkOf = (subject: string | null) => ComponentChildren

function deliveryColumns(linkOf: LinkOf): readonly Column<WebhookDelivery>[] {
  return [
    { name: 'Sent', isName: true, isShort: true, cell: ({ at }) => <LocalTime at={at} /> },
    { name: 'Event', isNumber: true, cell: ({ sequenceNumber }) => countText(sequenceNumber ?? 0) },
    { name: 'Subject', cell: ({ subject }) => linkOf(subject) },
    {
      name: 'Result',
      isShort: true,
      cell: ({ outcome }) => <span class={`mark-${outcomeOf(outcome)[0]}`}>{outcomeOf(outcome)[1]}</span>,
    },
    { name: 'Answer', cell: (one) => answerWords(one) },
    {
      name: 'Took',
      isNumber: true,
      isWide: true,
      cell: ({ milliseconds }) => `${countText(milliseconds)} ms`,
    },
  ]
}

function waitingColumns(linkOf: LinkOf, resendOne: (number: number) => void): readonly Column<WaitingLine>[] {
  return [
    { name: 'Subject', isName: true, cell: ({ subject }) => linkOf(subject) },
    { name: 'Event', isNumber: true, cell: ({ sequenceNumber }) => countText(sequenceNumber) },
    {
      name: 'Tries',
      isNumber: true,
      cell: ({ tries, givenUpAt }) => (givenUpAt === undefined ? tries : '–'),
    },
    {
      name: 'Next try',
      isShort: true,
      cell: ({ nextTryAt, givenUpAt }) =>
        givenUpAt === undefined ? (
          <Age at={nextTryAt} none="now" />
        ) : (
          <span class="mark-stopped">
            given up <Age at={givenUpAt} />
          </span>
        ),
    },
    { name: 'Last answer', cell: ({ last }) => (last === undefined ? '–' : answerWords(last)) },
    {
      name: 'Actions',
      isShort: true,
      cell: ({ sequenceNumber, givenUpAt }) =>
        givenUpAt !== undefined && (
          <button
            type="button"
            aria-label={`Resend ${sequenceNumber}`}
            onClick={() => resendOne(sequenceNumber)}
          >
            Resend
          </button>
        ),
    },
  ]
}

/** A property or contact, and its tries alone. */
function Subject({
  webhook: { tenantId, feed },
  subject,
}: {
  readonly webhook: Webhook
  readonly subject: string | null
}) {
  if (subject === null) return <>–</>
  const path = feed === 'contact' ? paths.contact(tenantId, subject) : paths.property(tenantId, subject)
  return (
    <ViewLink path={path}>
      <code>{subject}</code>
    </ViewLink>
  )
}
