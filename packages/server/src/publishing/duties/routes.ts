/**
 * `GET /v1/property-events/duties` and `GET /v1/admin/tenants/{tenantId}/duties`: how many properties that are shown now do not fit a duty by
 * law (PROTOCOL §4.13).
 */
import type { DutyCounts, DutyLists } from '@property-events/protocol/wire'
import { feedKeyOf } from '../../http/access.ts'
import { uncachedAnswer } from '../../http/exchange.ts'
import { keyedOperation } from '../../http/keyed-operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { listBy } from '../../http/listed.ts'
import type { RowCursor } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { readParameters } from '../../http/requests/query.ts'
import { searchLimits } from '../../reading/search/find-properties.ts'
import { searchInTurn } from '../../reading/search/properties-routes.ts'
import type { SearchContext } from '../../reading/search/properties-routes.ts'
import { tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import { countDuties, mostRefs } from './count-duties.ts'
import type { CountedDuties, DutiesCursor, DutiesQuery } from './count-duties.ts'

interface Context extends SearchContext {
  readonly limits: ServiceLimits
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

const cursorPattern = /^(lettings|sales)\.([0-9]{1,16})$/
const dutiesCursor: RowCursor<DutiesCursor> = {
  form: { pattern: cursorPattern.source },
  parse(text) {
    const [, category, number] = cursorPattern.exec(text) ?? []
    const after = Number(number)
    if (!Number.isSafeInteger(after)) return undefined
    return { category: category === 'sales' ? 'sales' : 'lettings', after }
  },
  format: ({ category, after }) => `${category}.${after}`,
}
const { query: listQuery, parseAfter } = listBy(dutiesCursor)
const query = { after: listQuery.after } as const

const howLong = `One call looks at some ${searchLimits.properties.toLocaleString('en')} properties, and for half a second: ask again with \`after\` = \`next\` until \`next\` is null, and add the counts up. A node makes one such count at a time. If the operator has switched duties off for the tenant, \`advised\` is false and nothing is counted.`

export function listDuties(context: Context): Operation {
  return keyedOperation({
    method: 'GET',
    path: '/v1/property-events/duties',
    scope: 'property:publish',
    orScope: 'property:read',
    tag: 'Publishing',
    operationId: 'listDuties',
    summary: 'List the properties that do not fit a duty by law',
    description: `Of properties that are shown now, by their latest events, of the branches that the key is limited to: how many do not fit each duty in force that receipts warn of, and the first ${mostRefs} of them. ${howLong}`,
    query: { type: 'object', properties: query },
    ok: { description: 'The duties, in the order in which receipts warn of them.', schema: 'DutyLists' },
    problems: ['overloaded'],

    prepare(target) {
      const reading = readParameters(target.query, Object.keys(query), context.limits, parseAfter)
      if (reading.kind === 'refused') return () => reading
      const from = reading.parameters
      return async (request, access) => {
        const { tenantId } = feedKeyOf(access, 'property')
        if (access.withoutDuties === true) return uncachedAnswer(notAdvised)
        const { branches } = access
        return searchInTurn(context, request, async () => {
          const counted = await count(context, { tenantId, branches, from })
          return uncachedAnswer(dutyLists(counted))
        })
      }
    },
  })
}

export function readTenantDuties(context: Context): Operation {
  return tenantOperation(context, {
    method: 'GET',
    path: '/tenants/:tenantId/duties',
    need: 'admin:inspect',
    operationId: 'readTenantDuties',
    summary: 'Count the properties of a tenant that do not fit a duty by law',
    description: `Of properties that are shown now, by their latest events, for each duty in force that receipts warn of; no references. ${howLong}`,
    query,
    ok: { description: 'The duties, in the order in which receipts warn of them.', schema: 'DutyCounts' },
    problems: ['overloaded'],
    read: parseAfter,
    answer({ request, tenant: { tenantId, withoutDuties }, parameters: from }) {
      if (withoutDuties === true) return uncachedAnswer(notAdvised)
      return searchInTurn(context, request, async () => {
        const { items, ...others } = dutyLists(await count(context, { tenantId, branches: undefined, from }))
        const counts: DutyCounts = { ...others, items: items.map(({ refs: _refs, ...item }) => item) }
        return uncachedAnswer(counts)
      })
    },
  })
}

type Asked = Pick<DutiesQuery, 'branches' | 'from'> & { readonly tenantId: string }

function count({ events, clock }: Context, { tenantId, ...asked }: Asked): Promise<CountedDuties> {
  const key = { tenantId, feed: 'property' } as const
  return countDuties(events, { key, ...asked, nowMs: clock() }, () => performance.now())
}

const notAdvised: DutyLists & DutyCounts = { advised: false, items: [], properties: 0, next: null }

function dutyLists({ counts, properties, next }: CountedDuties): DutyLists {
  return {
    advised: true,
    items: counts.map(({ duty: { code, sentence, source, inForceFrom }, ...count }) => ({
      code,
      sentence,
      source,
      inForceFrom,
      properties: count.properties,
      refs: count.refs,
    })),
    properties,
    next: next === undefined ? null : dutiesCursor.format(next),
  }
}
