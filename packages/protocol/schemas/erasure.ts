/** Erasures, holds and restrictions, and what was reduced: as they are asked for and answered. */
import { erasureReasons, feedNames, holdGrounds, receiptReasons, restrictionReasons } from '../src/plain.ts'
import Type from 'typebox'
import { epoch, listOf, whole } from './parts.ts'

const uuid = (description: string) => Type.String({ format: 'uuid', description })
const feedName = Type.Unsafe({ enum: [...feedNames], description: 'Which feed of the tenant.' })
const time = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const erased = {
  subjectId: Type.Optional(uuid('The property or contact.')),
  eventId: Type.Optional(uuid('The one event.')),
}
const erasureWords = {
  reason: Type.Unsafe({ enum: [...erasureReasons], description: 'Why; no text of your own.' }),
  caseRef: Type.Optional(
    Type.Union([Type.String({ pattern: '^[A-Za-z0-9-]{1,40}$' }), Type.Null()], {
      description: 'Your reference for the case. Never a person’s name.',
    }),
  ),
  receivedOn: Type.Optional(
    Type.Union([Type.String({ format: 'date' }), Type.Null()], {
      description: 'The day on which the request was received.',
    }),
  ),
}

const erasureRequest = Type.Object(
  { feed: feedName, ...erased, ...erasureWords },
  {
    title: 'ErasureRequest',
    description: 'Exactly one of subjectId and eventId.',
    additionalProperties: false,
  },
)

const erasureCount = Type.Object(
  {
    dryRun: Type.Boolean({ description: 'Always true: nothing was changed.' }),
    tenantId: uuid('The tenant.'),
    feed: feedName,
    ...erased,
    events: whole('Events that would be reduced.'),
  },
  { title: 'ErasureCount' },
)

const recipient = Type.Object(
  {
    keyId: Type.String({ description: 'Of the key; one that has ended is named as well.' }),
    label: Type.String({ description: 'Of the key, as its operator gave it.' }),
    certainty: Type.Unsafe({
      enum: ['sent', 'possibly'],
      description: '`possibly`: the key could read the feed at one of the `unknownTimes`.',
    }),
    events: Type.Union([whole('How many of the erased events it was sent.'), Type.Null()]),
    firstSentAt: time('Start of the hour in which it was first sent one of them.'),
    lastSentAt: time('End of the hour in which it was last sent one of them.'),
    toldBy: time('By then it had been sent the closing event; null: not so far, or nothing was closed.'),
    acknowledgedAt: time(
      'All of its consumers have acknowledged the closing event: the latest of their times; null: one has not, or none is known.',
    ),
    consumers: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Of the consumer; `default`: the key itself.' }),
        acknowledgedAt: time(
          'When it last acknowledged, the closing event among what it has applied; null: not so far, or nothing was closed.',
        ),
      }),
      { description: 'Its consumers of the feed (PROTOCOL §14.4), by name.' },
    ),
  },
  { title: 'ErasureRecipient', description: 'A key that was sent what was erased.' },
)

const span = Type.Object({
  from: Type.String({ format: 'date-time', description: 'Its start.' }),
  to: Type.String({ format: 'date-time', description: 'Its end.' }),
})

