import Type from 'typebox'

/** Patterns in the schemas are for readers and generators of clients; the service itself reads UUIDs with `parseUuid`. */
const Uuid = (description: string) => Type.String({ format: 'uuid', description })

/** One event, as it stands on the wire (spec §2.1). The order of the members is the order in the stored bytes. */
export const FeedEvent = Type.Object(
  {
    tenantId: Uuid('Owner tenant of the event.'),
    sequenceNumber: Type.Integer({
      minimum: 1,
      description: 'Ordering number; strictly rising in a feed. The highest per subject is the current one.',
    }),
    eventType: Type.Integer({ minimum: 0, description: 'Numeric event kind, see the event type catalogue.' }),
    eventTypeShortCode: Type.String({
      description: 'Short name of the event kind, such as PropertyPublished.',
    }),
    payload: Type.String({
      description: 'A JSON document serialised into a string, byte for byte as published.',
    }),
    transactionId: Uuid(
      "Groups events; by default the subject's own UUID, as the subject's first event spells it.",
    ),
    id: Uuid('Event identifier, the eventId of the get-by-id path.'),
    createdDate: Type.String({
      pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{7}$`,
      description: 'UTC, 7 fraction digits, no zone designator; rises with the sequence number.',
      examples: ['2025-01-31T23:59:59.1234567'],
    }),
  },
  { title: 'FeedEvent', description: 'One event of a feed.' },
)
export type FeedEvent = Type.Static<typeof FeedEvent>

/** A page of events (spec §2.2). */
export const EventPage = Type.Object(
  {
    items: Type.Array(FeedEvent),
    page: Type.Integer({ minimum: 1, description: 'Current page number.' }),
    pageSize: Type.Integer({ minimum: 1, description: 'Page size used.' }),
    availableCount: Type.Integer({
      minimum: 0,
      description: 'Events that match the request, on all pages together.',
    }),
    totalPages: Type.Integer({ minimum: 0, description: 'Number of pages; 0 when nothing matches.' }),
  },
  { title: 'EventPage', description: 'A page of events in ascending sequenceNumber.' },
)
export type EventPage = Type.Static<typeof EventPage>
