/** What every request must satisfy before it is routed: header checks that Node leaves out. */
import type { Request } from '../exchange.ts'
import type { ServiceLimits } from '../limits.ts'
import type { Refusal } from '../problem/problem.ts'

/** Host name or address with an optional port (RFC 9110 §7.2). An empty one is allowed for a target without authority. */
const hostPattern = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.%]+\])(?::\d{0,5})?$/

/** Why a request gets no further, or `undefined`. The router checks the request line. */
export function guardRequest(
  request: Request,
  { maxHeaders }: Pick<ServiceLimits, 'maxHeaders'>,
): Refusal | undefined {
  const { version, headerCount, hosts } = request.head
  if (version !== '1.1' && version !== '1.0') return { code: 'unsupported_http_version', closes: true }
  if (headerCount > maxHeaders) return { code: 'headers_too_large' }
  const host = hosts[0] ?? (version === '1.0' ? '' : undefined)
  if (host === undefined || hosts.length > 1) {
    const detail = `A request must have exactly one Host header; this one has ${hosts.length}.`
    // Two hosts are a sign of request smuggling: nothing more is read from such a connection.
    return { code: 'invalid_host', detail, closes: true }
  }
  if (!hostPattern.test(host)) return { code: 'invalid_host', closes: true }
  const expect = request.header('expect')
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return { code: 'expectation_failed' }
  return undefined
}
