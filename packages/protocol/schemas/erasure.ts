/** Erasures: how they are asked for and answered (PROTOCOL §5.7). */
import Type from 'typebox'
import { erasureReasons, receiptReasons } from '../src/plain.ts'
import { feedName, listPage, moment, oneOf, part, text, time, uuid, whole } from './parts.ts'

const erased = {
  subjectId: Type.Optional(uuid('The property or contact.')),
  eventId: Type.Optional(uuid('The one event.')),
}

export const caseRef = Type.Optional(
  Type.Union([Type.String({ pattern: '^[A-Za-z0-9-]{1,40}$' }), Type.Null()], {
    description: 'Your reference for the case. Never a person’s name.',
  }),
)
const words = {
  reason: oneOf(erasureReasons, 'Why; no text of your own.'),
  caseRef,
  receivedOn: Type.Optional(
    Type.Union([Type.String({ format: 'date' }), Type.Null()], {
      description: 'The day on which the request was received.',
    }),
  ),
}

/** The event that closed a subject. */
export const closingEvent = { id: uuid('Of the event.'), sequenceNumber: whole('Of the event.') }

/** A time for which it is unknown what was sent. */
export const unknownTime = part(
  'UnknownTime',
  Type.Object({
    from: moment('Its start.'),
    to: moment('Its end.'),
  }),
)

const recipient = part(
  'ErasureRecipient',
  Type.Object(
    {
      keyId: text('Of the key; one that has ended is named as well.'),
      label: text('Of the key, as its operator gave it.'),
      certainty: oneOf(
        ['sent', 'possibly'],
        '`possibly`: the key could read the feed at one of the `unknownTimes`.',
      ),
      events: Type.Union([whole('How many of the erased events it was sent.'), Type.Null()]),
      firstSentAt: time('Start of the hour in which it was first sent one of them.'),
      lastSentAt: time('End of the hour in which it was last sent one of them.'),
      toldBy: time('By then it had been sent the closing event; null: not so far, or nothing was closed.'),
      acknowledgedAt: time(
        'All of its consumers have acknowledged the closing event: the latest of their times; null: one has not, or none is known.',
      ),
      consumers: Type.Array(
        Type.Object({
          name: text('Of the consumer; `default`: the key itself.'),
          acknowledgedAt: time(
            'When it last acknowledged, the closing event among what it has applied; null: not so far, or nothing was closed.',
          ),
        }),
        { description: 'Its consumers of the feed (PROTOCOL §14.4), by name.' },
      ),
    },
    { title: 'ErasureRecipient', description: 'A key that was sent what was erased.' },
  ),
)

export const erasures = {
  ErasureRequest: Type.Object(
    { feed: feedName, ...erased, ...words },
    {
      title: 'ErasureRequest',
      description: 'Exactly one of subjectId and eventId.',
      additionalProperties: false,
    },
  ),
  ErasureCount: Type.Object(
    {
      dryRun: Type.Boolean({ description: 'Always true: nothing was changed.' }),
      tenantId: uuid('The tenant.'),
      feed: feedName,
      ...erased,
      events: whole('Events that would be reduced.'),
    },
    { title: 'ErasureCount' },
  ),
  Erasure: Type.Object(
    {
      id: uuid('Of the erasure.'),
      tenantId: uuid('The tenant.'),
      feed: feedName,
      ...erased,
      ...words,
      reason: oneOf(
        receiptReasons,
        'Why. `replayed`: a restore had brought it back, and it was carried out again.',
      ),
      actor: text('The id of the key that asked for it.'),
      state: oneOf(
        ['reducing', 'reduced', 'unreachable', 'overwritten'],
        '`reduced`: no row has the payloads, and each node is waited for until it has forgotten them, a killed node for a minute; `unreachable`: no row, page or answer has them; `overwritten`: the free space of the store has none either.',
      ),
      events: whole('Events that are to be reduced.'),
      reduced: whole('How many of them have been.'),
      closing: Type.Union([Type.Object(closingEvent), Type.Null()], {
        description: 'The event that closed the subject; null if a single event was erased.',
      }),
      revision: whole("The feed's, after the last step."),
      begunAt: moment('When it was asked for.'),
      reducedAt: time('When the last payload was removed.'),
      unreachableAt: time('When every node had forgotten it.'),
      overwrittenAt: time('When the free space of the store had been rewritten.'),
      notCovered: Type.Array(
        Type.Object({
          code: text('Stable: `backups` and others. Further ones may come.'),
          detail: text('What is left there, and what to do, in a sentence.'),
          madeAt: Type.Optional(
            Type.Array(Type.String({ format: 'date-time' }), {
              description:
                'Of `backups`: when they were started, the newest first, as far as the store knows.',
            }),
          ),
        }),
        { description: 'What the erasure does not reach, and what is left to do.' },
      ),
      recipients: Type.Optional(
        Type.Union([Type.Array(recipient), Type.Null()], {
          description:
            'Keys that were sent what was erased, from `unreachable` on and where one receipt is asked for. Null: reads of this feed are not recorded.',
        }),
      ),
      unknownTimes: Type.Optional(
        Type.Union([Type.Array(unknownTime), Type.Null()], {
          description:
            'A node crashed, and nothing tells what it had sent then: possibly any contact to any key that could read it.',
        }),
      ),
    },
    { title: 'Erasure', description: 'A receipt.' },
  ),
  Erasures: listPage('Erasures', 'erasures', 'Erasure'),
} as const
