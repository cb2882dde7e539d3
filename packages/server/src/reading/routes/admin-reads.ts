/**
 * The reads of property events (PROTOCOL §3 and §11) for a tenant in the path. They are the same operations and do not know the path.
 * They are strict, like all of administration: a parameter that they would ignore is refused (D19).
 */
import { feedNames, feeds, formatTicks, parseUuid } from '@property-events/protocol'
import type { FeedState } from '@property-events/protocol/wire'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import type { Headers, Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { capital, keyedProblems } from '../../http/openapi/responses.ts'
import { readQuery } from '../../http/requests/query.ts'
import { getEvent } from './get-event.ts'
import type { GetEventContext } from './get-event.ts'
import { getSubject, subjectHistory } from './subject.ts'
import type { HistoryContext, SubjectContext } from './subject.ts'
import { listEvents } from './list-events.ts'
import type { ListEventsContext } from './list-events.ts'
import type { Operation, OperationSchema } from '../../http/operation.ts'
import { readReductions } from '../../privacy/retention/routes.ts'
import type { ReductionsContext } from '../../privacy/retention/routes.ts'
import { readEventRun } from './read-run.ts'
import type { EventRunContext } from './read-run.ts'
import { readSnapshot } from './read-snapshot.ts'
import type { SnapshotContext } from './read-snapshot.ts'
import { noParameters, paramsOf } from '../../http/admin-operation.ts'
import {
  noTenant,
  notTenantId,
  readableTenant,
  tenantOperation,
} from '../../tenants/routes/tenant-operation.ts'
import { reaches } from '../../keys/access/reach.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { EventStore } from '../../events/event-log.ts'

interface Context
  extends
    TenantContext,
    ListEventsContext,
    GetEventContext,
    EventRunContext,
    SnapshotContext,
    ReductionsContext,
    SubjectContext,
    HistoryContext {
  readonly limits: ServiceLimits
}

export function propertyReads(context: Context): readonly Operation[] {
  const reads = [listEvents, getEvent, readEventRun, readSnapshot, readReductions, getSubject, subjectHistory]
  return reads.map((read) => ofTenant(context, read(context, 'property')))
}

/** `/api/func/api/v1/events/getevents` becomes `/v1/admin/tenants/{tenantId}/events/getevents`. */
function pathOf(path: string): string {
  return `/v1/admin/tenants/:tenantId${path.replace(/^\/(?:api\/func\/api\/)?v1/, '')}`
}

function ofTenant(context: TenantContext, operation: Operation): Operation {
  const names = Object.keys(atOnce(operation.schema()).querystring?.properties ?? {})
  const rules = { names, style: 'own', maxParameters: context.limits.maxParameters } as const
  return {
    ...operation,
    path: pathOf(operation.path),
    access: { scope: 'admin:inspect', refusal: 'own' },
    schema: () => schemaOf(atOnce(operation.schema())),
    // No request waits here: a waiting request is checked by its key's grants, and an operator's key has none.
    waits: () => false,

    prepare({ query, params: [given = '', ...params] }) {
      const tenantId = parseUuid(given)
      const { errors } = readQuery(query, rules)
      if (tenantId === undefined) {
        return () => invalidParameters(notTenantId, ...errors)
      }
      if (errors.length > 0) return () => invalidParameters(...errors)
      const call = operation.prepare({ query, params })
      return async (request, access) => {
        if (!reaches(access, 'admin:inspect', tenantId)) return noTenant
        const tenant = await readableTenant(context, tenantId)
        if ('kind' in tenant) return tenant
        const outcome = call(request, within(access, tenantId))
        return mapMaybePromise(outcome, withoutStorage)
      }
    },
  }
}

/** The schema without `wait`. */
function atOnce(schema: OperationSchema): OperationSchema {
  const { properties = {} } = schema.querystring ?? {}
  const { wait: _, ...others } = properties
  return schema.querystring === undefined
    ? schema
    : { ...schema, querystring: { ...schema.querystring, properties: others } }
}

/** The access of a key with only this tenant. */
function within(access: Access, tenantId: string): Access {
  return { ...access, tenantId, grants: [{ tenantId, scopes: ['property:read'] }], branches: undefined }
}

/** What an operator reads was sent to no consumer. */
function withoutStorage(outcome: Outcome): Outcome {
  if (!('headers' in outcome)) return outcome
  const headers = uncachedHeaders(outcome.headers)
  return 'delivered' in outcome ? { ...outcome, headers, delivered: undefined } : { ...outcome, headers }
}

/** Equal headers share one object, because their lines are kept. */
const headersCache = new WeakMap<Headers, Headers>()

function uncachedHeaders(headers: Headers): Headers {
  const found = headersCache.get(headers)
  if (found !== undefined) return found
  const made = { ...headers, 'cache-control': 'no-store' }
  headersCache.set(headers, made)
  return made
}

function schemaOf(schema: OperationSchema): OperationSchema {
  const names = Object.keys(schema.params?.properties ?? {})
  return {
    ...schema,
    operationId: `admin${capital(schema.operationId)}`,
    summary: `Of a tenant: ${schema.summary.charAt(0).toLowerCase()}${schema.summary.slice(1)}`,
    tags: ['Administration'],
    params: paramsOf(['tenantId', ...names], schema.params?.properties),
    response: {
      ...strict(schema.response),
      ...keyedProblems(
        'missing_scope',
        'tenant_not_found',
        'event_not_found',
        'subject_not_found',
        'epoch_changed',
        'cursor_beyond_head',
        'overloaded',
        'tenant_moving',
        'too_many_snapshots',
        'sequence_not_reached',
      ),
    },
  }
}

/** Nothing is ignored here, so no header names ignored parameters. */
function strict(response: OperationSchema['response']): OperationSchema['response'] {
  return Object.fromEntries(
    Object.entries(response).map(([status, { headers, ...others }]) => {
      const named = Object.entries(headers).filter(([name]) => name !== 'x-ignored-parameters')
      return [status, { ...others, headers: Object.fromEntries(named) }]
    }),
  )
}

interface FeedListContext extends TenantContext {
  readonly events: EventStore
}

/** `GET /v1/admin/tenants/{tenantId}/feeds`: the state of a tenant's feeds (PROTOCOL §12). */
export function listFeeds(context: FeedListContext): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/tenants/:tenantId/feeds',
    need: 'admin:inspect',
    operationId: 'listFeeds',
    summary: 'Get the state of the feeds of a tenant',
    description:
      'Head, epoch, revision, how many events each view has, how many properties or contacts are there now, and the time of the last event.',
    ok: { description: 'Both feeds.', schema: 'FeedStates' },
    async answer({ tenant: { tenantId } }) {
      const found = await context.events.counts(tenantId)
      const states = await Promise.all(
        feedNames.map((feed) => {
          const live = found.find(({ key }) => key.feed === feed)?.live ?? 0
          return stateOf(context, { tenantId, feed }, live)
        }),
      )
      const items = states.filter((state) => state !== undefined)
      return items.length === 0 ? noTenant : uncachedAnswer({ items, next: null })
    },
  })
}

async function stateOf(
  { events }: Pick<FeedListContext, 'events'>,
  key: FeedKey,
  live: number,
): Promise<FeedState | undefined> {
  const { feed } = key
  const views = Object.entries(feeds[feed].apiEventTypes)
  const located = await Promise.all(views.map(([, view]) => events.locate({ key, view })))
  const head = located[0]?.head
  if (head === undefined) return undefined
  const counts = views.map(([name], index) => [name, located[index]?.range.count ?? 0])
  return {
    feed,
    sequenceNumber: head.sequenceNumber,
    epoch: head.epoch,
    revision: head.revision,
    counts: Object.fromEntries(counts),
    live,
    lastPublishedAt: head.created === undefined ? null : `${formatTicks(head.created)}Z`,
  }
}
