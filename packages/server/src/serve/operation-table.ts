/** The table of operations: one row each. */
import type { AccessNeed } from '../http/access.ts'
import type { ParameterSchemas } from '../http/openapi/operation-schema.ts'
import { consumerParameter } from '../consumers/consumer-name.ts'
import { feedRead, minSequenceParameter } from '../reading/min-sequence.ts'
import { feedNames } from '@property-events/protocol'
import type { Deprecations, TableOptions } from './service-parts.ts'
import type { Composed } from './compose.ts'
import type { Operation } from '../http/operation.ts'
import { openApiText } from '../http/openapi/document.ts'
import { readReferencePage } from '../http/openapi/reference-page.ts'
import { consoleOperations } from '../console/routes/index.ts'
import { acknowledgeReading } from '../consumers/routes/acknowledge.ts'
import { adminPropertyTerms, propertyTerms } from '../consumers/routes/property-terms.ts'
import { propertyConsumers } from '../consumers/routes/property-consumers.ts'
import { putResults } from '../consumers/routes/put-results.ts'
import { erase } from '../privacy/erasure/erase-route.ts'
import { getErasure, listErasures } from '../privacy/erasure/routes.ts'
import { keepContact, listExpiring } from '../privacy/contact-expiry/routes.ts'
import { getExposure } from '../privacy/disclosure/routes.ts'
import { getEvent } from '../reading/routes/get-event.ts'
import { getPicture } from '../pictures/routes.ts'
import { getSubject, subjectHistory } from '../reading/routes/subject.ts'
import { readHeads } from '../reading/routes/heads.ts'
import { addHold, endHold, listHolds } from '../privacy/hold/routes.ts'
import { listEvents } from '../reading/routes/list-events.ts'
import { docs, openApi } from '../http/openapi/description-routes.ts'
import { listOwnPublications } from '../publishing/history/routes.ts'
import { listDuties, readTenantDuties } from '../publishing/duties/routes.ts'
import { publishEvents } from '../publishing/routes.ts'
import { readDigest } from '../reading/routes/read-digest.ts'
import { readEventRun } from '../reading/routes/read-run.ts'
import { readReductions } from '../privacy/retention/routes.ts'
import { readSnapshot } from '../reading/routes/read-snapshot.ts'
import { streamEvents } from '../live/stream-routes.ts'
import { madeOnce, staticDocument } from '../http/openapi/static-document.ts'
import { textDocuments } from '../http/openapi/text-documents.ts'
import {
  endRestriction,
  getRestriction,
  listRestrictions,
  restrictContact,
} from '../privacy/restriction/routes.ts'
import { nameActor } from '../audit/names/routes.ts'
import { readAudit } from '../audit/routes.ts'
import { listConsumers, propertyDelivery } from '../consumers/routes/admin-consumers.ts'
import { getMaskedContact, readMaskedHistory, revealContact } from '../privacy/contacts/routes.ts'
import { deleteTenant, getDeletion, listDeletions } from '../tenants/deletion/routes.ts'
import { expectConsumer, expectPublisher } from '../consumers/silence/routes.ts'
import { tenantErasures } from '../privacy/erasure/admin-routes.ts'
import { listFaults } from '../consumers/routes/list-faults.ts'
import { listFeeds, propertyReads } from '../reading/routes/admin-reads.ts'
import { findAnywhere } from '../reading/search/find-anywhere.ts'
import { importTenants } from '../tenants/routes/import-tenants.ts'
import { readHealth, readShownSettings } from '../nodes/routes.ts'
import { changeKey, createKey, getKey, listKeys, revokeKey, rotateOneKey } from '../keys/routes/keys.ts'
import { listProperties } from '../reading/search/properties-routes.ts'
import { listPublications } from '../publishing/history/routes.ts'
import { readRate } from '../reading/routes/event-rate.ts'
import { readSelf } from '../keys/routes/self.ts'
import { readTenantFacts } from '../tenants/routes/tenant-facts.ts'
import { readUsage } from '../usage/routes.ts'
import { adminWebhookOperations, webhookOperations } from '../webhooks/routes/index.ts'
import { changeTenant, createTenant, getTenant, listTenants } from '../tenants/routes/tenants.ts'

export function operationTable(context: Composed, options: TableOptions = {}): readonly Operation[] {
  const { deprecations = {}, pictures } = options
  const { basePath } = context
  const document = madeOnce(() =>
    staticDocument('application/json', openApiText(operations, basePath, headersOf)),
  )
  const page = madeOnce(readReferencePage)
  const rows: readonly Operation[] = [
    ...feedNames.flatMap((feed) => [listEvents(context, feed), getEvent(context, feed)]),
    ...feedNames.map((feed) => publishEvents(context, feed)),
    ...feedNames.flatMap((feed) => [
      readEventRun(context, feed),
      readSnapshot(context, feed),
      streamEvents(context, feed),
      readReductions(context, feed),
      readDigest(context, feed),
      getSubject(context, feed),
      subjectHistory(context, feed),
    ]),
    readHeads(context),
    listOwnPublications(context),
    listDuties(context),
    ...feedNames.map((feed) => acknowledgeReading(context, feed)),
    putResults(context),
    propertyConsumers(context),
    propertyTerms(context),
    ...webhookOperations(context),
    erase(context),
    listErasures(context),
    getErasure(context),
    addHold(context),
    listHolds(context),
    endHold(context),
    restrictContact(context),
    listRestrictions(context),
    getRestriction(context),
    endRestriction(context),
    listExpiring(context),
    keepContact(context),
    getExposure(context),
    ...adminOperations(context),
    openApi(context, document),
    docs(context, page),
  ]
  const operations = rows.map((operation) => withDeprecation(operation, deprecations))
  // Not in the document, because none is part of the contract.
  return [
    ...operations,
    ...textDocuments(context),
    ...(pictures === undefined ? [] : [getPicture(context, pictures)]),
    ...(context.door === undefined ? [] : consoleOperations(context, context.door)),
  ]
}

/** Reads of a feed take two headers more. */
function headersOf(access: AccessNeed | undefined): readonly ParameterSchemas[] {
  return feedRead(access) === undefined ? [] : [minSequenceParameter, consumerParameter]
}

function withDeprecation(operation: Operation, deprecations: Deprecations): Operation {
  const names = Object.keys(deprecations)
  if (names.length === 0) return operation
  const { operationId } = operation.schema()
  return { ...operation, deprecation: deprecations[operationId] }
}

/** The administration rows of the table of operations. */
function adminOperations(context: Composed): readonly Operation[] {
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
    readTenantDuties(context),
    getMaskedContact(context),
    readMaskedHistory(context),
    revealContact(context),
    ...propertyReads(context),
    propertyDelivery(context),
    adminPropertyTerms(context),
    listConsumers(context),
    expectPublisher(context),
    expectConsumer(context),
    ...tenantErasures(context),
    ...adminWebhookOperations(context),
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
