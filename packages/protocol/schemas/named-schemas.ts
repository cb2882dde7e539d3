/**
 * The named schemas of the description of the service (`openapi.json`), which are also what the types in TypeScript are made of
 * (`generators/wire-types.ts`). What serves reads them from `named-schemas.json`, which `npm run openapi` writes: TypeBox is a tool of development.
 */
import { ContactPayload } from '../src/payload/contact.ts'
import { PropertyPayload } from '../src/payload/property.ts'
import { actors, audit } from './audit.ts'
import { consumers } from './consumer.ts'
import { expiringContacts, maskedContacts } from './contact.ts'
import { deletions } from './deletion.ts'
import { digest } from './digest.ts'
import { disclosures } from './disclosure.ts'
import { dutyCounts } from './duty.ts'
import { erasures } from './erasure.ts'
import { events, reducedEvents } from './event.ts'
import { withExamples } from './generators/examples.ts'
import { holds } from './hold.ts'
import { keys } from './key.ts'
import { namedPayloads } from './generators/payload-parts.ts'
import { problemSchemas } from './problem.ts'
import { found, properties } from './property.ts'
import { publications } from './publication.ts'
import { publishHistory } from './publish-history.ts'
import { receipts } from './receipt.ts'
import { restrictions } from './restriction.ts'
import { faults, service } from './service.ts'
import { feedRate, tenantFacts, tenants } from './tenant.ts'
import { propertyTerms } from './terms.ts'
import { webhooks } from './webhook.ts'

const payloads = namedPayloads({ PropertyPayload, ContactPayload })

/** By the name they are referred to by, in the document's order. */
export const namedSchemas = {
  ...events,
  PropertyPayload: payloads.PropertyPayload,
  ContactPayload: payloads.ContactPayload,
  ...payloads.parts,
  ...publications,
  ...publishHistory,
  ...dutyCounts,
  ...digest,
  ...consumers,
  ...propertyTerms,
  ...webhooks,
  ...erasures,
  ...holds,
  ...restrictions,
  ...expiringContacts,
  ...disclosures,
  ...reducedEvents,
  ...service,
  ...actors,
  ...tenants,
  ...properties,
  ...feedRate,
  ...maskedContacts,
  ...audit,
  ...faults,
  ...tenantFacts,
  ...found,
  ...keys,
  ...deletions,
  ...receipts,
  ...problemSchemas,
} as const

export type SchemaName = keyof typeof namedSchemas

/** The text of the committed `named-schemas.json`. */
export function namedSchemasText(): string {
  return `${JSON.stringify(withExamples(namedSchemas), null, 2)}\n`
}
