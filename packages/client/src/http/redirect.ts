/** Redirects are refused and never followed, because the key would go to the other address. */
import { InvalidRequestError } from '../service-errors.ts'

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308]

interface RedirectedRequest {
  /** The request's name in the message. */
  readonly name: string
  readonly path: string
  readonly url: string
}

/** The error for an answer that redirects; `undefined` when it does not. */
export function redirectErrorOf(
  response: Response,
  request: RedirectedRequest,
): InvalidRequestError | undefined {
  // A browser reveals only that it was a redirect: no status, no headers.
  const isOpaque = response.type === 'opaqueredirect'
  if (!isOpaque && !redirectStatuses.includes(response.status)) return undefined
  const status = isOpaque ? '' : ` (${response.status})`
  const { target, remedy } = targetOf(response.headers.get('location'), request)
  const detail = `The address redirects${status} ${target}, which is not followed, because the key would go with the request. ${remedy}`
  return new InvalidRequestError({
    code: 'redirected',
    serviceCode: undefined,
    status: response.status,
    message: `${request.name}: ${detail}`,
    detail,
    requestId: response.headers.get('x-request-id') ?? undefined,
    faults: [],
    retryAfterMs: undefined,
  })
}

function targetOf(location: string | null, { path, url }: RedirectedRequest) {
  const remedy = 'Use the address of the service itself.'
  const to = urlOf(location, url)
  if (to === undefined) return { target: 'elsewhere', remedy }
  // Without the parts that may be secret: a password, a query.
  const address = `${to.origin}${to.pathname}`
  const target = `to ${address}`
  if (!address.endsWith(path)) return { target, remedy }
  return { target, remedy: `Use ${address.slice(0, -path.length)} as the address.` }
}

/** The address in a `Location`, which may be relative. */
function urlOf(location: string | null, base: string): URL | undefined {
  if (location === null) return undefined
  try {
    return new URL(location, base)
  } catch {
    return undefined
  }
}
