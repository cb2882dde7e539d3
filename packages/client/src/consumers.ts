/** Who has seen what, according to the service (PROTOCOL §14). */
import type { Connection } from './connection.ts'
import { isObject } from './decode.ts'
import { InvalidOptionError } from './errors.ts'
import type { CallOptions } from './reading/get.ts'
import { requestJson } from './http/requests.ts'
import { AccessError, NotFoundError } from './service-errors.ts'
import { feedPaths } from './wire.ts'
import type { FeedConsumer, FeedConsumers, FeedPublisher, PropertyConsumers } from './wire-consumers.ts'

/**
 * `undefined` if the feed has no event of the property. If the key neither reads nor publishes and the client has a tenant, it asks as an
 * operator would: two requests at most.
 */
export async function getDelivery(
  connection: Connection,
  agentRef: string,
  { signal }: CallOptions = {},
): Promise<PropertyConsumers | undefined> {
  const { tenant } = connection
  const ask = async (path: string) =>
    (await requestJson(connection, { method: 'GET', path }, decodeDelivery, signal)).value
  const reference = encodeURIComponent(agentRef)
  try {
    try {
      return await ask(`${feedPaths.property.subjects}${reference}/consumers`)
    } catch (error) {
      const mayInspect =
        error instanceof AccessError && error.code === 'missing_scope' && tenant !== undefined
      if (!mayInspect) throw error
      return await ask(`/v1/admin/tenants/${tenant}/properties/${reference}/delivery`)
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

function decodeConsumers(value: unknown): FeedConsumers | undefined {
  if (!isObject(value) || !Array.isArray(value['items'])) return undefined
  const { publisher } = value
  const consumers = value['items'].filter(isConsumer)
  return isPublisher(publisher) && consumers.length === value['items'].length
    ? { publisher, consumers }
    : undefined
}

function isPublisher(value: unknown): value is FeedPublisher {
  return isObject(value) && 'lastHeardAt' in value && 'silentSince' in value
}

function isConsumer(value: unknown): value is FeedConsumer {
  return isObject(value) && typeof value['keyId'] === 'string' && Array.isArray(value['views'])
}
