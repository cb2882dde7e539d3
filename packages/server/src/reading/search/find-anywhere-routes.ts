/** `GET /v1/admin/find`: where something is that was pasted, over all tenants (PROTOCOL §12.12). */
import { parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { FoundThing as ThingAnswer, FoundThings } from '@property-events/protocol/wire'
import { findId, findText } from './find-anywhere.ts'
import type { FoundAnywhere, FoundThing, SearchCursor } from './find-anywhere.ts'
import { searchLimits, searchText } from './find-properties.ts'
import { parseEventJson } from '../../events/event-json.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import type { Operation } from '../../http/operation.ts'
import { adminAnswer, adminOperation } from '../../http/admin/admin-operation.ts'
import { readableTenant } from '../../tenants/routes/tenant-operation.ts'
import { limitSchema, readLimit } from '../../http/admin/list-parameters.ts'
import { maxSearch, readSearch, searchInTurn } from './properties-routes.ts'
import type { LastPublished } from '../../publishing/last-published.ts'
import type { SearchContext } from './properties-routes.ts'

interface Context extends SearchContext {
  readonly lastPublished: LastPublished
}

/** Of a tenant and of a position in its feed. */
const placePattern = /^([0-9a-z]{1,11})\.([0-9a-z]{0,11})$/

export function findAnywhere(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/find',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'findAnywhere',
    summary: 'Find something in the feeds of all tenants',
    description: `\`text\`: a UUID, of a property, contact or event; or a part of an address, postcode or reference of a property, without regard to case, accents, blanks and punctuation. Tenants are searched in the order in which they were made. One call takes half a second at most, and reads ${searchLimits.properties.toLocaleString('en')} properties at most: \`searched\` says how many tenants were searched, of how many, and there may be more although \`items\` has few or none. Ask again with \`after\` = \`next\` until \`next\` is null. A node makes one search at a time.`,
    query: {
      text: { type: 'string', minLength: 1, maxLength: maxSearch, description: 'What is looked for.' },
      limit: limitSchema,
      after: {
        type: 'string',
        pattern: placePattern.source,
        description: 'The `next` of the previous answer, unchanged.',
      },
    },
    required: ['text'],
    ok: { description: 'What was found.', schema: 'FoundThings' },
    problems: ['overloaded'],
    read: (values, errors) => ({
      text: readText(values, errors),
      after: readPlace(values, errors),
      limit: readLimit(values, errors),
    }),
    answer({ request, parameters: { text, ...query } }) {
      const { events, tenants } = context
      const store = {
        events,
        tenantsAfter: (place: number, limit: number) => tenants.tenantsAfter(place, limit),
      }
      const clock = () => performance.now()
      const id = parseUuid(text.trim())
      return searchInTurn(context, request, async () => {
        const found =
          id === undefined
            ? await findText(store, searchText(text), query, clock, searchLimits)
            : await findId(store, id, query, clock, searchLimits)
        const readable = await Promise.all(found.found.map((one) => isReadable(context, one)))
        const shown = found.found.filter((_, n) => readable[n])
        return adminAnswer(
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
    next: next === undefined ? null : `${next.tenant.toString(36)}.${next.before?.toString(36) ?? ''}`,
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

function readPlace(values: ReadonlyMap<string, string>, errors: ProblemError[]): SearchCursor {
  const text = values.get('after')
  const start = { tenant: 0, before: undefined }
  if (text === undefined) return start
  const [, tenant = '', before = ''] = placePattern.exec(text) ?? []
  const place = {
    tenant: Number.parseInt(tenant, 36),
    before: before === '' ? undefined : Number.parseInt(before, 36),
  }
  if (Number.isSafeInteger(place.tenant) && Number.isSafeInteger(place.before ?? 0)) return place
  const message = `${quoteInput(text)} is not a place in this search; send the "next" of the previous answer, unchanged.`
  errors.push({ parameter: 'after', code: 'not_a_place', message })
  return start
}
