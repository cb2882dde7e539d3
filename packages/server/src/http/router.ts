/** From a request line to its operation, or to why there is none (D9, D19, D21). */
import type { Routed } from './routed.ts'
import { feedNames, feeds, standardCode } from '@property-events/protocol'
import type { Headers, Outcome } from './exchange.ts'
import { noHeaders, refused } from './exchange.ts'
import type { ServiceLimits } from './limits.ts'
import { lookUpTable } from './look-up-table.ts'
import type { Found, LookUp, Route } from './look-up-table.ts'
import { nearestPaths } from './nearest-path.ts'
import { howToRead, otherNames } from './other-names.ts'
import type { NearestPath } from './nearest-path.ts'
import { takesTenant } from './operation.ts'
import type { Call, Operation } from './operation.ts'
import { success } from './problem/problem.ts'
import type { Refusal } from './problem/problem.ts'
import { quoteInput } from './requests/echo-text.ts'
import { queryText, routedTarget, withoutOrigin } from './requests/target.ts'
import { takeTenant } from './requests/tenant-choice.ts'
import type { TenantQuery } from './requests/tenant-choice.ts'

/** `target`: as it is on the request line. */
export type Router = (method: string, target: string) => Routed

interface RouterOptions {
  readonly operations: readonly Operation[]
  /** Path prefix of every operation (D21). */
  readonly basePath: string
  readonly limits: Pick<ServiceLimits, 'maxTargetLength' | 'maxPathLength'>
  /**
   * Left out: there is no console. Otherwise operations that need a key can also be reached through the console, and browsers are
   * redirected to it.
   */
  readonly door?: object | undefined
}

export function createRouter({ operations, basePath, limits, door }: RouterOptions): Router {
  // Nobody types the address of a picture.
  const typed = operations.filter(
    ({ path, mediaType }) => !path.endsWith('*') && !mediaType.startsWith('image/'),
  )
  const nearest = nearestPaths(typed.map(({ path }) => path))
  const routes = operations.map(routeOf)
  const lookUp = lookUpTable(routes, limits.maxPathLength)
  const mostOfPath = basePath.length + limits.maxPathLength
  const plain = plainPaths(routes, basePath, mostOfPath)
  const toStart = startRoute(basePath, door !== undefined)

  return (method, target) => {
    if (target.length > limits.maxTargetLength) return unrouted(tooLong(target, limits.maxTargetLength))
    if (target.includes('#')) return unrouted(fragment)
    const asPlain = plain(method, target)
    if (asPlain !== undefined) return toOperation(asPlain, target)
    const local = pathOf(withoutOrigin(target))
    if (local.length > mostOfPath) return unrouted(pathTooLong(local, mostOfPath))
    const given = pathOf(routedTarget(target, basePath))
    const isAtDoor = door !== undefined && given.startsWith(doorPath)
    const path = isAtDoor ? routedTarget(given.slice(doorPath.length - 1), '') : given
    const found = lookUp.find(method, path)
    if (found === 'badEncoding') return unrouted(badEncoding)
    if (found !== undefined) return isAtDoor ? throughDoor(found, target) : toOperation(found, target)
    if (path === '/' && target !== '*' && (method === 'GET' || method === 'HEAD')) return toStart
    const allow = target === '*' ? lookUp.allow : lookUp.allowOf(path, method)
    if (allow === undefined) return unrouted(nothingAt(path, lookUp, basePath, nearest))
    if (method === 'OPTIONS') return withoutOperation(optionsAnswer(allow))
    return unrouted(methodRefusal(method, path, allow, basePath))
  }
}

/** One shape for all operations, because each request reads most of its members. */
function toOperation({ route, params }: Found, target: string): Routed {
  const { operation, operationId, path, access, mediaType, transport, headers } = route
  const { query, tenants } = route.takesTenant ? takeTenant(queryText(target)) : withoutTenant(target)
  const waits = operation.waits?.(query) === true
  const call = operation.prepare({ query, params })
  return { route: path, operationId, access, mediaType, transport, waits, headers, tenants, call }
}

