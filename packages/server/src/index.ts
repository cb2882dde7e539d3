/** The server as a library: what the command line, tests and embedders need. */
export { createService } from './start-service.ts'
export type { Service, ServiceOptions } from './http/service.ts'
export type { Finding, ShownSetting } from './http/recent-findings.ts'
export type { ListenOptions } from './http/prepare-service.ts'
export { defaultLimits } from './http/limits.ts'
export type { ServiceLimits } from './http/limits.ts'
export { createLogger } from './observability/log.ts'
export type { LogForm } from './observability/log.ts'
export { logLevels } from './observability/log-levels.ts'
export type { LogLevel } from './observability/log-levels.ts'
export { createPublisher } from './feed/publish.ts'
export type { PublishOutcome, PublishRequest, Publisher, PublisherOptions } from './feed/publish.ts'
export { defaultPublicationLimits, readPublication } from './feed/read-publication.ts'
export type { PublicationReading } from './feed/collect-drafts.ts'
export type { Publication } from './feed/read-publication.ts'
export { compactStore } from './feed/compacting.ts'
export type { Compaction } from './feed/compacting.ts'
export { removeRows } from './tenants/deletion/worker.ts'
export type { TenantExporter } from './tenants/deletion/worker.ts'
export { ErasureListFault, openErasureList, readErasureList } from './feed/erasure-list.ts'
export type { ErasureList, ListedErasure } from './feed/erasure-list.ts'
export { countMissing, replayErasures } from './feed/replay-erasures.ts'
export type { Replay } from './feed/replay-erasures.ts'
export { exposedContacts, unknownTimes } from './feed/exposure.ts'
export type { ExposedContact, ExposureQuery, TenantExposure, TimeSpan } from './feed/exposure.ts'
export { erasureRecipients } from './feed/erasure-recipients.ts'
export type { ErasureRecipient, ErasureRecipients } from './feed/erasure-recipients.ts'
export { placesOf, recipientsOf } from './feed/recipients.ts'
export type { Recipient } from './feed/recipients.ts'
export { expiryDayMs, expiryNoticeDays, listedContacts } from './privacy/contact-expiry/contact-expiry.ts'
export { countFeed, thinFeed } from './privacy/retention/worker.ts'
export { noRetention, retainedFeeds, tenantRules } from './privacy/retention/rules.ts'
export type { RetainedFeed, RetentionDefaults } from './privacy/retention/rules.ts'
export { certificateOf } from './http/operations/admin/deletion-certificate.ts'
export { readImport } from './http/requests/import-body.ts'
export { stoppedReaders } from './feed/stopped-readers.ts'
export type { StoppedReader } from './feed/stopped-readers.ts'
export { longestSetMs, shortestSetMs } from './consumers/silence/rules.ts'
export { moveBranch } from './feed/move-branch.ts'
export type { BranchMove, BranchMoveEnd, BranchMoveStep } from './feed/move-branch.ts'
export { isTenantName, tenantNameWords } from './http/requests/tenant-body.ts'
export { findProperties, findProperty, searchText } from './feed/find-properties.ts'
export type { FoundProperty } from './feed/find-properties.ts'
export { locatePage } from './feed/list.ts'
export type { LocatedPage, PageRequest } from './feed/list.ts'
export { linkLengthMs, makeLoginLink } from './console/sign-in.ts'
export type { ConsoleOptions } from './http/console/console-door.ts'
export * from './keys/index.ts'
export {
  acquireServingLock,
  backUpStore,
  checkEvents,
  inspectDatabase,
  inspectStore,
  openStorage,
  makeFolder,
  storeFileOf,
  takeFileLock,
} from './storage/open-storage.ts'
export { partialPathOf, writeNewFile } from './storage/new-file.ts'
export { oldPepperFileName, pepperFileName } from './data-folder.ts'
export type {
  EventsCheck,
  FileLock,
  OpenStorageOptions,
  StoreInspection,
  DatabaseInspection,
  InspectedStore,
  ReachedDatabase,
} from './storage/open-storage.ts'
export { CopyRefusal } from './tenants/compare.ts'
export type { CopiedFeed } from './tenants/compare.ts'
export { copyStore, eventsIn } from './tenants/copy.ts'
export { exporterTo, exportFor } from './tenants/export.ts'
export { moveTenant, reopenTenant } from './tenants/move/moving.ts'
export * from './storage/storage.ts'
export * from './storage/store-records.ts'