const erasure = Type.Object(
  {
    id: uuid('Of the erasure.'),
    tenantId: uuid('The tenant.'),
    feed: feedName,
    ...erased,
    ...erasureWords,
    reason: Type.Unsafe({
      enum: [...receiptReasons],
      description: 'Why. `replayed`: a restore had brought it back, and it was carried out again.',
    }),
    actor: Type.String({ description: 'The id of the key that asked for it.' }),
    state: Type.Unsafe({
      enum: ['reducing', 'reduced', 'unreachable', 'overwritten'],
      description:
        '`reduced`: no row has the payloads, and each node is waited for until it has forgotten them, a killed node for a minute; `unreachable`: no row, page or answer has them; `overwritten`: the free space of the store has none either.',
    }),
    events: whole('Events that are to be reduced.'),
    reduced: whole('How many of them have been.'),
    closing: Type.Union(
      [Type.Object({ id: uuid('Of the event.'), sequenceNumber: whole('Of the event.') }), Type.Null()],
      { description: 'The event that closed the subject; null if a single event was erased.' },
    ),
    revision: whole("The feed's, after the last step."),
    begunAt: Type.String({ format: 'date-time', description: 'When it was asked for.' }),
    reducedAt: time('When the last payload was removed.'),
    unreachableAt: time('When every node had forgotten it.'),
    overwrittenAt: time('When the free space of the store had been rewritten.'),
    notCovered: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Stable: `backups` and others. Further ones may come.' }),
        detail: Type.String({ description: 'What is left there, and what to do, in a sentence.' }),
        madeAt: Type.Optional(
          Type.Array(Type.String({ format: 'date-time' }), {
            description: 'Of `backups`: when they were begun, the newest first, as far as the store knows.',
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
      Type.Union([Type.Array(span), Type.Null()], {
        description:
          'A node crashed, and nothing tells what it had sent then: possibly any contact to any key that could read it.',
      }),
    ),
  },
  { title: 'Erasure', description: 'A receipt.' },
)

const holdWords = {
  feed: feedName,
  subjectId: uuid('The property or contact.'),
  ground: Type.Unsafe({ enum: [...holdGrounds], description: 'Why it must be kept; no text of your own.' }),
  until: Type.String({ format: 'date', description: 'The last day of the hold, in UTC.' }),
  caseRef: erasureWords.caseRef,
}

const holdRequest = Type.Object(holdWords, { title: 'HoldRequest', additionalProperties: false })

const hold = Type.Object(
  {
    id: uuid('Of the hold.'),
    tenantId: uuid('The tenant.'),
    ...holdWords,
    actor: Type.String({ description: 'The id of the key that asked for it.' }),
    state: Type.Unsafe({
      enum: ['active', 'expired', 'ended'],
      description: 'Only an active hold keeps anything.',
    }),
    addedAt: Type.String({ format: 'date-time', description: 'When it was asked for.' }),
    endedAt: time('When somebody ended it.'),
  },
  { title: 'Hold', description: 'A property or contact that is not erased for now.' },
)

const restrictionWords = {
  subjectId: uuid('The contact.'),
  reason: Type.Unsafe({ enum: [...restrictionReasons], description: 'Why; no text of your own.' }),
  caseRef: erasureWords.caseRef,
}

const contactFeed = Type.Unsafe({ enum: ['contact'], description: 'Only contacts are restricted.' })
const restrictionRequest = Type.Object(
  { feed: Type.Optional(contactFeed), ...restrictionWords },
  { title: 'RestrictionRequest', additionalProperties: false },
)

const restriction = Type.Object(
  {
    id: uuid('Of the restriction.'),
    tenantId: uuid('The tenant.'),
    feed: contactFeed,
    ...restrictionWords,
    actor: Type.String({ description: 'The id of the key that asked for it.' }),
    state: Type.Unsafe({
      enum: ['hiding', 'hidden', 'restricted', 'lifting', 'lifted', 'erased'],
      description: '`restricted`: no answer shows the contact; `lifted`: every answer does again.',
    }),
    closing: Type.Object(
      { id: uuid('Of the event.'), sequenceNumber: whole('Of the event.') },
      { description: 'The event that removed the contact from consumers.' },
    ),
    begunAt: Type.String({ format: 'date-time', description: 'When it was asked for.' }),
    restrictedAt: time('When every node had forgotten it.'),
    endedAt: time('When it was lifted, or the contact erased.'),
  },
  { title: 'Restriction', description: 'A contact that is kept and shown to nobody.' },
)

const day = (description: string) => Type.String({ format: 'date', description })

const expiringContact = Type.Object(
  {
    contactRef: uuid('The contact.'),
    erasedOn: day('It is erased on this day (UTC), if nothing changes.'),
    unchangedSince: day('When it changed last, or was kept last.'),
    listedOn: day('Since when it is on the list.'),
  },
  { title: 'ExpiringContact', description: 'A contact that will be erased because it has not changed.' },
)

const keptContact = Type.Object(
  {
    tenantId: uuid('The tenant.'),
    contactRef: uuid('The contact.'),
    kept: Type.Boolean({ description: 'Always true.' }),
  },
  { title: 'KeptContact' },
)

const exposedContact = Type.Object(
  {
    contactRef: uuid('The contact.'),
    certainty: Type.Unsafe({
      enum: ['sent', 'possibly'],
      description: '`possibly`: only a part of the hour in which it was sent was asked for.',
    }),
    firstSentAt: Type.String({
      format: 'date-time',
      description: 'Start of the first hour in which it was sent.',
    }),
    lastSentAt: Type.String({
      format: 'date-time',
      description: 'End of the last hour in which it was sent.',
    }),
  },
  { title: 'ExposedContact' },
)

const exposure = Type.Object(
  {
    keyId: Type.String({ description: 'Of the key.' }),
    tenantId: uuid('The tenant whose contacts these are.'),
    from: Type.String({ format: 'date-time', description: 'As it was asked for.' }),
    to: Type.String({ format: 'date-time', description: 'As it was asked for.' }),
    contacts: Type.Unsafe({ ...listOf('ExposedContact'), description: 'By reference.' }),
    unknownTimes: Type.Array(span, {
      description:
        'A node crashed, or still runs and has not yet recorded what it sent then: possibly any contact that the key could read.',
    }),
    next: Type.Union([Type.String(), Type.Null()], { description: 'Send it as `after` to get more.' }),
  },
  { title: 'Exposure', description: 'Contacts that a key was sent.' },
)

const reducedEvents = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        revision: whole('Of the feed, since these events were reduced.'),
        sequenceNumbers: Type.Array(whole('Of an event that has no payload any more.')),
      }),
      { description: 'The revisions that reduced anything, ascending, each with its events.' },
    ),
    next: whole('Ask for what was reduced after this revision next.'),
    revision: whole("The feed's. Nothing is left to read when `next` has reached it."),
    epoch,
  },
  { title: 'ReducedEvents' },
)

/** A page of a list: its rows under `rows`, and `next`. */
function listPage(title: string, rows: string, row: string) {
  const next = Type.Union([uuid('Ask for those after it next.'), Type.Null()])
  const page = Type.Object({ [rows]: Type.Array(Type.Unknown()), next }, { title })
  return { ...page, properties: { [rows]: listOf(row), next } }
}

/** By the name they are referred to by, in the document's order. */
export const erasing = {
  ErasureRequest: erasureRequest,
  ErasureCount: erasureCount,
  Erasure: erasure,
  Erasures: listPage('Erasures', 'erasures', 'Erasure'),
  HoldRequest: holdRequest,
  Hold: hold,
  Holds: listPage('Holds', 'holds', 'Hold'),
  RestrictionRequest: restrictionRequest,
  Restriction: restriction,
  Restrictions: listPage('Restrictions', 'restrictions', 'Restriction'),
  ExpiringContact: expiringContact,
  ExpiringContacts: listPage('ExpiringContacts', 'contacts', 'ExpiringContact'),
  KeptContact: keptContact,
  ExposedContact: exposedContact,
  Exposure: exposure,
  ReducedEvents: reducedEvents,
}
