/**
 * Web pages of other origins (the Fetch standard's CORS protocol): tells a browser that a page may read an answer. Off by default, since
 * a key in a page is a key that everybody has. Credentials are never allowed: keys are headers, and the one cookie is the console's,
 * which no page of another origin can use (console/own-page.ts).
 */
import type { Headers } from './exchange.ts'
import type { Exchange } from './routed.ts'
import { routedTarget } from './requests/target.ts'

/** The headers of an answer plus those for the page that asked; returns `given` itself if there is nothing to add. */
export type CrossOrigin = (exchange: Exchange, given: Headers) => Headers

export const sameOriginOnly: CrossOrigin = (_exchange, given) => given

/** Our own headers and the contract's. Without this list, browsers show pages only the simplest headers. */
const exposed = [
  'etag',
  'location',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'deprecation',
  'sunset',
  'x-request-id',
  'x-feed-head',
  'x-feed-epoch',
  'x-feed-revision',
  'x-feed-complete-until',
  'x-current-as-of',
  'x-ignored-parameters',
].join(', ')

const sendable = [
  'x-api-key',
  'x-tenant',
  'x-feed-min-sequence',
  'x-request-id',
  'if-none-match',
  'last-event-id',
  'content-type',
  'content-encoding',
  'traceparent',
].join(', ')

/** A page asks again after this time, so an origin that is taken off the list is refused within it. */
const preflightSeconds = 600

/** `origins`: as browsers write them, such as `https://www.example.com`. None of them may use administration. */
export function crossOrigin(origins: readonly string[], basePath: string): CrossOrigin {
  if (origins.length === 0) return sameOriginOnly
  const allowed = new Set(origins)
  const varied = withVary()
  return (exchange, given) => {
    const { request, answer } = exchange
    const headers = varied(given)
    const origin = request.header('origin')
    if (origin === undefined || !allowed.has(origin) || isAdmin(exchange, basePath)) return headers
    const isPreflight =
      request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined
    return {
      ...headers,
      'access-control-allow-origin': origin,
      ...(isPreflight ? preflightHeaders(answer) : { 'access-control-expose-headers': exposed }),
    }
  }
}

/** Whether the path is an administration path, in any spelling. A preflight reaches no operation, and neither does an unknown path. */
function isAdmin({ request, routed }: Exchange, basePath: string): boolean {
  const path = routed.route === 'none' ? decoded(routedTarget(request.target, basePath)) : routed.route
  return path.startsWith(adminStart)
}

const adminStart = '/v1/admin'

/** A path that cannot be decoded reaches no operation. */
function decoded(target: string): string {
  try {
    return decodeURI(target)
  } catch {
    return adminStart
  }
}

/** The methods are those of the path, which are in `Allow`. */
function preflightHeaders(answer: Exchange['answer']): Headers {
  const methods = 'headers' in answer ? answer.headers['allow'] : undefined
  if (methods === undefined) return {}
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': sendable,
    'access-control-max-age': String(preflightSeconds),
  }
}

/** An answer may be for one origin and not for another, so it needs a `Vary` that says so. Returns one object for equal headers. */
function withVary(): (headers: Headers) => Headers {
  const known = new WeakMap<Headers, Headers>()
  return (headers) => {
    const found = known.get(headers)
    if (found !== undefined) return found
    const { vary } = headers
    const made = { ...headers, vary: vary === undefined ? 'origin' : `${vary}, origin` }
    known.set(headers, made)
    return made
  }
}
