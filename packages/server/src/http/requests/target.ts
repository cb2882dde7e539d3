/** The request target: from the request line to the path the routes are registered under. */
import { feedNames, feeds } from '@property-events/protocol'

/** No route has this path: everything outside the base path ends here and is answered 404. */
const outsidePath = '/-'

const specPaths = feedNames.map((name) => `${feeds[name].eventsPath}/getevents`)
const specPrefixes = feedNames.map((name) => `${feeds[name].eventsPath}/geteventbyid/`)

/**
 * The target as the routes know it. An absolute target (`GET http://host/path`) is served by its path only; the base path is removed; the
 * spec's paths are matched without regard to case (D19), while the event id keeps its letters.
 */
export function routedTarget(target: string, basePath: string): string {
  const local = withoutBasePath(withoutOrigin(target), basePath)
  const end = local.search(/[?#]/)
  const path = end === -1 ? local : local.slice(0, end)
  const rest = local.slice(path.length)
  const lowered = path.toLowerCase()
  if (specPaths.includes(lowered)) return lowered + rest
  const prefix = specPrefixes.find((candidate) => lowered.startsWith(candidate))
  return prefix === undefined ? local : prefix + path.slice(prefix.length) + rest
}

/** The target without scheme and host, if it has them; `*` (as in `OPTIONS *`) is the root. */
export function withoutOrigin(target: string): string {
  if (target.startsWith('/')) return target
  if (target === '*') return '/'
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)
  if (origin === null) return outsidePath
  const rest = target.slice(origin[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

function withoutBasePath(target: string, basePath: string): string {
  if (basePath === '') return target
  if (target.slice(0, basePath.length).toLowerCase() !== basePath.toLowerCase()) return outsidePath
  const rest = target.slice(basePath.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : outsidePath
}

/** The text after the first `?`, without a fragment; empty when there is none. */
export function queryText(target: string): string {
  const start = target.indexOf('?')
  if (start === -1) return ''
  const end = target.indexOf('#', start)
  return target.slice(start + 1, end === -1 ? undefined : end)
}

/** A prefix given by an operator, in the form used here: `/feed`, or empty. `undefined` if it is unusable. */
export function normalBasePath(given: string): string | undefined {
  const trimmed = given.replaceAll(/^\/+|\/+$/g, '')
  if (trimmed === '') return ''
  return /^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/.test(trimmed) ? `/${trimmed}` : undefined
}
