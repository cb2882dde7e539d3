/** The server as a library: what the command line, tests and embedders need. */
export { createService } from './serve/start-service.ts'
export type { Service, ServiceOptions } from './serve/service.ts'
export type { Finding, ShownSetting } from './nodes/recent-findings.ts'
export type { ListenOptions } from './http/transport/listening.ts'
export { defaultLimits, defaultPublicationLimits } from './http/limits.ts'
export type { ServiceLimits } from './http/limits.ts'
export { everySecret, resealSecrets } from './webhooks/reseal.ts'
export { openSecret } from './webhooks/secret.ts'
export type { WebhookOptions } from './webhooks/receiver.ts'
export { createLogger } from './runtime/log/log.ts'
export type { LogForm } from './runtime/log/log.ts'
export { logLevels } from './runtime/log/log-text.ts'
export type { LogLevel } from './runtime/log/log-text.ts'
export { createPublisher } from './publishing/publish.ts'
export type { PublishOutcome, PublishRequest, Publisher, PublisherOptions } from './publishing/publish.ts'
export { readPublication } from './publishing/read-publication.ts'
export type { Publication, PublicationReading } from './publishing/read-publication.ts'
export { compactStore } from './privacy/erasure/compact.ts'
export type { Compaction } from './privacy/erasure/compact.ts'
export { removeRows } from './tenants/deletion/worker.ts'
export type { TenantExporter } from './tenants/deletion/worker.ts'
export { ErasureListFault, openErasureList, readErasureList } from './privacy/erasure/journal.ts'
export type { ErasureList, ListedErasure } from './privacy/erasure/journal.ts'
export { countMissing, replayErasures } from './privacy/erasure/replay-erasures.ts'
export type { Replay } from './privacy/erasure/replay-erasures.ts'
export { disclosedContacts, unknownTimes } from './privacy/disclosure/disclosures.ts'
export type {
  DisclosedContact,
  DisclosuresQuery,
  TenantDisclosures,
  TimeSpan,
} from './privacy/disclosure/disclosures.ts'
export { erasureRecipients } from './privacy/erasure/erasure-recipients.ts'
export type { ErasureRecipient, ErasureRecipients } from './privacy/erasure/erasure-recipients.ts'
export { placesOf, recipientsOf } from './privacy/disclosure/recipients.ts'
export type { Recipient } from './privacy/disclosure/recipients.ts'
export { expiryDayMs, expiryNoticeDays, listedContacts } from './privacy/contact-expiry/contact-expiry.ts'
export { countFeed, thinFeed } from './privacy/retention/worker.ts'
export { noRetention, retainedFeeds, tenantRules } from './privacy/retention/rules.ts'
export type { RetainedFeed, RetentionDefaults } from './privacy/retention/rules.ts'
export { certificateOf } from './tenants/deletion/certificate.ts'
export { readImport } from './tenants/routes/import-body.ts'
export { stoppedReaders } from './consumers/list-consumers.ts'
export type { StoppedReader } from './consumers/list-consumers.ts'
export { longestSetMs, shortestSetMs } from './consumers/silence/rules.ts'
export { moveBranch } from './tenants/move-branch.ts'
export type { BranchMove, BranchMoveEnd, BranchMoveStep } from './tenants/move-branch.ts'
export { isTenantName, tenantNameWords } from './tenants/routes/tenant-body.ts'
export { findProperties, findProperty, searchText } from './reading/search/find-properties.ts'
export { locatePage } from './reading/list.ts'
export type { LocatedPage, PageRequest } from './reading/list.ts'
export { linkLengthMs, makeLoginLink } from './console/sign-in.ts'
export type { ConsoleOptions } from './console/files.ts'
export * from './keys/index.ts'
export {
  acquireServingLock,
  backUpStore,
  checkEvents,
  inspectDatabase,
  inspectStore,
  openStorage,
  makeFolder,
  servedAt,
  storeFileOf,
  takeFileLock,
} from './store/open-storage.ts'
export { partialPathOf, writeNewFile } from './store/new-file.ts'
export { oldPepperFileName, pepperFileName } from './runtime/files.ts'
export type {
  EventsCheck,
  FileLock,
  OpenStorageOptions,
  StoreInspection,
  DatabaseInspection,
  InspectedStore,
  ReachedDatabase,
  ServedAt,
} from './store/open-storage.ts'
export { CopyRefusal } from './transfer/compare.ts'
export type { CopiedFeed } from './transfer/compare.ts'
export { copyStore, eventsIn } from './transfer/copy.ts'
export { exporterTo, exportFor } from './transfer/export.ts'
export { moveTenant, reopenTenant } from './transfer/move-tenant.ts'
export type * from './store/storage.ts'
export type * from './tenants/tenant.ts'
export type * from './events/append/append-batch.ts'
export type { Actor } from './audit/actor.ts'
export type * from './audit/audit.ts'
export * from './events/branches/branch-view.ts'
export * from './events/branches/branch-view-store.ts'
export * from './console/session.ts'
export type * from './tenants/deletion/deletion.ts'
export * from './consumers/consumer.ts'
export type * from './privacy/erasure/erasure.ts'
export { epochWeight } from './events/epochs.ts'
export type * from './events/event-log.ts'
export type * from './privacy/contact-expiry/contact-expiry.ts'
export * from './events/feed-key.ts'
export * from './keys/granted-branches.ts'
export * from './privacy/hold/hold.ts'
export { isNetwork } from './keys/allowed-networks.ts'
export * from './keys/key.ts'
export type * from './tenants/leaving/leaving.ts'
export * from './privacy/disclosure/disclosure.ts'
export type { LiveQuery, LiveStep, LiveSubject } from './events/live-subjects.ts'
export * from './maintenance/maintenance.ts'
export * from './reading/current/moment.ts'
export type { MoveState } from './events/feed.ts'
export type * from './tenants/move/move.ts'
export * from './audit/names/names.ts'
export type * from './nodes/node.ts'
export * from './privacy/restriction/restriction.ts'
export { payloadState } from './events/append/reduced-event.ts'
export * from './publishing/history/publication.ts'
export * from './privacy/retention/retention.ts'
export * from './consumers/silence/silence.ts'
export * from './sql/storage-errors.ts'
export * from './usage/usage.ts'
export type { HeldSnapshot, PoolState, StoreObserver, StoreWork } from './sql/store-observer.ts'
export type * from './events/epochs.ts'
export * from './store/store-records.ts'
