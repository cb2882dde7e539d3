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
import { problems } from '../src/http/problem.ts'
import { withExamples } from './examples.ts'
import { namedPayloads } from './payload-parts.ts'
import { publications } from './publications.ts'

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

const payloads = namedPayloads({ PropertyPayload, ContactPayload })

/** The codes there are today; clients have to expect others, as further ones may come within `v1` (D27). */
const problemCode = {
  description: 'Stable, machine-readable. Further ones may come.',
  anyOf: [{ type: 'string', enum: Object.keys(problems) }, { type: 'string' }],
  examples: ['invalid_parameter'],
}

/** By the name they are referred to by, in the document's order. */
const namedSchemas = {
  FeedEvent,
  EventPage: { ...EventPage, properties: { ...EventPage.properties, items: listOf('FeedEvent') } },
  EventRun: { ...eventRun, properties: { ...eventRun.properties, items: listOf('FeedEvent') } },
  FeedHead: feedHead,
  Heads: {
    ...Type.Object({ heads: Type.Array(Type.Unknown()) }, { title: 'Heads' }),
    properties: { heads: listOf('FeedHead') },
  },
  PropertyPayload: payloads.PropertyPayload,
  ContactPayload: payloads.ContactPayload,
  ...payloads.parts,
  ...publications,
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
      code: problemCode,
      errors: { ...Problem.properties.errors, items: refTo('ProblemError') },
    },
  },
}

export type SchemaName = keyof typeof namedSchemas

/** The text of the committed `named-schemas.json`. */
export function namedSchemasText(): string {
  return `${JSON.stringify(withExamples(namedSchemas), null, 2)}\n`
}

function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

function listOf(name: string): { readonly type: 'array'; readonly items: { readonly $ref: string } } {
  return { type: 'array', items: refTo(name) }
}
