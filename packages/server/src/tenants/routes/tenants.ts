/** `/v1/admin/tenants`: listing, searching, making and changing tenants (PROTOCOL §12). */
import { hasAtMost } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { randomUUID } from 'node:crypto'
import { withoutAccents } from '../../reading/search/find-properties.ts'
import type { Tenant, TenantCursor } from '../tenant.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { success } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readNewTenant, readTenantChange } from './tenant-body.ts'
import type { Operation } from '../../http/operation.ts'
import { withReadBody } from '../../http/requests/read-body.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { noTenant, tenantOperation } from './tenant-operation.ts'
import { listBy, positionCursor } from '../../http/listed.ts'
import { reachedTenants } from '../../keys/access/reach.ts'
import { lastPublishOrder, lastPublishedAt, publishCursor, tenantsByPublish } from './tenants-by-publish.ts'
import type { OrderedTenant, TenantOrderContext } from './tenants-by-publish.ts'
import { tenantMembers, tenantView } from './tenant-answer.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { TenantViewContext } from './tenant-answer.ts'
import type { TenantContext } from './tenant-operation.ts'

interface Context extends TenantContext, TenantViewContext, TenantOrderContext, BodyContext {
  readonly basePath: string
}

const maxSearch = 100
/** The number of tenants read at a time during a search. */
const stepOfSearch = 1_000

const byCreation = listBy(positionCursor)
const byPublish = listBy(publishCursor)

export function listTenants(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/tenants',
    need: 'admin:inspect',
    operationId: 'listTenants',
    summary: 'List tenants',
    description:
      'In order of creation; with `order=lastPublish` those that published last come first, each with `lastPublishedAt`, as of some seconds ago. `search`: those whose name, reference or id has the text in it, without regard to case and accents. Repeat with `after` = `next` until `next` is null.',
    query: {
      limit: byCreation.query.limit,
      after: { ...byCreation.query.after, pattern: '^[0-9a-z.-]{1,60}$' },
      order: {
        type: 'string',
        enum: ['created', lastPublishOrder],
        default: 'created',
        description: 'In which order.',
      },
      search: {
        type: 'string',
        minLength: 1,
        maxLength: maxSearch,
        description: 'A part of a name, reference or id.',
      },
    },
    ok: { description: 'The tenants that the key may see.', schema: 'Tenants' },
    read: readTenantsQuery,
    async answer({ access, parameters }) {
      const reached = reachedTenants(access, 'admin:inspect')
      const matches = ({ tenant }: TenantCursor): boolean =>
        (reached === undefined || reached.includes(tenant.tenantId)) && isFound(tenant, parameters.search)
      const plain = reached === undefined && parameters.search === undefined
      const { limit } = parameters
      if (parameters.order !== 'created') {
        const all = { after: 0, limit: Number.MAX_SAFE_INTEGER }
        const wanted = plain ? undefined : byId(await tenantsWith(context, all, matches))
        return orderedAnswer(context, await tenantsByPublish(context, parameters.after, limit, wanted), limit)
      }
      const { after = 0 } = parameters
      const found = await tenantsWith(context, { after, limit }, plain ? undefined : matches)
      const { items, next } = byCreation.page(found, limit, ({ place }) => place)
      const tenants = items.map(({ tenant }) => tenant)
      const show = await tenantView(context, tenants)
      return uncachedAnswer({ items: tenants.map(show), next })
    },
  })
}

function readTenantsQuery(values: ReadonlyMap<string, string>, errors: ProblemError[]) {
  const search = readSearch(values, errors)
  const order = values.get('order') ?? 'created'
  if (order === lastPublishOrder) return { ...byPublish.read(values, errors), search, order } as const
  if (order !== 'created') {
    const message = `${quoteInput(order)} is not allowed; order must be created or ${lastPublishOrder}.`
    errors.push({ parameter: 'order', code: 'not_allowed', message })
  }
  return { ...byCreation.read(values, errors), search, order: 'created' } as const
}

function byId(found: readonly TenantCursor[]): ReadonlyMap<string, Tenant> {
  return new Map(found.map(({ tenant }) => [tenant.tenantId, tenant]))
}

async function orderedAnswer(
  context: Context,
  found: readonly OrderedTenant[],
  limit: number,
): Promise<Outcome> {
  const { items, next } = byPublish.page(found, limit, ({ created, tenantId }) => ({ created, tenantId }))
  const show = await tenantView(
    context,
    items.map(({ tenant }) => tenant),
  )
  const shown = items.map((one) => ({ ...show(one.tenant), lastPublishedAt: lastPublishedAt(one) }))
  return uncachedAnswer({ items: shown, next })
}

/**
 * Returns one more than the limit, if there are more. Without a condition this is one read of an index; otherwise it walks through all
 * tenants.
 */