const noTenants: readonly string[] = []

function withoutTenant(target: string): TenantQuery {
  return { query: queryText(target), tenants: noTenants }
}

function routeOf(operation: Operation): Route {
  const { path, access, mediaType, transport } = operation
  const names = Array.from(path.matchAll(/:([A-Za-z]+)|\*/g), ([rest, name = rest]) => name)
  const headers = deprecationHeaders(operation)
  let operationId: string | undefined
  return {
    operation,
    // Made on demand: the descriptions of all operations together take 5 ms, for which a start does not have to wait.
    get operationId() {
      return (operationId ??= operation.schema().operationId)
    },
    path,
    names,
    access,
    mediaType,
    transport,
    headers,
    takesTenant: takesTenant(operation),
  }
}

/** Announces the end of an operation with each of its answers: `Deprecation` (RFC 9745: a date of structured fields) and `Sunset` (RFC 8594: an HTTP date), or nothing. */
function deprecationHeaders({ deprecation }: Pick<Operation, 'deprecation'>): Headers {
  if (deprecation === undefined) return noHeaders
  return {
    deprecation: `@${Math.floor(deprecation.sinceMs / 1_000)}`,
    sunset: new Date(deprecation.sunsetMs).toUTCString(),
  }
}

function withoutOperation(outcome: Outcome): Routed {
  const call = (): Outcome => outcome
  return {
    route: 'none',
    operationId: 'none',
    access: undefined,
    mediaType: undefined,
    transport: undefined,
    waits: false,
    headers: noHeaders,
    tenants: noTenants,
    call,
  }
}

function unrouted(refusal: Refusal): Routed {
  return withoutOperation(refused(refusal))
}

function tooLong({ length }: string, most: number): Refusal {
  const detail = `The path and query have ${length} characters; at most ${most} are allowed.`
  return { code: 'target_too_long', detail }
}

function pathTooLong({ length }: string, most: number): Refusal {
  const detail = `The path has ${length} characters, and at most ${most} are allowed: no path of this service is longer.`
  return { code: 'target_too_long', detail }
}

const fragment: Refusal = {
  code: 'invalid_target',
  detail:
    'The request target contains "#": a fragment is not sent to a server. Write %23 for the character itself.',
}

const badEncoding: Refusal = {
  code: 'invalid_target',
  detail: 'The path is not valid percent-encoded UTF-8. Write %25 for the character % itself.',
}

function optionsAnswer(allow: string): Outcome {
  const headers = { allow, 'cache-control': 'no-store' }
  return { kind: 'text', status: success.noContent, headers, body: '' }
}

/** The operations that need a key, with a session in its place (PROTOCOL §15). */
const doorPath = '/console/api/'

function throughDoor(found: Found, target: string): Routed {
  const { access } = found.route
  if (access === undefined) return unrouted({ code: 'path_not_found', detail: notAtDoor })
  return { ...toOperation(found, target), access: { ...access, throughConsole: true } }
}

const notAtDoor =
  'This operation needs no key, so the console does not serve it: leave /console/api out of its path.'

/** The root of the service: redirects browsers to the console if it is on, and all other clients to the documentation. */
function startRoute(basePath: string, hasConsole: boolean): Routed {
  const leadTo = (path: string): Outcome => {
    const headers = { location: `${basePath}${path}`, 'cache-control': 'no-cache', vary: 'accept' }
    return { kind: 'text', status: success.seeOther, headers, body: '' }
  }
  const call: Call = (request) => {
    const isBrowser = request.header('accept')?.includes('text/html') === true
    return leadTo(hasConsole && isBrowser ? '/console/' : '/docs')
  }
  return { ...withoutOperation(leadTo('/docs')), call }
}

function methodRefusal(method: string, path: string, allow: string, basePath: string): Refusal {
  const reason = `${quoteInput(method)} is not a method of this path; it accepts ${allow}.`
  const remedy = writes.includes(method) ? howToPublish(method, path, basePath) : ''
  return { code: 'method_not_allowed', detail: reason + remedy, headers: { allow } }
}

