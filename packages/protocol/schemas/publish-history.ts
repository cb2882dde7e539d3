/** What was published, as it is listed (PROTOCOL §14.2). */
import Type from 'typebox'
import { whole } from './parts.ts'

const orNull = (schema: Type.TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const refusal = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When it was answered.' }),
  requestId: Type.String({ description: 'As in the answer, and in the log of the service.' }),
  code: Type.String({ description: 'Of the problem.' }),
  faults: Type.Array(
    Type.Object({
      pointer: Type.String({
        description:
          'JSON pointer into the request body; `*` stands for a name that is not in the contract. Empty: the request as a whole.',
      }),
      code: Type.String({ description: 'As in `errors` of the answer.' }),
    }),
    { description: 'The first 10. The values are not kept.' },
  ),
})

const minute = Type.Object({
  at: Type.String({ format: 'date-time', description: 'Beginning of the minute.' }),
  feed: Type.Unsafe({ enum: ['property', 'contact'], description: 'Which feed of the tenant.' }),
  keyId: Type.String({ description: 'Of the key that published.' }),
  requests: whole('How many there were, including refused ones but not dry runs.'),
  stored: whole('Events that were stored, including those that the service added.'),
  repeated: whole('Events that had been stored before.'),
  unchanged: whole("Events that were equal to their subject's latest, and were not stored."),
  firstNumber: orNull(
    Type.Integer({ minimum: 1 }),
    'The lowest `sequenceNumber` that was given; null: none was.',
  ),
  lastNumber: orNull(Type.Integer({ minimum: 1 }), 'The highest `sequenceNumber` that was given.'),
  warnings: Type.Record(Type.String(), Type.Integer(), {
    description: 'How often each code was in the receipts.',
  }),
  warningPlaces: Type.Record(Type.String(), Type.Array(Type.String(), { maxItems: 5 }), {
    description:
      'Examples of where each of these codes arose: JSON pointers into an event, the first five in the order of their text; `*` stands for a name that is not in the contract. The values are not kept.',
  }),
  refused: whole('Requests of which nothing was stored.'),
  refusals: Type.Array(refusal, {
    description: 'Those that are kept one by one: the first 100 of a key and hour.',
  }),
})

export const published = {
  Publications: Type.Object(
    {
      items: Type.Array(minute, { description: 'The newest first.' }),
      next: orNull(Type.String(), 'Send it as `after` to get what comes next; null at the end.'),
    },
    { title: 'Publications' },
  ),
} as const
