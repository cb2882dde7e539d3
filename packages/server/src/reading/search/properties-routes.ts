/** `GET /v1/admin/tenants/{tenantId}/properties`: the properties of a tenant, and a search among them (PROTOCOL §12.5). */
import { setTimeout as delay } from 'node:timers/promises'
import { hasAtMost, parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { findProperties, findProperty, searchLimits, searchText } from './find-properties.ts'
import type { FoundProperties } from './find-properties.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome, Request } from '../../http/exchange.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import type { Operation } from '../../http/operation.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import { listBy, positionCursor } from '../../http/listed.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { KeyLimits } from '../../http/rate-limit/key-limits.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

/** What searching properties needs. */
export interface SearchContext extends TenantContext {
  readonly events: EventStore
  readonly keyLimits: KeyLimits
}

/** Characters of a text that is looked for. */
export const maxSearch = 100

const properties = listBy(positionCursor)

export function listProperties(context: SearchContext): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/properties',
    need: 'admin:inspect',
    operationId: 'listProperties',
    summary: 'List the properties of a tenant, or search them',
    description: `By their latest events, the newest first, removed ones included. \`search\`: the one with this \`agent_ref\`, else those whose address, postcode or reference has the text in it, without regard to case, accents, blanks and punctuation. One call looks at ${searchLimits.properties.toLocaleString('en')} properties at most, and for half a second at most: \`searched\` says at how many, and there may be more although \`items\` has few or none. Ask again with \`after\` = \`next\` until \`next\` is null. A node makes one search at a time.`,
    query: {
      ...properties.query,
      search: {
        type: 'string',
        minLength: 1,
        maxLength: maxSearch,
        description: 'An `agent_ref`, or a part of an address, postcode or reference.',
      },
    },
    ok: { description: 'Properties.', schema: 'Properties' },
    problems: ['overloaded'],
    read: (values, errors) => ({
      ...properties.read(values, errors),
      search: readSearch('search', values, errors),
    }),
    async answer({ request, tenant: { tenantId }, parameters: { after = 0, limit, search } }) {
      const key = { tenantId, feed: 'property' } as const
      const agentRef = search === undefined ? undefined : parseUuid(search)
      if (agentRef !== undefined) {
        const property = after > 0 ? undefined : await findProperty(context.events, key, agentRef)
        const found = property === undefined ? [] : [property]
        return propertiesAnswer({ found, next: undefined, searched: found.length })
      }
      const text = search === undefined ? undefined : searchText(search)
      const asked = { key, text, before: after === 0 ? undefined : after, limit }
      const find = () => findProperties(context.events, asked, () => performance.now())
      const answer = async (): Promise<Outcome> => propertiesAnswer(await find())
      return text === undefined ? answer() : searchInTurn(context, request, answer)
    },
  })
}

/** How long a search waits for the previous one. */
const waitMs = 5_000
const lookAgainMs = 20

/** A search reads as much as thousands of pages, so a node runs one at a time. */
export async function searchInTurn(
  { keyLimits }: Pick<SearchContext, 'keyLimits'>,
  { gone }: Request,
  search: () => Promise<Outcome>,
): Promise<Outcome> {
  const untilMs = performance.now() + waitMs
  for (;;) {
    const release = keyLimits.enterSearch()
    if (release !== undefined) {
      try {
        return await search()
      } finally {
        release()
      }
    }
    if (gone.aborted || performance.now() >= untilMs) {
      const detail = 'This node is running another search, and runs one at a time. Try again.'
      return refused({ code: 'overloaded', detail })
    }
    await delay(lookAgainMs)
  }
}

function propertiesAnswer({ found, next, searched }: FoundProperties): Outcome {
  return uncachedAnswer({
    items: found,
    next: next === undefined ? null : positionCursor.format(next),
    searched,
  })
}

/** `parameter`: its name. `undefined`: it was not given, or cannot be used. */
export function readSearch(
  parameter: string,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): string | undefined {
  const text = values.get(parameter)
  if (text === undefined) return undefined
  const search = text.trim()
  if (hasAtMost(search, maxSearch) && searchText(search) !== '') return search
  const message = `${quoteInput(text)} is not allowed; ${parameter} must have 1 to ${maxSearch} characters, with letters or digits among them.`
  errors.push({ parameter, code: 'not_allowed', message })
  return undefined
}
