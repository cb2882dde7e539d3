/** Makes subjects of the feed from a publisher's own references that are not UUIDs (D16). */
import type { Category } from './feeds.ts'
import { uuidV5 } from './uuid.ts'

/** What distinguishes one property of a tenant from all others, in the publisher's words. */
export interface OwnReference {
  /** Lower-case UUID. */
  readonly tenantId: string
  /** Empty where references are unique in the whole agency. */
  readonly branch: string
  /** A home both for sale and to let is two subjects. */
  readonly channel: Category
  readonly reference: string
}

/**
 * The `agent_ref` of a property whose own reference is not a UUID: the UUID version 5 (RFC 9562) whose namespace is the
 * tenant's id and whose name is branch, channel and reference with a line feed between them, in UTF-8. The same parts
 * give the same UUID for ever, in any program. No part may contain a line feed.
 */
export function subjectReference({ tenantId, branch, channel, reference }: OwnReference): string {
  return uuidV5(tenantId, [branch, channel, reference].join('\n'))
}

/** What to do about a subject that is not a UUID; a sentence for errors, without its full stop. */
export const ownReferenceRemedy =
  'Send the UUIDv5 of your own reference, which `property-events reference` makes, and keep yours in service_reference'
