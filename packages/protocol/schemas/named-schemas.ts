/**
 * The named schemas of the OpenAPI document, made from the same objects as the types (protocol). What serves reads them from
 * `named-schemas.json`, which `npm run openapi` writes: TypeBox is a tool of development.
 */
import Type from 'typebox'
import { problems } from '../../server/src/http/problem/problem.ts'
import { adminSchemas } from './tenant.ts'
import { keySchemas } from './key.ts'
import { deletionSchemas } from './deletion.ts'
import { digest } from './digest.ts'
import { epoch, listOf, refTo, revision, whole } from './parts.ts'
import { consumers } from './consumer.ts'
import { erasing } from './erasure.ts'
import { withExamples } from './examples.ts'
import { overviewSchemas } from './overview.ts'
import { namedPayloads } from './payload-parts.ts'
import { publications } from './publication.ts'
import { published } from './publish-history.ts'
import { EventPage, FeedEvent } from './event.ts'
import { Problem, ProblemError } from './problem.ts'
import { PublishReceipt, PublishWarning, ReceiptEvent } from './receipt.ts'
import { ContactPayload } from '../src/payload/contact.ts'
import { PropertyPayload } from '../src/payload/property.ts'

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
    tenantId: Type.String({ format: 'uuid', description: 'Whose feed it is.' }),
    feed: Type.Unsafe({ enum: ['property', 'contact'], description: 'Which feed of the tenant.' }),
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
    ...Type.Object({ heads: Type.Array(Type.Unknown()), next: Type.String() }, { title: 'Heads' }),
    properties: {
      heads: listOf('FeedHead'),
      next: Type.String({ description: 'For `since`: asks for the feeds that change after this answer.' }),
    },
  },
  PropertyPayload: payloads.PropertyPayload,
  ContactPayload: payloads.ContactPayload,
  ...payloads.parts,
  ...publications,
  ...published,
  ...digest,
  ...consumers,
  ...erasing,
  ...adminSchemas,
  ...overviewSchemas,
  ...keySchemas,
  ...deletionSchemas,
  ReceiptEvent,
  PublishWarning,
  PublishReceipt: {
    ...PublishReceipt,
    properties: {
      ...PublishReceipt.properties,
      events: { ...PublishReceipt.properties.events, items: refTo('ReceiptEvent') },
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
