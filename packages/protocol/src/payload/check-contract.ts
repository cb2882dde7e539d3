import { acceptsContactPayload } from '../../schemas/contact-payload.check.ts'
import contactSchema from '../../schemas/contact-payload.schema.json' with { type: 'json' }
import { acceptsPropertyPayload } from '../../schemas/property-payload.check.ts'
import propertySchema from '../../schemas/property-payload.schema.json' with { type: 'json' }
import { missingRemedy } from './fault-remedies.ts'
import { findFaults, maxFaults } from './find-faults.ts'
import type { PayloadFault } from './find-faults.ts'
import { isRecord } from './member-at.ts'
import { propertyAdvice } from './property-advice.ts'

/**
 * Checks a property payload against the contract, which it must keep to be stored: the types of the spec (§2.3 to
 * §2.7). An empty array, or the first 20 faults. Expects a result of `JSON.parse`, without dangerous keys.
 *
 * Valid payloads are the rule and cost only TypeBox's check, compiled ahead of time (`check-files.ts`): 600,000 freshly
 * parsed payloads of 5.2 kB a second on one core (JSON.parse of the same: 190,000; measured manually).
 *
 * @param options.publishedRequired True when the event names no type, which is then derived from `published` (D12).
 */
export function checkPropertyPayload(
  value: unknown,
  options: { readonly publishedRequired: boolean },
): PayloadFault[] {
  const faults = acceptsPropertyPayload(value) ? [] : findFaults(propertySchema, value, propertyAdvice)
  if (options.publishedRequired && faults.length < maxFaults && lacksPublished(value)) {
    faults.push(missingPublished(value))
  }
  return faults
}

/**
 * Checks a contact payload against the contract, which it must keep to be stored. An empty array, or the first 20
 * faults. Messages name pointers and kinds and never repeat a value, which is personal data (D18).
 */
export function checkContactPayload(value: unknown): PayloadFault[] {
  return acceptsContactPayload(value) ? [] : findFaults(contactSchema, value)
}

function missingPublished(value: Readonly<Record<string, unknown>>): PayloadFault {
  const message =
    'published must be present and be true or false, unless the event names its type in eventType'
  const remedy = missingRemedy('published', value, Object.keys(propertySchema.properties))
  return { pointer: '/published', code: 'missing', message: `${message}${remedy === '' ? '.' : remedy}` }
}

/** False for a value that is not an object: that fault is reported once, for the payload itself. */
function lacksPublished(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && (value['published'] === undefined || value['published'] === null)
}
