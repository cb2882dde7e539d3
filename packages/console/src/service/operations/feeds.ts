/** The reads of a feed, by either door: as its consumers read it (PROTOCOL §3, §11), or with the tenant in the path (§12.5), and publishing. */
import type { FeedName, Query } from '../../base.ts'
import type {
  DutyCounts,
  DutyLists,
  EventPage,
  EventRun,
  FeedEvent,
  Heads,
  PropertyConsumers,
  PublishReceipt,
} from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** A feed, and how it is read. The door `admin` has only the property feed. */
export interface FeedAddress {
  readonly tenantId: string
  readonly feed: FeedName
  readonly door: 'own' | 'admin'
}

/** The paths of each read at the two doors, for the property feed. The contact feed has `Contact` instead. */
interface Read {
  readonly own: Readonly<Record<FeedName, string>>
  /** Below `/v1/admin/tenants/{tenantId}`. */
  readonly admin: string
}

const reads = {
  list: {
    own: {
      property: '/api/func/api/v1/events/getevents',
      contact: '/api/func/api/v1/contactevents/getevents',
    },
    admin: '/events/getevents',
  },
  get: {
    own: {
      property: '/api/func/api/v1/events/geteventbyid/{eventId}',
      contact: '/api/func/api/v1/contactevents/geteventbyid/{eventId}',
    },
    admin: '/events/geteventbyid/{eventId}',
  },
  run: {
    own: { property: '/v1/property-events', contact: '/v1/contact-events' },
    admin: '/property-events',
  },
  latest: {
    own: { property: '/v1/properties/{subjectId}', contact: '/v1/contacts/{subjectId}' },
    admin: '/properties/{subjectId}',
  },
  history: {
    own: {
      property: '/v1/properties/{subjectId}/history',
      contact: '/v1/contacts/{subjectId}/history',
    },
    admin: '/properties/{subjectId}/history',
  },
} as const satisfies Readonly<Record<string, Read>>

function read<T>(
  address: FeedAddress,
  { own, admin }: Read,
  parts: readonly string[],
  query?: Query,
): Operation<T> {
  const { tenantId, feed, door } = address
  const asked = query === undefined ? {} : { query }
  if (door === 'own') {
    return { path: pathOf(own[feed], ...parts), tenant: tenantId, ...asked }
  }
  return { path: pathOf(`/v1/admin/tenants/{tenantId}${admin}`, tenantId, ...parts), ...asked }
}

interface PageQuery {
  /** `salesproperty`, `lettingsproperty`; the whole feed without it. */
  readonly apiEventType?: string | undefined
  readonly page: number
  readonly pageSize: number
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A page of the contract's list, oldest first. */
export function listEvents(address: FeedAddress, query: PageQuery): Operation<EventPage> {
  return read(address, reads.list, [], { ...query })
}

export function getEvent(address: FeedAddress, eventId: string): Operation<FeedEvent> {
  return read(address, reads.get, [eventId])
}

interface RunQuery {
  readonly after: number
  readonly limit: number
  readonly epoch?: string | undefined
  readonly apiEventType?: string | undefined
  /** Short codes separated by commas. Removals are never left out (PROTOCOL §13.4). */
  readonly types?: string | undefined
}

/** The events after a number. */
export function readEvents(address: FeedAddress, query: RunQuery): Operation<EventRun> {
  return read(address, reads.run, [], { ...query })
}

/** The latest event of a property or contact. */
export function getSubject(address: FeedAddress, subjectId: string): Operation<FeedEvent> {
  return read(address, reads.latest, [subjectId])
}

/** All events of a property or contact, oldest first, starting at a number. */
export function readHistory(
  address: FeedAddress,
  subjectId: string,
  query: { readonly after?: number; readonly limit?: number } = {},
): Operation<EventRun> {
  return read(address, reads.history, [subjectId], { ...query })
}

/** The positions of the feeds that the session's key reads; with `since`, once one of them has changed, or after `wait` seconds. */
export function readHeads(
  tenantId: string,
  query: { readonly since?: string; readonly wait?: number } = {},
): Operation<Heads> {
  return { path: '/v1/heads', tenant: tenantId, query: { ...query } }
}

/** Who has seen a property (PROTOCOL §14.6). */

/** What became of its latest event at each consumer, for those who look after the tenant. */
export function getPropertyDelivery(tenantId: string, agentRef: string): Operation<PropertyConsumers> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/properties/{agentRef}/delivery', tenantId, agentRef)
  return { path }
}

/** The same for a key of feeds: a key that publishes sees all consumers, one that reads sees itself. */
export function getPropertyConsumers(tenantId: string, agentRef: string): Operation<PropertyConsumers> {
  const path = pathOf('/v1/properties/{subjectId}/consumers', agentRef)
  return { path, tenant: tenantId }
}

/** Publishing, and dry runs (PROTOCOL §4). */

/** The service's answer; a dry run has no numbers. */
export type Receipt = Pick<PublishReceipt, 'events' | 'warnings'>

/** `text`: JSON of one event or of an array of events. */
export function publish(tenantId: string, feed: FeedName, text: string, isDry: boolean): Operation<Receipt> {
  const query = isDry ? { query: { dryRun: 'true' } } : {}
  return { path: `/v1/${feed}-events`, method: 'POST', tenant: tenantId, text, ...query }
}

/** The properties shown now that do not fit a duty by law, for a key that publishes or reads them. */
export function listDuties(tenantId: string, after?: string): Operation<DutyLists> {
  const path = '/v1/property-events/duties'
  return { path, query: { after }, tenant: tenantId }
}

/** The same as counts, for those who look after an agency. */
export function readTenantDuties(tenantId: string, after?: string): Operation<DutyCounts> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/duties', tenantId)
  return { path, query: { after } }
}
