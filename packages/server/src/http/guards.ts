/** What every request must satisfy before a route sees it: checks that Node and Fastify leave out. */
import type { IncomingMessage } from 'node:http'
import type { ServiceLimits } from './limits.ts'
import type { Refusal } from './problem.ts'

/** Host name or address with an optional port (RFC 9110 §7.2). An empty one is allowed for a target without authority. */
const hostPattern = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.%]+\])(?::\d{0,5})?$/

/** Why a request goes no further, or `undefined`. Looks only at the request line and the headers. */
export function guardRequest(
  raw: IncomingMessage,
  target: string,
  limits: ServiceLimits,
): Refusal | undefined {
  if (raw.httpVersionMajor !== 1 || raw.httpVersionMinor < 1) {
    return { code: 'unsupported_http_version', headers: { connection: 'close' } }
  }
  if (raw.rawHeaders.length / 2 > limits.maxHeaders) return { code: 'headers_too_large' }
  const hosts = valuesOf(raw.rawHeaders, 'host')
  if (hosts.length !== 1) {
    const detail = `A request carries exactly one Host header; this one has ${hosts.length}.`
    // Two hosts are a sign of request smuggling: nothing more is taken from such a connection.
    return { code: 'invalid_host', detail, headers: { connection: 'close' } }
  }
  if (!isHost(hosts[0])) return { code: 'invalid_host', headers: { connection: 'close' } }
  if (target.length > limits.maxTargetLength) {
    const detail = `The path and query have ${target.length} characters; at most ${limits.maxTargetLength} are allowed.`
    return { code: 'target_too_long', detail }
  }
  if (target.includes('#')) {
    const detail =
      'The request target contains "#": a fragment is not sent to a server. Write %23 for the character itself.'
    return { code: 'invalid_target', detail }
  }
  const expect = raw.headers.expect
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return { code: 'expectation_failed' }
  return undefined
}

/** Whether this may stand behind `Host:`. */
export function isHost(text: string | undefined): boolean {
  return text !== undefined && hostPattern.test(text)
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? ''
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}
