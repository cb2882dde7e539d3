/** What is done with an endpoint, each in a dialog: made, tested, paused, replayed, given a new secret, deleted. */
import { useState } from 'preact/hooks'
import type { ChangedWebhook, MadeWebhook, Webhook, WebhookTest } from '@property-events/protocol/wire'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Problem } from '../../parts/answer.tsx'
import { Field } from '../../parts/field.tsx'
import { numberOfMoment } from '../../list/jumps.ts'
import { call } from '../../service/call.ts'
import type { Failure } from '../../service/failure.ts'
import type { Operation } from '../../service/operation.ts'
import {
  changeWebhook,
  deleteWebhook,
  moveWebhook,
  resend,
  rotateSecret,
  testWebhook,
} from '../../service/operations/webhooks.ts'
import { feedDoor } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { countText, readCount } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import { readMoment } from '../../words/times.ts'
import { answerWords, outcomeOf, webhookName } from './webhook-line.ts'
import { Choice, Secret } from './webhook-parts.tsx'

export type WebhookAct = 'test' | 'pause' | 'enable' | 'replay' | 'resend' | 'rotate' | 'delete'

interface Props {
  readonly webhook: Webhook
  readonly act: WebhookAct
  readonly onClose: (hasGone: boolean) => void
}

export function WebhookDialog({ webhook, act, onClose }: Props) {
  const name = webhookName(webhook)
  const shared = { onClose: () => onClose(false) }
  const address = <code>{oneLine(webhook.url, 200)}</code>
  if (act === 'replay') return <ReplayDialog webhook={webhook} {...shared} />
  if (act === 'rotate') return <RotateSecretDialog webhook={webhook} {...shared} />
  switch (act) {
    case 'test':
      return (
        <ActDialog
          {...shared}
          title={`Test ${name}`}
          name="Send a test"
          operation={() => testWebhook(webhook)}
          shown={(result) => <TestResult result={result} />}
        >
          <p>Posts a signed test message, which is no event, to {address}.</p>
        </ActDialog>
      )
    case 'pause':
      return (
        <ActDialog
          {...shared}
          title={`Pause ${name}`}
          name="Pause"
          operation={() => changeWebhook(webhook, 'paused')}
        >
          <p>Nothing is sent until it is enabled. Then it goes on where it stood: nothing is lost.</p>
        </ActDialog>
      )
    case 'enable':
      return (
        <ActDialog<ChangedWebhook>
          {...shared}
          title={`Enable ${name}`}
          name="Enable"
          operation={() => changeWebhook(webhook, 'enabled')}
          shown={({ secret }) => (secret === undefined ? undefined : <Secret secret={secret} />)}
        >
          <p>It goes on after {countText(webhook.cursor.settled)}, with what waits.</p>
        </ActDialog>
      )
    case 'resend':
      return (
        <ActDialog {...shared} title={`Resend to ${name}`} name="Resend" operation={() => resend(webhook)}>
          <p>
            Sends the {countText(webhook.givenUp)} given up again, each with the later events of its property
            or contact.
          </p>
        </ActDialog>
      )
    case 'delete':
      break
  }
  return (
    <ActDialog
      title={`Delete ${name}`}
      name="Delete endpoint"
      isDanger
      operation={() => deleteWebhook(webhook)}
      onClose={onClose}
    >
      <p>
        Nothing more is sent to {address}. Its secrets, what waits and its deliveries go. This cannot be
        undone.
      </p>
    </ActDialog>
  )
}

function TestResult({ result }: { readonly result: WebhookTest }) {
  const [mark, words] = outcomeOf(result.outcome)
  return (
    <div role="status">
      <p>
        <strong class={`mark-${mark}`}>{words}</strong> after {countText(result.milliseconds)} ms
      </p>
      <p>{oneLine(result.detail, 400)}</p>
      <pre>{answerWords(result)}</pre>
    </div>
  )
}

interface OneProps {
  readonly webhook: Webhook
  readonly onClose: () => void
}

function ReplayDialog({ webhook, onClose }: OneProps) {
  const { tenantId, feed, apiEventType } = webhook
  const door = feedDoor(signedIn().key, tenantId, feed)
  const [from, setFrom] = useState('')
  const [day, setDay] = useState('')
  const [fault, setFault] = useState<string>()
  const [failure, setFailure] = useState<Failure>()
  async function operation(): Promise<Operation<Webhook> | undefined> {
    setFailure(undefined)
    const number = readCount(from)
    const ms = readMoment(day, Date.now())
    setFault(number === undefined && ms === undefined ? 'Enter a number or a day.' : undefined)
    if (number !== undefined) return moveWebhook(webhook, number - 1)
    if (ms === undefined || door === undefined) return undefined
    const found = await numberOfMoment(call, { tenantId, feed, door }, apiEventType, ms)
    if (typeof found !== 'object') return moveWebhook(webhook, found === undefined ? 'head' : found - 1)
    setFailure(found)
    return undefined
  }
  return (
    <ActDialog
      title={`Replay to ${webhookName(webhook)}`}
      name="Replay"
      operation={operation}
      onClose={onClose}
    >
      <p>
        Sends every event again from there, and what waits with them. It stands after{' '}
        {countText(webhook.cursor.settled)}; a later number leaves out what is between.
      </p>
      <Field id="replay-from" name="From number" value={from} onValue={setFrom} fault={fault} />
      {door !== undefined && (
        <Field id="replay-day" name="Or from a time" value={day} onValue={setDay} isTime />
      )}
      {failure !== undefined && <Problem failure={failure} />}
    </ActDialog>
  )
}

const overlaps = [
  ['86400', 'a day'],
  ['3600', 'an hour'],
  ['604800', '7 days'],
  ['0', '0 minutes: it ends at once'],
] as const

function RotateSecretDialog({ webhook, onClose }: OneProps) {
  const [seconds, setSeconds] = useState('86400')
  return (
    <ActDialog<MadeWebhook>
      title={`Rotate the secret of ${webhookName(webhook)}`}
      name="Rotate secret"
      operation={() => rotateSecret(webhook, Number(seconds))}
      shown={({ secret }) => <Secret secret={secret} />}
      onClose={onClose}
    >
      <p>Creates a new secret. Until the present one ends, each request is signed with both.</p>
      <Choice name="The present secret signs for" value={seconds} among={overlaps} onChoice={setSeconds} />
    </ActDialog>
  )
}
