/** The cookie of the console: written at sign-in, and read under `/console` alone. */
import { cookieOfHalf, sessionLengthMs } from './sign-in.ts'
import type { Request } from '../http/exchange.ts'

/** The header with the other half of the session. */
export const halfHeader = 'x-console-session'

export interface SessionSecrets {
  readonly cookie: string
  readonly half: string
}

/** 256 bits in base64url. Text of another form is refused without reading the store. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** Both secrets of a request; `undefined` if one of them is missing or malformed. Other cookies of the name, planted by others, do not count. */
export function readSecrets(request: Request, cookieName: string): SessionSecrets | undefined {
  const half = request.header(halfHeader) ?? ''
  const start = `${cookieName}=`
  const pairs = (request.header('cookie') ?? '').split(/[;,]/).map((pair) => pair.trim())
  if (!secretPattern.test(half)) return undefined
  const cookies = pairs.filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length))
  const cookie = cookieOfHalf(
    cookies.filter((text) => secretPattern.test(text)),
    half,
  )
  return cookie === undefined ? undefined : { cookie, half }
}

/** All ports of a host share their cookies, so each store has a cookie name of its own. */
export function cookieNameOf(storeId: string): string {
  return `property-events-console-${storeId}`
}

export interface CookiePlace {
  readonly name: string
  /** Path prefix of the service. */
  readonly basePath: string
  /** The origin of the page. */
  readonly origin: string
}

/** The value of `Set-Cookie`. `undefined`: removes the cookie. */
export function cookieText({ name, basePath, origin }: CookiePlace, value: string | undefined): string {
  const seconds = value === undefined ? 0 : sessionLengthMs / 1_000
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  return `${name}=${value ?? ''}; Path=${basePath}/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
