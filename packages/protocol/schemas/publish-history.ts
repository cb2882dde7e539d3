/** What was published, as it is listed (PROTOCOL §14.2). */
import Type from 'typebox'
import { feedName, moment, next, orNull, part, text, whole } from './parts.ts'

const refusal = part(
  'PublicationRefusal',
  Type.Object({
    at: moment('When it was answered.'),
    requestId: text('As in the answer, and in the log of the service.'),
    code: text('Of the problem.'),
    faults: Type.Array(
      Type.Object({
        pointer: text(
          'JSON pointer into the request body; `*` stands for a name that is not in the contract. Empty: the request as a whole.',
        ),
        code: text('As in `errors` of the answer.'),
      }),
      { description: 'The first 10. The values are not kept.' },
    ),
  }),
)

const minute = part(
  'PublicationMinute',
  Type.Object({
    at: moment('Beginning of the minute.'),
    feed: feedName,
    keyId: text('Of the key that published.'),
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
  }),
)

export const publishHistory = {
  Publications: Type.Object(
    {
      items: Type.Array(minute, { description: 'The newest first.' }),
      next,
    },
    { title: 'Publications' },
  ),
} as const