async function tenantsWith(
  { tenants }: Context,
  { after, limit }: { readonly after: number; readonly limit: number },
  matches: ((item: TenantCursor) => boolean) | undefined,
): Promise<readonly TenantCursor[]> {
  if (matches === undefined) return tenants.tenantsAfter(after, limit + 1)
  const found: TenantCursor[] = []
  for (let place = after; ;) {
    const step = await tenants.tenantsAfter(place, stepOfSearch)
    found.push(...step.filter(matches))
    const last = step.at(-1)
    if (found.length > limit || last === undefined || step.length < stepOfSearch) return found
    place = last.place
  }
}

function isFound({ tenantId, name, reference = '' }: Tenant, search: string | undefined): boolean {
  if (search === undefined) return true
  return [tenantId, name, reference].some((text) => withoutAccents(text).includes(search))
}

/** In lower case, without accents. */
function readSearch(values: ReadonlyMap<string, string>, errors: ProblemError[]): string | undefined {
  const text = values.get('search')
  if (text === undefined) return undefined
  const search = withoutAccents(text.trim())
  if (search !== '' && hasAtMost(search, maxSearch)) return search
  const message = `${quoteInput(text)} is not allowed; search must have 1 to ${maxSearch} characters.`
  errors.push({ parameter: 'search', code: 'not_allowed', message })
  return undefined
}

export function createTenant(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'POST',
    path: '/tenants',
    need: 'admin:manage',
    operatorsOnly: true,
    operationId: 'createTenant',
    summary: 'Create a tenant',
    description: 'No two tenants have the same name or reference.',
    body: 'NewTenant',
    ok: { status: success.created, description: 'The new tenant.', schema: 'Tenant' },
    problems: ['tenant_exists'],
    answer: (asked) =>
      withReadBody(context, asked, readNewTenant, async ({ tenantId = randomUUID(), name, reference }) => {
        const tenant: Tenant = {
          tenantId,
          name,
          createdMs: Date.now(),
          suspended: false,
          ...(reference === undefined ? {} : { reference }),
        }
        const outcome = await context.tenants.createTenant(tenant, actorOf(asked.access))
        if (outcome !== 'created') return conflict(outcome)
        const location = `${context.basePath}/v1/admin/tenants/${tenantId}`
        return uncachedAnswer(tenantMembers(tenant), success.created, { location })
      }),
  })
}

export function getTenant(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/tenants/:tenantId',
    need: 'admin:inspect',
    whileDeleting: true,
    operationId: 'getTenant',
    summary: 'Get a tenant',
    description: 'Its name, reference and state: whether it is suspended, leaving, or being deleted.',
    ok: { description: 'The tenant.', schema: 'Tenant' },
    answer: async ({ tenant }) => uncachedAnswer((await tenantView(context, [tenant]))(tenant)),
  })
}

export function changeTenant(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'PATCH',
    path: '/tenants/:tenantId',
    need: 'admin:manage',
    operationId: 'changeTenant',
    summary: 'Change the name, the reference or the state of a tenant',
    description:
      'What is left out stays. `suspended` refuses all its keys within 2 seconds, or lets them work again; false also keeps a tenant that was leaving. `duties` says whether its receipts warn of duties by law, within 2 seconds on every node. A key of the tenant can change only its name.',
    body: 'TenantChange',
    ok: { description: 'The tenant as it is now.', schema: 'Tenant' },
    problems: ['tenant_exists'],
    answer: ({ request, access, tenant: { tenantId } }) =>
      withReadBody(context, { request, access }, readTenantChange, async (change) => {
        const { reference, suspended, duties } = change
        const isOperators = [reference, suspended, duties].some((value) => value !== undefined)
        if (isOperators && !access.adminScopes.includes('admin:manage')) {
          const detail = 'Only an operator can change more than the name of a tenant.'
          return refused({ code: 'missing_scope', detail })
        }
        const outcome = await context.tenants.changeTenant(tenantId, change, actorOf(access))
        if (outcome.kind === 'changed') {
          // A leaving tenant stays after all (PROTOCOL §5.10).
          if (suspended === false) await context.leaving.end(tenantId, actorOf(access))
          return uncachedAnswer((await tenantView(context, [outcome.tenant]))(outcome.tenant))
        }
        return outcome.kind === 'unknownTenant' ? noTenant : conflict(outcome.kind)
      }),
  })
}

function conflict(what: 'exists' | 'nameTaken' | 'referenceTaken'): Outcome {
  const member = { exists: 'id', nameTaken: 'name', referenceTaken: 'reference' }[what]
  return refused({ code: 'tenant_exists', detail: `Another tenant has this ${member}. Nothing was changed.` })
}

export function actorOf({ keyId = '' }: Access): `key:${string}` {
  return `key:${keyId}`
}
