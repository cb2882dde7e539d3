/** The cookie of the console: written when somebody signs in, and read under `/console` alone. */
import { sessionLengthMs } from '../../keys/console-sessions.ts'
import type { Request } from '../exchange.ts'

/** What the page sends beside the cookie. */
export const halfHeader = 'x-console-session'

export interface SessionSecrets {
  readonly cookie: string
  readonly half: string
}

/** 256 bits in base64url. What has another form asks no store. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** Both secrets of a request; `undefined`: one of them is missing, or is none. */
export function readSecrets(request: Request, cookieName: string): SessionSecrets | undefined {
  const half = request.header(halfHeader) ?? ''
  const start = `${cookieName}=`
  const pairs = (request.header('cookie') ?? '').split(/[;,]/).map((pair) => pair.trim())
  const cookie = pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? ''
  return secretPattern.test(cookie) && secretPattern.test(half) ? { cookie, half } : undefined
}

/** Ports of a host share their cookies: each store has a name of its own. */
export function cookieNameOf(storeId: string): string {
  return `property-events-console-${storeId}`
}

export interface CookiePlace {
  readonly name: string
  /** Path prefix of the service. */
  readonly basePath: string
  /** Of the page. */
  readonly origin: string
}

/** The value of `Set-Cookie`. `undefined`: takes the cookie away. */
export function cookieText({ name, basePath, origin }: CookiePlace, value: string | undefined): string {
  const seconds = value === undefined ? 0 : sessionLengthMs / 1_000
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  return `${name}=${value ?? ''}; Path=${basePath}/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
