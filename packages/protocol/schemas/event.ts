/** Events and lists of them, and where their feed stands (spec §2, PROTOCOL §11). */
import Type from 'typebox'
import { epoch, feedName, listOf, oneOf, revision, text, uuid, whole } from './parts.ts'

/** In the order of the members in the stored bytes (spec §2.1). */
const feedEvent = {
  tenantId: uuid('Owner tenant of the event.'),
  sequenceNumber: Type.Integer({
    minimum: 1,
    description: 'Ordering number; strictly rising in a feed. The highest per subject is the current one.',
  }),
  eventType: Type.Integer({
    minimum: 0,
    description: 'Numeric event kind, see the event type catalogue.',
  }),
  eventTypeShortCode: text('Short name of the event kind, such as PropertyPublished.'),
  payload: text('A JSON document serialised into a string, byte for byte as published.'),
  transactionId: uuid(
    "Groups events; by default the subject's own UUID, as the subject's first event spells it.",
  ),
  id: uuid('Event identifier, the eventId of the get-by-id path.'),
  createdDate: Type.String({
    pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{7}$`,
    description: 'UTC, 7 fraction digits, no zone designator; rises with the sequence number.',
    examples: ['2025-01-31T23:59:59.1234567'],
  }),
}

export const events = {
  FeedEvent: Type.Object(feedEvent, { title: 'FeedEvent', description: 'One event of a feed.' }),
  EventPage: Type.Object(
    {
      items: Type.Unsafe(listOf('FeedEvent')),
      page: Type.Integer({ minimum: 1, description: 'Current page number.' }),
      pageSize: Type.Integer({ minimum: 1, description: 'Page size used.' }),
      availableCount: Type.Integer({
        minimum: 0,
        description: 'Events that match the request, on all pages together.',
      }),
      totalPages: Type.Integer({ minimum: 0, description: 'Number of pages; 0 when nothing matches.' }),
    },
    { title: 'EventPage', description: 'A page of events in ascending sequenceNumber.' },
  ),
  EventRun: Type.Object(
    {
      items: Type.Unsafe(listOf('FeedEvent')),
      next: whole('Ask for the events after this number next.'),
      head: whole("The feed's last number. Nothing is left to read when `next` has reached it."),
      epoch,
      revision,
    },
    { title: 'EventRun', description: 'Events in ascending sequenceNumber.' },
  ),
  PayloadChange: Type.Object(
    {
      pointer: text(
        'RFC 6901, into the payload of this event. For an item that is gone, its last part is the index in the list before.',
      ),
      from: Type.Optional(Type.Unknown({ description: 'The value before; absent: there was none.' })),
      to: Type.Optional(Type.Unknown({ description: 'The value now; absent: there is none.' })),
      movedFrom: Type.Optional(whole('The index of the item in the list before.')),
    },
    { title: 'PayloadChange', description: 'Something that differs from the payload before.' },
  ),
  HistoryEvent: Type.Object(
    {
      ...feedEvent,
      changes: Type.Optional(
        Type.Union([Type.Unsafe(listOf('PayloadChange')), Type.Null()], {
          description:
            'With `changes=true`: what differs from the payload of the event before, at most 200 changes. Null: see `changesAbsent`.',
        }),
      ),
      changesAbsent: Type.Optional(
        oneOf(
          ['first_version', 'erased', 'thinned', 'not_an_object'],
          'Why there are no changes: no event is before, or the payload of this one or of the one before is gone or is no object. Further values may come.',
        ),
      ),
      moreChanges: Type.Optional(whole('How many further changes are not listed.')),
    },
    { title: 'HistoryEvent', description: 'One event of a subject.' },
  ),
  History: Type.Object(
    {
      items: Type.Unsafe(listOf('HistoryEvent')),
      next: whole('Ask for the events after this number next.'),
      head: whole("The feed's last number. Nothing is left to read when `next` has reached it."),
      epoch,
      revision,
    },
    { title: 'History', description: 'Events of one subject in ascending sequenceNumber.' },
  ),
  FeedHead: Type.Object(
    {
      tenantId: uuid('Whose feed it is.'),
      feed: feedName,
      sequenceNumber: whole("Of the feed's last event."),
      createdDate: Type.Union([Type.String(), Type.Null()], {
        description: "Of the feed's last event; null in an empty feed.",
      }),
      epoch,
      revision,
    },
    { title: 'FeedHead', description: 'Where one feed stands.' },
  ),
  Heads: Type.Object(
    {
      heads: Type.Unsafe(listOf('FeedHead')),
      next: text('For `since`: asks for the feeds that change after this answer.'),
    },
    { title: 'Heads' },
  ),
} as const

export const reducedEvents = {
  ReducedEvents: Type.Object(
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
  ),
} as const
