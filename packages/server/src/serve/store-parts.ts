import type { UsageStore } from '../usage/usage.ts'
import type { TenantStore } from '../tenants/tenant.ts'
import type { SilenceStore } from '../consumers/silence/silence.ts'
import type { RestrictionStore } from '../privacy/restriction/restriction.ts'
import type { PublicationStore } from '../publishing/history/publication.ts'
import type { NameStore } from '../audit/names/names.ts'
import type { LeavingStore } from '../tenants/leaving/leaving.ts'
import type { KeyStore } from '../keys/key.ts'
import type { HoldStore } from '../privacy/hold/hold.ts'
import type { ExpiryStore } from '../privacy/contact-expiry/contact-expiry.ts'
import type { EventStore } from '../events/event-log.ts'
import type { ErasureStore } from '../privacy/erasure/erasure.ts'
import type { DeletionStore } from '../tenants/deletion/deletion.ts'
import type { ConsumerStore } from '../consumers/consumer.ts'
import type { AuditStore } from '../audit/audit.ts'
import type { StorageEngine } from '../store/storage.ts'

/** The parts of the port that operations use as they are. */
export type StoreParts = {
  readonly tenants: TenantStore
  readonly audit: AuditStore
  readonly deletions: DeletionStore
  readonly consumers: ConsumerStore
  readonly erasures: ErasureStore
  readonly events: EventStore
  readonly expiry: ExpiryStore
  readonly holds: HoldStore
  readonly keys: KeyStore
  readonly leaving: LeavingStore
  readonly names: NameStore
  readonly publications: PublicationStore
  readonly restrictions: RestrictionStore
  readonly silence: SilenceStore
  readonly usage: UsageStore
}

export function storeParts(storage: StorageEngine): StoreParts {
  const { tenants, audit, consumers, deletions, erasures, events, expiry, holds } = storage
  const { keys, leaving, names, publications, restrictions, silence, usage } = storage
  return {
    tenants,
    audit,
    consumers,
    deletions,
    erasures,
    events,
    expiry,
    holds,
    keys,
    leaving,
    names,
    publications,
    restrictions,
    silence,
    usage,
  }
}
