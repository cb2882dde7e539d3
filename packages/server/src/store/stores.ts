/** The stores of all features. The writer's thread loads this module too, and finds their writes by name. */
import { nameStore } from '../audit/names/store.ts'
import { auditStore } from '../audit/store.ts'
import { consoleSessionStore } from '../console/store.ts'
import { consumerStore } from '../consumers/store.ts'
import { silenceStore } from '../consumers/silence/store.ts'
import { keyStore } from '../keys/store.ts'
import { maintenanceStore } from '../maintenance/store.ts'
import { nodeStore } from '../nodes/store.ts'
import { contactExpiryStore } from '../privacy/contact-expiry/store.ts'
import { holdStore } from '../privacy/hold/store.ts'
import { disclosureStore } from '../privacy/disclosure/store.ts'
import { publicationStore } from '../publishing/history/store.ts'
import type { Erasing } from '../privacy/erasure/erasure.ts'
import { erasureStore } from '../privacy/erasure/store.ts'
import type { Restricting } from '../privacy/restriction/restriction.ts'
import { restrictionStore } from '../privacy/restriction/store.ts'
import type { Thinning } from '../privacy/retention/retention.ts'
import { retentionRuleStore } from '../privacy/retention/store.ts'
import { momentStore } from '../reading/current/store.ts'
import { deletionStore } from '../tenants/deletion/store.ts'
import type { TenantExport } from '../tenants/move/move.ts'
import { moveStore } from '../tenants/move/store.ts'
import { leavingStore } from '../tenants/leaving/store.ts'
import { tenantStore } from '../tenants/store.ts'
import { webhookStore } from '../webhooks/store.ts'
import { usageStore } from '../usage/store.ts'
import type { StoreAccess } from '../sql/database.ts'

/** What features ask of the log, each engine in its own way. */
interface LogWork {
  /** Of the store that the log is in: the audit says which was rewritten. */
  readonly storeId: string
  /** Whether several nodes may serve it at the same time. */
  readonly isShared: boolean
  readonly exporting: TenantExport
  readonly erasing: Erasing
  readonly restricting: Restricting
  readonly thinning: Thinning
}

/** As `StorageEngine` has them. */
export function featureStores(access: StoreAccess, log: LogWork) {
  return {
    erasures: { ...erasureStore(access, log.storeId), ...log.erasing },
    restrictions: { ...restrictionStore(access), ...log.restricting },
    retention: { ...retentionRuleStore(access), ...log.thinning },
    audit: auditStore(access),
    consoleSessions: consoleSessionStore(access),
    consumers: consumerStore(access),
    deletions: deletionStore(access),
    expiry: contactExpiryStore(access),
    holds: holdStore(access),
    keys: keyStore(access),
    leaving: leavingStore(access),
    ledger: disclosureStore(access),
    ...maintenanceStore(access),
    moments: momentStore(access),
    moves: { ...moveStore(access), ...log.exporting },
    names: nameStore(access),
    nodes: nodeStore(access, log.isShared),
    publications: publicationStore(access),
    silence: silenceStore(access),
    tenants: tenantStore(access),
    usage: usageStore(access),
    webhooks: webhookStore(access, log.isShared),
  }
}
