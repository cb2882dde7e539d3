/**
 * Looks for something in the feeds of all tenants, one tenant after another in the order of their making, and no longer than one call may take
 * (PROTOCOL §12.12). An id is a few probes of an index in each tenant. A text has no index: the latest events are read, as in a search of one.
 */
import { uncachedAnswer } from '../../http/exchange.ts'
import { parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { FoundProperty, FoundThing as ThingAnswer, FoundThings } from '@property-events/protocol/wire'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import type { EventStore, StoredEvent } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Tenant, TenantCursor } from '../../tenants/tenant.ts'
import { findProperties, findProperty, searchLimits, searchText } from './find-properties.ts'
import type { SearchLimits } from './find-properties.ts'
import { parseEventJson } from '../../events/event-json.ts'
import { listBy, positionCursor } from '../../http/listed.ts'
import type { RowCursor } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { adminOperation } from '../../http/admin-operation.ts'
import { readableTenant } from '../../tenants/routes/tenant-operation.ts'
import { maxSearch, readSearch, searchInTurn } from './properties-routes.ts'
import type { SearchContext } from './properties-routes.ts'
import type { LastPublished } from '../../publishing/last-published.ts'

/** Where a search goes on: within the tenant after `tenant`, before `before`; `undefined`: from its newest property on. */
interface SearchCursor {
  readonly tenant: number
  readonly before: number | undefined
}

const beginning: SearchCursor = { tenant: 0, before: undefined }

type FoundThing =
  | { readonly kind: 'property'; readonly tenant: Tenant; readonly property: FoundProperty }
  | { readonly kind: 'contact'; readonly tenant: Tenant; readonly contactRef: string }
  | {
      readonly kind: 'event'
      readonly tenant: Tenant
      readonly feed: FeedKey['feed']
      readonly event: StoredEvent
    }

interface FoundAnywhere {
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
async function findId(
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
async function findText(
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

interface Context extends SearchContext {
  readonly lastPublished: LastPublished
}

/** Of a tenant and of a position in its feed. */
const cursorPattern = /^([0-9a-z]{1,11})\.([0-9a-z]{0,11})$/
const searchCursor: RowCursor<SearchCursor> = {
  form: { pattern: cursorPattern.source },
  parse(text) {
    const [, tenantText = '', beforeText = ''] = cursorPattern.exec(text) ?? []
    const [tenant, before] = [positionCursor.parse(tenantText), positionCursor.parse(beforeText)]
    const isWhole = tenant !== undefined && (before !== undefined || beforeText === '')
    return isWhole ? { tenant, before } : undefined
  },
  format: ({ tenant, before }) =>
    `${positionCursor.format(tenant)}.${before === undefined ? '' : positionCursor.format(before)}`,
}
const things = listBy(searchCursor)

/** `GET /v1/admin/find`: where something is that was pasted, over all tenants (PROTOCOL §12.12). */
export function findAnywhere(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/find',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'findAnywhere',
    summary: 'Search the feeds of all tenants',
    description: `\`text\`: a UUID, of a property, contact or event; or a part of an address, postcode or reference of a property, without regard to case, accents, blanks and punctuation. Tenants are searched in the order in which they were created. One call takes half a second at most, and reads ${searchLimits.properties.toLocaleString('en')} properties at most: \`searched\` says how many tenants were searched, of how many, and there may be more although \`items\` has few or none. Ask again with \`after\` = \`next\` until \`next\` is null. A node makes one search at a time.`,
    query: {
      text: { type: 'string', minLength: 1, maxLength: maxSearch, description: 'What is looked for.' },
      ...things.query,
    },
    required: ['text'],
    ok: { description: 'What was found.', schema: 'FoundThings' },
    problems: ['overloaded'],
    read: (values, errors) => ({
      text: readText(values, errors),
      ...things.read(values, errors),
    }),
    answer({ request, parameters: { text, limit, after = beginning } }) {
      const { events, tenants } = context
      const store = {
        events,
        tenantsAfter: (place: number, limit: number) => tenants.tenantsAfter(place, limit),
      }
      const clock = () => performance.now()
      const id = parseUuid(text.trim())
      const query = { limit, after }
      return searchInTurn(context, request, async () => {
        const found =
          id === undefined
            ? await findText(store, searchText(text), query, clock, searchLimits)
            : await findId(store, id, query, clock, searchLimits)
        const readable = await Promise.all(found.found.map((one) => isReadable(context, one)))
        const shown = found.found.filter((_, n) => readable[n])
        return uncachedAnswer(
          shownSearch({ ...found, found: shown }, (await context.lastPublished.sorted()).length),
        )
      })
    },
  })
}

/** Of a tenant that is being deleted nothing is to be read any more. */
async function isReadable(context: Context, { tenant }: FoundThing): Promise<boolean> {
  return !('kind' in (await readableTenant(context, tenant.tenantId)))
}

function shownSearch({ found, next, tenants, properties }: FoundAnywhere, of: number): FoundThings {
  return {
    items: found.map(shownThing),
    next: next === undefined ? null : searchCursor.format(next),
    searched: { tenants, of, properties },
  }
}

const noMembers = {
  agentRef: null,
  contactRef: null,
  live: null,
  address: null,
  postcode: null,
  reference: null,
}

function shownThing(thing: FoundThing): ThingAnswer {
  const { kind, tenant } = thing
  const found = { kind, tenantId: tenant.tenantId, tenantName: tenant.name, ...noMembers }
  if (thing.kind === 'contact') return { ...found, feed: 'contact', contactRef: thing.contactRef, ...noEvent }
  if (thing.kind === 'property') {
    const { agentRef, live, address, postcode, reference, sequenceNumber, eventTypeShortCode } =
      thing.property
    return {
      ...found,
      feed: 'property',
      agentRef,
      live,
      address,
      postcode,
      reference,
      sequenceNumber,
      eventTypeShortCode,
    }
  }
  const { sequenceNumber, eventTypeShortCode } = parseEventJson(Buffer.from(thing.event.json).toString())
  return { ...found, feed: thing.feed, sequenceNumber, eventTypeShortCode }
}

const noEvent = { sequenceNumber: null, eventTypeShortCode: null }

function readText(values: ReadonlyMap<string, string>, errors: ProblemError[]): string {
  if (!values.has('text')) {
    errors.push({ parameter: 'text', code: 'missing', message: 'text is missing; it says what to look for.' })
    return ''
  }
  return readSearch('text', values, errors) ?? ''
}
