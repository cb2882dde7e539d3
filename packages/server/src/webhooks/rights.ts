/** What an endpoint may read, beside what a key may read now. */
import { isDeepStrictEqual } from 'node:util'
import { contactFields, feeds, usualContactFields } from '@property-events/protocol'
import type { ContactLimits, FeedName } from '@property-events/protocol'
import type { KeyVerdict } from '../keys/index.ts'
import type { Grant } from '../keys/key.ts'
import type { EndpointRecord, EndpointRights } from './endpoint.ts'

/** As much of an endpoint as says what it reads. */
interface ReadingEndpoint extends Pick<EndpointRecord, 'tenantId' | 'rights'> {
  readonly settings: Pick<EndpointRecord['settings'], 'feed'>
}

/** What the holder of a grant reads of a feed, as an endpoint records it. */
export function rightsOf({ branches, contact }: Grant, feed: FeedName): EndpointRights {
  return feed === 'property' ? { ...(branches && { branches }) } : { ...(contact && { contact }) }
}

/** Whether the grant has the feed's scope for webhooks, and reads all that the endpoint reads. */
export function maySeeEndpoint(
  grant: Grant,
  { tenantId, settings: { feed }, rights }: ReadingEndpoint,
): boolean {
  return (
    grant.tenantId === tenantId &&
    grant.scopes.includes(feeds[feed].webhooksScope) &&
    coversRights(rightsOf(grant, feed), rights)
  )
}

/** The same for a grant from which the endpoint is to be sent events: it reads the feed, too. */
export function maySendFor(grant: Grant, endpoint: ReadingEndpoint): boolean {
  return grant.scopes.includes(feeds[endpoint.settings.feed].readScope) && maySeeEndpoint(grant, endpoint)
}

export type SendingRight = 'granted' | 'viewBeingMade' | 'lost'

/**
 * Whether an endpoint is sent events, by what its key may do now. Other branches than those that it was made with end it, also more of
 * them: its own view is kept only while a grant names just these.
 */
export function sendingRight(verdict: KeyVerdict, endpoint: ReadingEndpoint): SendingRight {
  if (verdict.kind !== 'valid') return 'lost'
  const { grants, viewsBeingMade } = verdict.key
  const { branches } = endpoint.rights
  const granted = grants.find((grant) => maySendFor(grant, endpoint))
  if (granted === undefined) return 'lost'
  if (branches === undefined) return 'granted'
  if (!isDeepStrictEqual(granted.branches, branches)) return 'lost'
  return viewsBeingMade.includes(endpoint.tenantId) ? 'viewBeingMade' : 'granted'
}

/** Whether everything in `wanted` is in `held`. */
export function coversRights(held: EndpointRights, wanted: EndpointRights): boolean {
  return (
    isWithin(wanted.branches, held.branches) &&
    isWithin(wanted.contact?.roles, held.contact?.roles) &&
    isWithin(fieldsOf(wanted.contact), fieldsOf(held.contact))
  )
}

function fieldsOf(limits: ContactLimits | undefined): readonly string[] {
  return limits === undefined ? contactFields : (limits.fields ?? usualContactFields)
}

/** `undefined`: everything. */
function isWithin(wanted: readonly string[] | undefined, held: readonly string[] | undefined): boolean {
  if (held === undefined) return true
  return wanted !== undefined && wanted.every((one) => held.includes(one))
}
