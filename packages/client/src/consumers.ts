/** Consumers of a feed: what they report about themselves, and who has seen what (PROTOCOL §14). */
import type { CallOptions, Connection } from './connection.ts'
import { isObject } from './decode.ts'
import { InvalidOptionError } from './errors.ts'
import { openAnswer, requestJson } from './http/requests.ts'
import { shiftPointer } from './publish.ts'
import { AccessError, NotFoundError } from './service-errors.ts'
import type { AppliedPosition } from './sync/acknowledgement-state.ts'
import { feedPaths } from './wire.ts'
import type {
  Consumer,
  ConsumerResult,
  ProblemError,
  PropertyConsumers,
  PropertyTerms,
  Publisher,
  ResultsReceipt,
} from './wire.ts'

/** The publisher of a feed, and its consumers. */
export interface FeedConsumers {
  readonly publisher: Publisher
  readonly consumers: readonly Consumer[]
}

/** The longest that a consumer waits for an answer that it does not need. */
const acknowledgeMs = 5_000

/** Makes one attempt only, because the next acknowledgement covers more. Rejects as every call does. */
export async function acknowledge(
  connection: Connection,
  { sequenceNumber, epoch }: AppliedPosition,
  { signal }: CallOptions = {},
): Promise<void> {
  const body = JSON.stringify({ sequenceNumber, epoch })
  const path = `${consumerPath(connection)}/acknowledged`
  const request = { method: 'PUT', path, body, contentType: 'application/json' } as const
  const answer = await openAnswer(connection, request, signal, connection.now() + acknowledgeMs)
  answer.close()
}

/** The most results that one request may have. */
const resultsPerRequest = 1_000

/**
 * Reports what became of properties, in as few requests as the limit allows, one after the other. A repeat changes nothing, so each
 * request is sent until it is stored. If the call fails half-way, you can send everything again. Pointers of faults count from the first
 * result given.
 */
export async function report(
  connection: Connection,
  results: readonly ConsumerResult[],
  { signal }: CallOptions = {},
): Promise<ResultsReceipt> {
  if (connection.feed !== 'property') {
    throw new InvalidOptionError('report is about properties; this client reads the contact feed.')
  }
  let stored = 0
  const unknown = new Set<string>()
  for (let from = 0; from < results.length; from += resultsPerRequest) {
    const body = JSON.stringify(results.slice(from, from + resultsPerRequest))
    const path = `${consumerPath(connection)}/results`
    const request = {
      method: 'POST',
      path,
      body,
      contentType: 'application/json',
      mapFault: (fault: ProblemError) => shiftPointer(from, fault),
    } as const
    const { value } = await requestJson(connection, request, decodeResultsReceipt, signal)
    stored += value.stored
    for (const agentRef of value.unknown) unknown.add(agentRef)
  }
  return { stored, unknown: [...unknown] }
}

function consumerPath({ feed, consumer = 'default' }: Connection): string {
  return `${feedPaths[feed].consumers}${encodeURIComponent(consumer)}`
}

function decodeResultsReceipt(value: unknown): ResultsReceipt | undefined {
  if (!isObject(value) || typeof value['stored'] !== 'number' || !Array.isArray(value['unknown']))
    return undefined
  const unknown = value['unknown'].filter((one) => typeof one === 'string')
  return unknown.length === value['unknown'].length ? { stored: value['stored'], unknown } : undefined
}

/** `undefined` if the feed has no event of the property. */
export function getDelivery(
  connection: Connection,
  agentRef: string,
  { signal }: CallOptions = {},
): Promise<PropertyConsumers | undefined> {
  const paths = { own: 'consumers', admin: 'delivery' }
  return ofProperty(connection, agentRef, paths, ({ path }) =>
    requestJson(connection, { method: 'GET', path }, decodeDelivery, signal),
  )
}

/** `undefined` if the feed has no event of the property. `at`: in the forms of a list's `to`; now, if it is left out. */
export function getTerms(
  connection: Connection,
  agentRef: string,
  { at, signal }: TermsOptions = {},
): Promise<PropertyTerms | undefined> {
  const query = at === undefined ? {} : { at }
  return ofProperty(connection, agentRef, { own: 'terms', admin: 'terms' }, ({ path }) =>
    requestJson(connection, { method: 'GET', path, query }, decodeTerms, signal),
  )
}

