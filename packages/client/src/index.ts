/** Reads a property event feed, keeps a correct copy of it, and publishes to it. Runs wherever `fetch` does. */
export { createClient } from './client.ts'
export type { Client } from './client.ts'
export { digestSubjects } from './compare.ts'
export type { CompareOptions, Comparison, Difference, HeldSubject } from './compare.ts'
export type { CallOptions, ClientOptions } from './connection.ts'
export type { FeedConsumers, TermsOptions } from './consumers.ts'
export type { DutyReport } from './duties.ts'
export type { Again, ErrorCode } from './codes.ts'
export {
  AbortedError,
  CheckpointError,
  InvalidAnswerError,
  InvalidOptionError,
  MassRemovalError,
  NetworkError,
  PropertyEventsError,
} from './errors.ts'
export type { MovedHeadsOptions, RunQuery } from './reading/get.ts'
export { subjectOf } from './event.ts'
export type { EventList, ListQuery } from './reading/list.ts'
export type {
  EventFollower,
  FollowedEvent,
  FollowManyQuery,
  FollowMark,
  FollowPosition,
  FollowQuery,
  TenantMark,
} from './live/follow-options.ts'
export type { Transport } from './live/transports.ts'
export { changes, versionChanges } from './payload/changes.ts'
export type { PayloadChange, VersionChanges } from './payload/changes.ts'
export { readContactPayload } from './payload/contact.ts'
export type { Contact } from './payload/contact.ts'
export { readPropertyPayload } from './payload/property.ts'
export type { PriceInformation, PropertyAddress } from './payload/address-and-price.ts'
export type { Obligations, Property, PropertyDetails, PropertyMedia, Risks } from './payload/property.ts'
export type { ContactPayload, PropertyPayload } from './payload/payload-types.ts'
export type { PayloadReading, Quirk, QuirkCode } from './payload/read-payload.ts'
export { readWallTime } from './payload/wall-time.ts'
export type { WallTime } from './payload/wall-time.ts'
export type { Publication, PublishOptions, PublishTextOptions } from './publish.ts'
export type { ErasureRequest, HoldRequest, RestrictionRequest } from './privacy.ts'
export type { RetryOptions, Sleep } from './http/retry.ts'
export {
  AccessError,
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  ServiceError,
  UnavailableError,
} from './service-errors.ts'
export type { AppliedPosition } from './sync/acknowledgement-state.ts'
export type { BreakerOptions } from './sync/breaker.ts'
export type { Change, OddEvent, Removal, Upsert } from './sync/change.ts'
export { memoryCheckpoint } from './sync/checkpoint.ts'
export type { Checkpoint, CheckpointStore } from './sync/checkpoint.ts'
export type { Batch, CopyView, FollowOptions, SyncOptions, SyncProgress, SyncResult } from './sync/options.ts'
export type { ResyncReason } from './sync/plan.ts'
export type {
  Consumer,
  ConsumerResult,
  ConsumerView,
  ContactPublication,
  DutyList,
  Erasure,
  ErasureCount,
  ErasureRecipient,
  EventPage,
  EventRun,
  FeedEvent,
  FeedHead,
  FeedName,
  Heads,
  Hold,
  ProblemError,
  PropertyConsumer,
  PropertyConsumers,
  PropertyRemoval,
  PropertyState,
  PropertyTerms,
  Publisher,
  PublishReceipt,
  PublishWarning,
  ReceiptEvent,
  Restriction,
  ResultsReceipt,
  UnknownTime,
} from './wire.ts'
export { InvalidWebhookError, verifyWebhook } from './webhook.ts'
export type { VerifyOptions, WebhookMessage, WebhookRequest } from './webhook.ts'
