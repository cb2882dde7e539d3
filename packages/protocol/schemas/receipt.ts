/** The answer to a publication (PROTOCOL §4). */
import Type from 'typebox'
import { listOf } from './parts.ts'

/** True or absent. An `enum` and not a `const`, because more OpenAPI tools support it. */
const marker = (description: string) => Type.Unsafe<true>({ type: 'boolean', description, enum: [true] })

const ReceiptEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Of the event: as it was sent, or as it was given.' }),
    sequenceNumber: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Absent only for what a dry run would store.' }),
    ),
    eventType: Type.Integer({ minimum: 0, description: 'Number of the kind of event.' }),
    eventTypeShortCode: Type.String({ description: 'Short name of the kind of event.' }),
    transactionId: Type.String({ format: 'uuid', description: 'As in the event.' }),
    createdDate: Type.Optional(Type.String({ description: 'Absent only for what a dry run would store.' })),
    repeated: Type.Optional(marker('Stored by an earlier request; this is its first result.')),
    derived: Type.Optional(marker('Added by the service: the subject left a category or branch (D23).')),
    unchanged: Type.Optional(
      marker("Equal to the subject's latest event, which is shown; nothing was stored."),
    ),
  },
  { title: 'ReceiptEvent' },
)

const PublishWarning = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Place of the event in the request, from 0.' }),
    pointer: Type.String({
      description: 'JSON pointer into the payload; of `transaction_id_differs`, into the event around it.',
    }),
    pointers: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 20,
        description: 'All places, the first of them being `pointer`, where one warning is about several.',
      }),
    ),
    code: Type.String({ description: 'Stable; the page at `/docs` lists them. Further ones may come.' }),
    message: Type.String({ description: 'What is doubtful, in a sentence.' }),
  },
  { title: 'PublishWarning' },
)

const PublishReceipt = Type.Object(
  {
    events: Type.Unsafe({
      ...listOf('ReceiptEvent'),
      description: 'One for each event of the request, in its order, and those that the service added.',
    }),
    repeated: Type.Boolean({ description: 'True when every event of the request had been stored before.' }),
    warnings: Type.Unsafe({
      ...listOf('PublishWarning'),
      description: 'The first 100 of the request, and the first 50 about the fields of one payload.',
    }),
  },
  { title: 'PublishReceipt' },
)

export const receipts = { ReceiptEvent, PublishWarning, PublishReceipt } as const
