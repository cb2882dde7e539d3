/**
 * The named schemas of the OpenAPI document, made from the same objects as the types (protocol). What serves reads them from
 * `named-schemas.json`, which `npm run openapi` writes: TypeBox is a tool of development.
 */
import {
  ContactPayload,
  EventPage,
  FeedEvent,
  Problem,
  ProblemError,
  PropertyPayload,
  PublishReceipt,
  PublishWarning,
  ReceiptEvent,
} from '@property-events/protocol/schemas'
import Type from 'typebox'
import type { TObject, TSchema } from 'typebox'

const payloadText = {
  type: 'string',
  contentMediaType: 'application/json',
  description:
    'The payload, as JSON text or as an object. Numbers keep their digits; white space between tokens goes.',
}

function publication(payload: string, further: Readonly<Record<string, TSchema>>): TObject {
  return Type.Object(
    {
      payload: Type.Optional(
        Type.Unsafe({
          anyOf: [refTo(payload), { ...payloadText, contentSchema: refTo(payload) }],
        }),
      ),
      ...further,
      eventType: Type.Optional(
        Type.Union([
          Type.String({ description: 'Short code. Default: derived from what was there before.' }),
          Type.Null(),
        ]),
      ),
      id: Type.Optional(
        Type.Union([
          Type.String({
            format: 'uuid',
            description: 'Repeat key, unique in the feed for ever. Default: a new UUID.',
          }),
          Type.Null(),
        ]),
      ),
      transactionId: Type.Optional(
        Type.Union([
          Type.String({
            format: 'uuid',
            description:
              "Groups events. Leave it out: the default is the subject's UUID as its first event spells it, which known consumers take for the property's id.",
          }),
          Type.Null(),
        ]),
      ),
    },
    { additionalProperties: false },
  )
}

const removal = Type.Object(
  {
    agentRef: Type.String({ format: 'uuid', description: 'The property.' }),
    reason: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 0, description: 'Removal reason, 7 to 12.' }),
        Type.String({ maxLength: 200 }),
        Type.Null(),
      ]),
    ),
  },
  { additionalProperties: false },
)

const propertyPublication = {
  ...publication('PropertyPayload', {
    remove: Type.Optional(removal),
    category: Type.Optional(
      Type.Unsafe({ enum: ['sales', 'lettings', null], description: 'Default: as the payload says.' }),
    ),
  }),
  title: 'PropertyPublication',
  description: 'One property event to be: exactly one of payload and remove.',
}

const contactPublication = {
  ...publication('ContactPayload', {}),
  required: ['payload'],
  title: 'ContactPublication',
  description: 'One contact event to be.',
}

const whole = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
const epoch = Type.String({ description: 'Changes when numbers were carried past a gap: begin again.' })
const revision = whole('Rises when stored payloads were reduced: read earlier events again.')

const eventRun = Type.Object(
  {
    items: Type.Array(Type.Unknown()),
    next: whole('Ask for the events after this number next.'),
    head: whole("The feed's last number. Nothing is left to read when `next` has reached it."),
    epoch,
    revision,
  },
  { title: 'EventRun', description: 'Events in ascending sequenceNumber.' },
)

const feedHead = Type.Object(
  {
    tenantId: Type.String({ format: 'uuid' }),
    feed: Type.Unsafe({ enum: ['property', 'contact'] }),
    sequenceNumber: whole("Of the feed's last event."),
    createdDate: Type.Union([Type.String(), Type.Null()], {
      description: "Of the feed's last event; null in an empty feed.",
    }),
    epoch,
    revision,
  },
  { title: 'FeedHead', description: 'Where one feed stands.' },
)

/** By the name they are referred to by, in the document's order. */
const namedSchemas = {
  Event: FeedEvent,
  EventPage: { ...EventPage, properties: { ...EventPage.properties, items: listOf('Event') } },
  EventRun: { ...eventRun, properties: { ...eventRun.properties, items: listOf('Event') } },
  FeedHead: feedHead,
  Heads: {
    ...Type.Object({ heads: Type.Array(Type.Unknown()) }, { title: 'Heads' }),
    properties: { heads: listOf('FeedHead') },
  },
  PropertyPayload,
  ContactPayload,
  PropertyPublication: propertyPublication,
  ContactPublication: contactPublication,
  ReceiptEvent,
  PublishWarning,
  PublishReceipt: {
    ...PublishReceipt,
    properties: {
      ...PublishReceipt.properties,
      events: listOf('ReceiptEvent'),
      warnings: { ...PublishReceipt.properties.warnings, items: refTo('PublishWarning') },
    },
  },
  ProblemError,
  Problem: {
    ...Problem,
    properties: {
      ...Problem.properties,
      errors: { ...Problem.properties.errors, items: refTo('ProblemError') },
    },
  },
}

export type SchemaName = keyof typeof namedSchemas

/** The text of the committed `named-schemas.json`. */
export function namedSchemasText(): string {
  return `${JSON.stringify(namedSchemas, null, 2)}\n`
}

function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

function listOf(name: string): { readonly type: 'array'; readonly items: { readonly $ref: string } } {
  return { type: 'array', items: refTo(name) }
}
