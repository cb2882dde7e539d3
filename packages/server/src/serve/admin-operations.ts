/** The administration rows of the table of operations. */
import type { Composed } from './compose.ts'
import type { Operation } from '../http/operation.ts'
import { nameActor } from '../audit/names/routes.ts'
import { readAudit } from '../audit/routes.ts'
import { listConsumers, propertyDelivery } from '../consumers/routes/admin-consumers.ts'
import { getMaskedContact, readMaskedHistory, revealContact } from '../privacy/contacts/routes.ts'
import { deleteTenant, getDeletion, listDeletions } from '../tenants/deletion/routes.ts'
import { expectConsumer, expectPublisher } from '../consumers/silence/routes.ts'
import { tenantErasures } from '../privacy/erasure/admin-routes.ts'
import { listFaults } from '../consumers/routes/list-faults.ts'
import { listFeeds } from '../reading/routes/list-feeds.ts'
import { findAnywhere } from '../reading/search/find-anywhere-routes.ts'
import { importTenants } from '../tenants/routes/import-tenants.ts'
import { readHealth, readShownSettings } from '../nodes/routes.ts'
import { changeKey, createKey, getKey, listKeys, revokeKey, rotateOneKey } from '../keys/routes/keys.ts'
import { listProperties } from '../reading/search/properties-routes.ts'
import { listPublications } from '../publishing/history/admin-routes.ts'
import { readRate } from '../reading/routes/event-rate.ts'
import { propertyReads } from '../reading/routes/admin-reads.ts'
import { readSelf } from '../keys/routes/self.ts'
import { readTenantFacts } from '../tenants/routes/tenant-facts.ts'
import { readUsage } from '../usage/routes.ts'
import { changeTenant, createTenant, getTenant, listTenants } from '../tenants/routes/tenants.ts'

export function adminOperations(context: Composed): readonly Operation[] {
  return [
    readSelf(context),
    listTenants(context),
    createTenant(context),
    importTenants(context),
    getTenant(context),
    changeTenant(context),
    deleteTenant(context),
    listDeletions(context),
    getDeletion(context),
    listFeeds(context),
    readTenantFacts(context),
    listFaults(context),
    findAnywhere(context),
    readRate(context),
    listProperties(context),
    listPublications(context),
    getMaskedContact(context),
    readMaskedHistory(context),
    revealContact(context),
    ...propertyReads(context),
    propertyDelivery(context),
    listConsumers(context),
    expectPublisher(context),
    expectConsumer(context),
    ...tenantErasures(context),
    listKeys(context),
    createKey(context),
    getKey(context),
    changeKey(context),
    rotateOneKey(context),
    revokeKey(context),
    readUsage(context),
    readAudit(context),
    nameActor(context),
    readShownSettings(context),
    readHealth(context),
  ]
}
