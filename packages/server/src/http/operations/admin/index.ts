/** The administration rows of the table of operations. */
import type { HttpContext } from '../../context.ts'
import type { Operation } from '../operation.ts'
import { nameActor } from './actor-names.ts'
import { readAudit } from './audit.ts'
import { listConsumers, propertyDelivery } from './consumers.ts'
import { getMaskedContact, readMaskedHistory, revealContact } from './contacts.ts'
import { deleteTenant, getDeletion, listDeletions } from './deletions.ts'
import { expectConsumer, expectPublisher } from './expected-intervals.ts'
import { tenantErasures } from './erasures.ts'
import { listFaults } from './faults.ts'
import { listFeeds } from './feeds.ts'
import { findAnywhere } from './find-anywhere.ts'
import { importTenants } from './import-tenants.ts'
import { readHealth, readShownSettings } from './inspect-service.ts'
import { changeKey, createKey, getKey, listKeys, revokeKey, rotateOneKey } from './keys.ts'
import { listProperties } from './properties.ts'
import { listPublications } from './publications.ts'
import { readRate } from './rate.ts'
import { propertyReads } from './reads.ts'
import { readSelf } from './self.ts'
import { readTenantFacts } from './tenant-facts.ts'
import { readUsage } from './usage.ts'
import { changeTenant, createTenant, getTenant, listTenants } from './tenants.ts'

export function adminOperations(context: HttpContext): readonly Operation[] {
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