/** Options of `terms`. */
export interface TermsOptions extends CallOptions {
  /** A time such as `2027-01-31T09:30:00Z`, or a day, which means its end. UTC. Default: now. */
  readonly at?: string
}

/** If the key neither reads nor publishes and the client has a tenant, it asks as an operator would: two requests at most. */
async function ofProperty<T>(
  { tenant }: Connection,
  agentRef: string,
  { own, admin }: { readonly own: string; readonly admin: string },
  request: (asked: { readonly path: string }) => Promise<{ readonly value: T }>,
): Promise<T | undefined> {
  const reference = encodeURIComponent(agentRef)
  try {
    try {
      return (await request({ path: `${feedPaths.property.subjects}${reference}/${own}` })).value
    } catch (error) {
      const mayInspect =
        error instanceof AccessError && error.code === 'missing_scope' && tenant !== undefined
      if (!mayInspect) throw error
      return (await request({ path: `/v1/admin/tenants/${tenant}/properties/${reference}/${admin}` })).value
    }
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'subject_not_found') return undefined
    throw error
  }
}

/** The publisher of a feed, and its consumers. Needs `admin:inspect`, or `tenant:inspect` for its own tenant. Two requests at most. */
export async function listConsumers(
  connection: Connection,
  { signal }: CallOptions = {},
): Promise<FeedConsumers> {
  const tenant = connection.tenant ?? (await ownTenant(connection, signal))
  const path = `/v1/admin/tenants/${tenant}/consumers`
  const request = { method: 'GET', path, query: { feed: connection.feed } } as const
  return (await requestJson(connection, request, decodeConsumers, signal)).value
}

/** The one tenant that the key inspects. */
async function ownTenant(connection: Connection, signal: AbortSignal | undefined): Promise<string> {
  const request = { method: 'GET', path: '/v1/admin/self' } as const
  const { value } = await requestJson(connection, request, decodeTenants, signal)
  const [tenant] = value
  if (tenant !== undefined && value.length === 1) return tenant
  throw new InvalidOptionError(
    `Name the tenant: this key inspects ${value.length === 0 ? 'none of its own' : `${value.length} tenants`}.`,
  )
}

function decodeTenants(value: unknown): readonly string[] | undefined {
  if (!isObject(value) || !Array.isArray(value['grants'])) return undefined
  return value['grants'].flatMap((grant: unknown) => {
    if (!isObject(grant) || !Array.isArray(grant['scopes'])) return []
    const { tenantId, scopes } = grant
    return typeof tenantId === 'string' && scopes.includes('tenant:inspect') ? [tenantId] : []
  })
}

function decodeDelivery(value: unknown): PropertyConsumers | undefined {
  return isDelivery(value) ? value : undefined
}

function isDelivery(value: unknown): value is PropertyConsumers {
  if (!isObject(value) || !isObject(value['event']) || !isObject(value['feed'])) return false
  if (!Array.isArray(value['consumers'])) return false
  return value['consumers'].every((one) => isObject(one) && typeof one['sentence'] === 'string')
}

function decodeTerms(value: unknown): PropertyTerms | undefined {
  return isTerms(value) ? value : undefined
}

function isTerms(value: unknown): value is PropertyTerms {
  if (!isObject(value) || typeof value['sentence'] !== 'string' || !Array.isArray(value['consumers']))
    return false
  return value['consumers'].every((one) => isObject(one) && typeof one['sentence'] === 'string')
}

function decodeConsumers(value: unknown): FeedConsumers | undefined {
  if (!isObject(value) || !Array.isArray(value['items'])) return undefined
  const { publisher } = value
  const consumers = value['items'].filter(isConsumer)
  return isPublisher(publisher) && consumers.length === value['items'].length
    ? { publisher, consumers }
    : undefined
}

function isPublisher(value: unknown): value is Publisher {
  return isObject(value) && 'lastHeardAt' in value && 'silentSince' in value
}

function isConsumer(value: unknown): value is Consumer {
  return isObject(value) && typeof value['keyId'] === 'string' && Array.isArray(value['views'])
}
