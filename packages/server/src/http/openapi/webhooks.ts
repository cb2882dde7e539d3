/** What the service posts to receivers, as the OpenAPI document describes it (PROTOCOL §16.2). */
import type { SchemaName } from '@property-events/protocol/wire'
import { refTo } from './schemas.ts'

const headers = {
  'webhook-id': 'Names the message, the same whenever it is sent again.',
  'webhook-timestamp': 'When it was signed, in seconds since 1970.',
  'webhook-signature':
    '`v1,` and the HMAC-SHA-256 of id, time and body, in base64; one for each secret, with blanks between them.',
} as const

const parameters = Object.entries(headers).map(([name, description]) => ({
  schema: { type: 'string' },
  in: 'header',
  name,
  required: true,
  description,
}))

const responses = {
  '2XX': { description: 'Acknowledged: it is not sent again.' },
  '410': { description: 'Nothing more is sent: the webhook is disabled.' },
  default: { description: 'Refused: it is sent again later, with 429 and 503 not before `Retry-After`.' },
} as const

/** By the type of the message. */
const messages: readonly (readonly [type: string, summary: string, schema: SchemaName])[] = [
  ['property.event', 'An event of the property feed', 'WebhookEventMessage'],
  ['contact.event', 'An event of the contact feed, without its payload', 'WebhookEventMessage'],
  ['feed.epochChanged', 'Before the first event of a new epoch: begin again', 'WebhookEpochMessage'],
  ['webhook.failing', 'Another webhook has been failing for an hour', 'WebhookNotice'],
  ['webhook.disabled', 'Another webhook sends no more', 'WebhookNotice'],
  ['webhook.recovered', 'Another webhook that was failing works again', 'WebhookNotice'],
]

export const webhooksObject = Object.fromEntries(
  messages.map(([type, summary, schema]) => [
    type,
    {
      post: {
        summary,
        tags: ['Webhooks'],
        // It is signed, and has no key.
        security: [],
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema: refTo(schema) } } },
        responses,
      },
    },
  ]),
)
