/** Makes an endpoint. */
import { useState } from 'preact/hooks'
import type { MadeWebhook } from '@property-events/protocol/wire'
import type { FeedName } from '../../base.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Field } from '../../parts/field.tsx'
import type { Operation } from '../../service/operation.ts'
import { createWebhook } from '../../service/operations/webhooks.ts'
import { eventChoices, readWebhookForm } from './webhook-line.ts'
import type { WebhookForm } from './webhook-line.ts'
import { Choice, Secret } from './webhook-parts.tsx'

interface CreateProps {
  readonly tenantId: string
  /** Of which the session may make one. */
  readonly feeds: readonly FeedName[]
  readonly onClose: () => void
}

export function CreateDialog({ tenantId, feeds, onClose }: CreateProps) {
  const [form, setForm] = useState<WebhookForm>(() => formOf(feeds[0] ?? 'property'))
  const [own, setFault] = useState<{ readonly field: string; readonly message: string }>()
  function operation(): Operation<MadeWebhook> | undefined {
    const reading = readWebhookForm(form)
    setFault(reading.kind === 'fault' ? reading : undefined)
    return reading.kind === 'body' ? createWebhook(tenantId, reading.body) : undefined
  }
  return (
    <ActDialog
      title="Create an endpoint"
      name="Create endpoint"
      operation={operation}
      shown={({ secret }) => <Secret secret={secret} />}
      onClose={onClose}
    >
      {({ failure }) => (
        <Fields
          feeds={feeds}
          form={form}
          setForm={setForm}
          faultOf={(field) =>
            own?.field === field
              ? own.message
              : failure?.errors.find(({ pointer }) => pointer === `/${field}`)?.message
          }
        />
      )}
    </ActDialog>
  )
}

interface FieldsProps {
  readonly feeds: readonly FeedName[]
  readonly form: WebhookForm
  readonly setForm: (form: WebhookForm) => void
  readonly faultOf: (field: string) => string | undefined
}

function Fields({ feeds, form, setForm, faultOf }: FieldsProps) {
  const change = (part: Partial<WebhookForm>): void => setForm({ ...form, ...part })
  const text = (field: 'url' | 'label' | 'after', name: string, hint?: string) => (
    <Field
      id={`webhook-${field}`}
      name={name}
      value={form[field]}
      onValue={(value) => change({ [field]: value })}
      hint={hint}
      fault={faultOf(field)}
    />
  )
  return (
    <>
      {text('url', 'Address', 'https://www.example.com/events')}
      {text('label', 'Label: what receives it')}
      {feeds.length > 1 && (
        <Choice
          name="Feed"
          value={form.feed}
          among={feeds.map((feed) => [feed, feed] as const)}
          onChoice={(feed) =>
            setForm({ ...formOf(feed === 'contact' ? feed : 'property'), ...textsOf(form) })
          }
        />
      )}
      <Choice
        name="Sends"
        value={form.events}
        among={eventChoices(form.feed)}
        onChoice={(events) => change({ events })}
      />
      {form.feed === 'property' && (
        <Choice
          name="Payload"
          value={form.payload ?? 'full'}
          among={[
            ['full', 'Full: the whole event'],
            ['thin', 'Thin: without the payload, to be fetched'],
          ]}
          onChoice={(payload) => change({ payload: payload === 'thin' ? 'thin' : 'full' })}
        />
      )}
      <Choice
        name="Mode"
        value={form.mode ?? 'every'}
        among={[
          ['every', 'Every event'],
          ['latest', 'The latest of each property or contact'],
        ]}
        onChoice={(mode) => change({ mode: mode === 'latest' ? 'latest' : 'every' })}
      />
      {text(
        'after',
        'After number (optional: 0 sends everything; empty, only what is published from now on)',
      )}
    </>
  )
}

function formOf(feed: FeedName): WebhookForm {
  const events = eventChoices(feed)[0]?.[0] ?? feed
  return { url: '', label: '', feed, events, payload: 'full', mode: 'every', after: '' }
}

function textsOf({ url, label, after }: WebhookForm): Partial<WebhookForm> {
  return { url, label, after }
}
