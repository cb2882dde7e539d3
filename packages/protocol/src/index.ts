/**
 * Everything that both ends of the wire share: what a feed is, what an event is, and how their texts are read. Of the schemas it exports
 * only the types: TypeBox is a development tool, and the schemas themselves are in `schemas/`.
 */
export type {
  EventPage,
  FeedEvent,
  Problem,
  ProblemError,
  PublishReceipt,
  PublishWarning,
  ReceiptEvent,
} from '../schemas/wire.ts'
export * from './plain.ts'
export * from './payload/index.ts'
