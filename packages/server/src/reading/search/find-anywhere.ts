/**
 * Looks for something in the feeds of all tenants, one tenant after another in the order of their making, and no longer than one call may take
 * (PROTOCOL §12.12). An id is a few probes of an index in each tenant. A text has no index: the latest events are read, as in a search of one.
 */
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import type { EventStore, StoredEvent } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Tenant, TenantCursor } from '../../tenants/tenant.ts'
import { findProperties, findProperty } from './find-properties.ts'
import type { FoundProperty, SearchLimits } from './find-properties.ts'

/** Where a search goes on: within the tenant after `tenant`, before `before`; `undefined`: from its newest property on. */
export interface SearchCursor {
  readonly tenant: number
  readonly before: number | undefined
}

export type FoundThing =
  | { readonly kind: 'property'; readonly tenant: Tenant; readonly property: FoundProperty }
  | { readonly kind: 'contact'; readonly tenant: Tenant; readonly contactRef: string }
  | {
      readonly kind: 'event'
      readonly tenant: Tenant
      readonly feed: FeedKey['feed']
      readonly event: StoredEvent
    }

export interface FoundAnywhere {
  readonly found: readonly FoundThing[]
  /** `undefined`: all tenants were looked through. */
  readonly next: SearchCursor | undefined
  /** How many tenants this call has looked through to their end. */
  readonly tenants: number
  /** How many properties it has read. */
  readonly properties: number
}

interface AnywhereQuery {
  readonly after: SearchCursor
  readonly limit: number
}

interface SearchedStore {
  readonly events: Pick<EventStore, 'readEvent' | 'readLatest' | 'readNewest'>
  /** In the order of their making. */
  readonly tenantsAfter: (place: number, limit: number) => Promise<readonly TenantCursor[]>
}

/** Tenants that are read together. Each of them is asked four things about an id. */
const tenantsPerStep = 32

/** What has this id: a property, a contact, or an event of either. */
export async function findId(
  { events, tenantsAfter }: SearchedStore,
  id: string,
  { after, limit }: AnywhereQuery,
  /** Milliseconds; never set back. */
  clock: () => number,
  { ms }: Pick<SearchLimits, 'ms'>,
): Promise<FoundAnywhere> {
  const untilMs = clock() + ms
  const found: FoundThing[] = []
  let place = after.tenant
  for (let tenants = 0; ;) {
    const step = await tenantsAfter(place, tenantsPerStep)
    found.push(...(await Promise.all(step.map(({ tenant }) => findIdIn(events, tenant, id)))).flat())
    tenants += step.length
    place = step.at(-1)?.place ?? place
    if (step.length < tenantsPerStep) return { found, next: undefined, tenants, properties: 0 }
    const isOver = found.length >= limit || clock() >= untilMs
    if (isOver) return { found, next: { tenant: place, before: undefined }, tenants, properties: 0 }
    await yieldForStep()
  }
}

async function findIdIn(
  events: SearchedStore['events'],
  tenant: Tenant,
  id: string,
): Promise<readonly FoundThing[]> {
  const { tenantId } = tenant
  const [properties, contacts] = [
    { tenantId, feed: 'property' },
    { tenantId, feed: 'contact' },
  ] as const
  const [property, contact, ...found] = await Promise.all([
    findProperty(events, properties, id),
    events.readLatest(contacts, id),
    events.readEvent(properties, id),
    events.readEvent(contacts, id),
  ])
  return [
    ...(property === undefined ? [] : [{ kind: 'property', tenant, property } as const]),
    ...(contact === undefined ? [] : [{ kind: 'contact', tenant, contactRef: id } as const]),
    ...found.flatMap((event, n) => {
      const feed = n === 0 ? 'property' : 'contact'
      return event === undefined ? [] : [{ kind: 'event', tenant, feed, event } as const]
    }),
  ]
}

/** Properties whose address, postcode or reference has the text in it, as `searchText` makes it. */
export async function findText(
  { events, tenantsAfter }: SearchedStore,
  text: string,
  { after, limit }: AnywhereQuery,
  clock: () => number,
  limits: SearchLimits,
): Promise<FoundAnywhere> {
  const untilMs = clock() + limits.ms
  const found: FoundThing[] = []
  let { tenant: place, before } = after
  let [tenants, properties] = [0, 0]
  for (;;) {
    const step = await tenantsAfter(place, tenantsPerStep)
    for (const next of step) {
      const { tenant } = next
      const key = { tenantId: tenant.tenantId, feed: 'property' } as const
      const wanted = { key, text, before, limit: limit - found.length }
      const rest = { properties: limits.properties - properties, ms: untilMs - clock() }
      const answer = await findProperties(events, wanted, clock, rest)
      found.push(...answer.found.map((property) => ({ kind: 'property', tenant, property }) as const))
      properties += answer.searched
      before = answer.next
      if (before === undefined) {
        place = next.place
        tenants += 1
      }
      const isOver =
        before !== undefined || found.length >= limit || properties >= limits.properties || clock() >= untilMs
      if (isOver) return { found, next: { tenant: place, before }, tenants, properties }
    }
    if (step.length < tenantsPerStep) return { found, next: undefined, tenants, properties }
  }
}
