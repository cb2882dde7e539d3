/** Checks that a request comes from the console's own page, at an address that is ours and safe for a session (PROTOCOL §15.2). */
import type { Request } from '../http/exchange.ts'
import type { Refusal } from '../http/problem/problem.ts'
import { quoteInput } from '../http/requests/echo-text.ts'

export interface OwnPlace {
  /** The number of our own proxies in front of the service, whose headers are trusted. */
  readonly trustedProxies: number
  /** The configured address at which people reach the service, without a path. `undefined`: none is configured. */
  readonly publicOrigin: string | undefined
}

/** The origin of the page, as its browser sees it: `http://127.0.0.1:8080`. */
type PageOrigin =
  | { readonly kind: 'own'; readonly origin: string }
  | { readonly kind: 'foreign'; readonly refusal: Refusal }

/**
 * Browsers send the origin of a request in `Sec-Fetch-Site`, and older ones in `Origin`; pages cannot write either. `Host` reveals a
 * foreign host name that was made to lead here (DNS rebinding); over https the certificate has already proven the name.
 */
export function pageOrigin(request: Request, place: OwnPlace): PageOrigin {
  const here = originHere(request, place)
  if (here.kind === 'foreign') return here
  const allowed = [here.origin, place.publicOrigin]
  const origin = request.header('origin')
  if (origin !== undefined && !allowed.includes(origin.toLowerCase())) {
    const hint =
      place.publicOrigin === undefined ? ' If that is this service, tell it so with serve --url.' : ''
    return foreign(
      `The request comes from a page of ${quoteInput(origin)}, not from the console’s own.${hint}`,
    )
  }
  const site = request.header('sec-fetch-site')
  if (site === undefined ? origin === undefined : site !== 'same-origin') {
    return foreign(
      'The request does not come from the console’s own page: Sec-Fetch-Site is not same-origin.',
    )
  }
  return origin === undefined ? here : { kind: 'own', origin: origin.toLowerCase() }
}

function originHere(request: Request, { trustedProxies, publicOrigin }: OwnPlace): PageOrigin {
  const host = (request.head.hosts[0] ?? '').toLowerCase()
  const scheme = forwardedScheme(request.header('x-forwarded-proto'), trustedProxies)
  const url = `${scheme}://${host}`
  if (!URL.canParse(url)) return foreign(`The Host ${quoteInput(host)} is not this service’s.`)
  const { origin, hostname } = new URL(url)
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  if (isLoopback) return { kind: 'own', origin }
  if (publicOrigin === undefined) return scheme === 'https' ? { kind: 'own', origin } : needsHttps
  const { protocol } = new URL(publicOrigin)
  // An untrusted proxy cannot vouch that the request came by https.
  const asTold = new URL(`${protocol}//${host}`).origin
  if (asTold !== publicOrigin) return foreign(`The Host ${quoteInput(host)} is not this service’s.`)
  return protocol === 'https:' ? { kind: 'own', origin: publicOrigin } : needsHttps
}

/** Read as `X-Forwarded-For` is: only what our own proxy has written counts. */
function forwardedScheme(header: string | undefined, trustedProxies: number): 'http' | 'https' {
  if (trustedProxies <= 0 || header === undefined) return 'http'
  const schemes = header.slice(-200).split(',')
  return schemes
    .at(Math.max(0, schemes.length - trustedProxies))
    ?.trim()
    .toLowerCase() === 'https'
    ? 'https'
    : 'http'
}

const needsHttps: PageOrigin = { kind: 'foreign', refusal: { code: 'console_needs_https' } }

function foreign(detail: string): PageOrigin {
  return { kind: 'foreign', refusal: { code: 'console_foreign_request', detail } }
}