const writes: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']

/**
 * All but one of a feed's paths are for reading. If a request writes to one of those, says where to publish; the text begins with a
 * blank.
 */
function howToPublish(method: string, path: string, basePath: string): string {
  const feed = feedNames.find((name) => {
    const { subjectsPath, eventsPath, publishPath } = feeds[name]
    return [subjectsPath, eventsPath, publishPath].some((own) => path === own || path.startsWith(`${own}/`))
  })
  if (feed === undefined) return ''
  const publishing = `POST ${basePath}${feeds[feed].publishPath}`
  const { eventsPath } = feeds[feed]
  const isList = path === eventsPath || path.startsWith(`${eventsPath}/`)
  const curl = method === 'POST' && isList ? ' curl sends POST with -d; add -G to read with parameters.' : ''
  if (method !== 'DELETE') return ` Events are published with ${publishing}.${curl}`
  return feed === 'property'
    ? ` To remove a property, publish its removal: ${publishing} with {"remove": {"agentRef": "…"}}.`
    : ` To remove a contact, publish its removal: ${publishing} with "eventType": "${standardCode(feed, 'gone')}".`
}

function nothingAt(path: string, lookUp: LookUp, basePath: string, nearest: NearestPath): Refusal {
  const shorter = withoutEndSlashes(path)
  const isThere = shorter !== path && lookUp.allowOf(routedTarget(shorter, '')) !== undefined
  const isBeforeId = lookUp.allowOf(routedTarget(`${shorter}/id`, '')) !== undefined
  const detail = isThere
    ? 'There is nothing at this path. Leave out the slash at its end.'
    : `There is nothing at this path. ${whereElse(path)}The operations are listed under ${basePath}/docs and ${basePath}/openapi.json.`
  return { code: 'path_not_found', detail }

  function whereElse(given: string): string {
    const known = otherNames(given, basePath)
    if (known !== undefined) return known
    const near = nearest(given)
    if (near === undefined) return howToRead(given, basePath)
    return `Did you mean ${basePath}${isBeforeId ? `${shorter}/{id}` : near}? `
  }
}

/**
 * Works letter by letter: an expression such as `/+$` starts again at each slash, which took 0.1 s for 8,000 slashes and a letter
 * (measured manually).
 */
function withoutEndSlashes(path: string): string {
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/**
 * Paths in the spelling of the document, found by a look-up in a map. If the part after the last slash is a parameter, the map has the
 * path without it. Every other path, for example with an encoded parameter, goes through the full table.
 */
function plainPaths(routes: readonly Route[], basePath: string, mostOfPath: number) {
  const whole = { GET: new Map<string, Found>(), POST: new Map<string, Found>() }
  const upToParameter: { readonly start: string; readonly route: Route }[] = []
  let longest = 0
  for (const route of routes) {
    const { path } = route
    const { method } = route.operation
    const [, fixed] = /^([^:]*\/):[A-Za-z]+$/.exec(path) ?? []
    if (fixed !== undefined) {
      if (method === 'GET') upToParameter.push({ start: basePath + fixed, route })
    } else if (!path.includes(':') && (method === 'GET' || method === 'POST')) {
      whole[method].set(basePath + path, { route, params: [] })
      longest = Math.max(longest, basePath.length + path.length)
    }
  }
  return (method: string, target: string): Found | undefined => {
    if (method !== 'GET' && method !== 'POST') return undefined
    const path = pathOf(target)
    // A map reads the whole path to look it up; comparing its start with a few paths is quicker. With a UUID, a path is too long for the
    // map.
    const found = path.length > longest ? undefined : whole[method].get(path)
    if (found !== undefined || method === 'POST' || path.length > mostOfPath) return found
    for (const { start, route } of upToParameter) {
      if (!path.startsWith(start)) continue
      const value = path.slice(start.length)
      const isPlain = value !== '' && !value.includes('/') && !value.includes('%')
      return isPlain ? { route, params: [value] } : undefined
    }
    return undefined
  }
}

function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}
