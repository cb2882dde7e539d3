/** The path of the console, and the addresses in it. Each state of a view is an address. */
import type { FeedName } from '@property-events/protocol/wire'

/** The values of a query. Undefined and empty ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** `/feeds/console` for the root `/feeds/console/`, as the page names it. */
export function baseOf(root: string): string {
  return root.replace(/\/+$/, '')
}

/** The base of the service, with its operations, `/docs` and `/openapi.json`. The console is directly below it. */
export function serviceBaseOf(consoleBase: string): string {
  return consoleBase.replace(/\/[^/]*$/, '')
}

/** A path with its query, each value percent-encoded. */
export function withQuery(path: string, query: Query = {}): string {
  const parts = Object.entries(query)
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined && entry[1] !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

/** The paths of the console, below its base. Views link to each other with these and never write a path themselves. */
export const paths = {
  overview: (query?: Query) => withQuery('/', query),
  signIn: (query?: Query) => withQuery('/sign-in', query),
  feed: (tenantId: string, feed: FeedName, query?: Query) =>
    withQuery(`/tenants/${tenantId}/feeds/${feed}`, query),
  property: (tenantId: string, agentRef: string, query?: Query) =>
    withQuery(`/tenants/${tenantId}/properties/${agentRef}`, query),
  contact: (tenantId: string, contactRef: string, query?: Query) =>
    withQuery(`/tenants/${tenantId}/contacts/${contactRef}`, query),
  keys: (tenantId: string, query?: Query) => withQuery(`/tenants/${tenantId}/keys`, query),
  consumers: (tenantId: string, query?: Query) => withQuery(`/tenants/${tenantId}/consumers`, query),
  publications: (tenantId: string, query?: Query) => withQuery(`/tenants/${tenantId}/publications`, query),
  audit: (tenantId: string | undefined, query?: Query) =>
    withQuery(tenantId === undefined ? '/audit' : `/tenants/${tenantId}/audit`, query),
  health: () => '/health',
  playground: (tenantId: string, query?: Query) => withQuery(`/tenants/${tenantId}/playground`, query),
  erasures: (tenantId: string, query?: Query) => withQuery(`/tenants/${tenantId}/erasures`, query),
  webhooks: (tenantId: string) => `/tenants/${tenantId}/webhooks`,
  webhook: (tenantId: string, id: string, query?: Query) =>
    withQuery(`/tenants/${tenantId}/webhooks/${id}`, query),
  operatorKeys: (query?: Query) => withQuery('/keys', query),
} as const

export type { FeedName }

export function isFeedName(text: string | undefined): text is FeedName {
  return text === 'property' || text === 'contact'
}
