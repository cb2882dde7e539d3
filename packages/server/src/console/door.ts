/**
 * The console's entrance (D31, PROTOCOL §15): a session in place of a key header, accepted under `/console` alone. It leads to the same
 * operations, with the key that the session was begun with.
 */
import type { EnteredSession as DoorSession, NotEntered } from '../keys/access/access.ts'
import type { ConsoleFiles, ConsoleOptions } from './files.ts'
import type { KeyVerifier } from '../keys/index.ts'
import { consoleSessions, cookieOfHalf, sessionLengthMs } from './sign-in.ts'
import type { ConsoleSessions } from './sign-in.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import type { ConsoleSession } from './session.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { Headers, Request } from '../http/exchange.ts'
import type { OpenSession } from '../http/access.ts'
import type { Refusal } from '../http/problem/problem.ts'
import { readConsoleFiles } from './files.ts'
import { pageOrigin } from './own-page.ts'
import type { OwnPlace } from './own-page.ts'
import { createTokenBuckets, steadyClock } from '../http/rate-limit/token-bucket.ts'
import type { TokenBuckets } from '../http/rate-limit/token-bucket.ts'

/** What a console request presents. */
type Entered = EnteredSession | NotEntered

interface EnteredSession extends DoorSession {
  readonly session: ConsoleSession
  /** The origin of the page. */
  readonly origin: string
}

export interface ConsoleDoor {
  readonly options: ConsoleOptions
  readonly files: ConsoleFiles
  /** Path prefix of the service. */
  readonly basePath: string
  /** The service has pictures of its own. */
  readonly hasPictures: boolean
  readonly cookieName: string
  readonly sessions: ConsoleSessions
  /** Sign-ins of each key: a session is a commit and a row of the audit. */
  readonly signIns: TokenBuckets
  readonly place: OwnPlace
  /** Rejects as the store does. */
  enter(request: Request): Promise<Entered>
}

interface DoorParts {
  readonly console?: ConsoleOptions | undefined
  readonly pictures?: object | undefined
  readonly storage: Pick<StorageEngine, 'consoleSessions' | 'settings'>
  readonly verifier: Pick<KeyVerifier, 'use'>
  readonly clock: () => number
  readonly trustedProxies: number
  readonly basePath: string
  readonly report: TaskReport
}

/** On one thread. */
const signInLimits = { perSecond: 0.1, burst: 20 }

/** `undefined` if the console is off. Throws the file system's error if a file of the page is missing. */
export function consoleDoor(parts: DoorParts): ConsoleDoor | undefined {
  const { console: options } = parts
  if (options === undefined) return undefined
  const { storage, verifier, clock, trustedProxies, basePath, report } = parts
  const sessions = consoleSessions({ store: storage.consoleSessions, clock, report })
  const publicOrigin = options.url === undefined ? undefined : new URL(options.url).origin
  const place = { trustedProxies, publicOrigin }
  const cookieName = cookieNameOf(storage.settings.storeId)
  return {
    options,
    files: readConsoleFiles(options, basePath),
    basePath,
    hasPictures: parts.pictures !== undefined,
    cookieName,
    sessions,
    signIns: createTokenBuckets({ limits: signInLimits, clock: steadyClock }),
    place,
    async enter(request) {
      const page = pageOrigin(request, place)
      if (page.kind === 'foreign') return { kind: 'refused', refusal: page.refusal }
      const { origin } = page
      const refusal = refusalOfBody(request)
      if (refusal !== undefined) return { kind: 'refused', refusal }
      const secrets = readSecrets(request, cookieName)
      const session = secrets && (await sessions.find(secrets.cookie, secrets.half))
      if (session === undefined) return { kind: 'ended' }
      const verdict = await verifier.use(session.keyId)
      if (verdict.kind === 'unknown') return { kind: 'ended' }
      return { kind: 'session', session, open: openSession(sessions, session), origin, verdict }
    },
  }
}

function openSession(sessions: ConsoleSessions, session: ConsoleSession): OpenSession {
  return { isFresh: sessions.isFresh(session), isOpen: () => sessions.isOpen(session) }
}

/** A form on another page can send any other type without a preflight. */
function refusalOfBody(request: Request): Refusal | undefined {
  const type = request.header('content-type')
  const announced =
    Number(request.header('content-length') ?? 0) > 0 || request.header('transfer-encoding') !== undefined
  if (type === undefined && !announced) return undefined
  const [mediaType = ''] = (type ?? '').split(';')
  if (mediaType.trim().toLowerCase() === 'application/json') return undefined
  return { code: 'unsupported_media_type', detail: 'The console accepts bodies as application/json only.' }
}

/** The header with the other half of the session. */
const halfHeader = 'x-console-session'

/** 256 bits in base64url. Text of another form is refused without reading the store. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** Both secrets of a request; `undefined` if one of them is missing or malformed. Other cookies of the name, planted by others, do not count. */
function readSecrets(request: Request, cookieName: string) {
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
function cookieNameOf(storeId: string): string {
  return `property-events-console-${storeId}`
}

/** The header that sets the cookie, for the page's origin; without a value, it removes the cookie. */
export function cookieHeader(
  { cookieName, basePath }: Pick<ConsoleDoor, 'cookieName' | 'basePath'>,
  origin: string,
  value?: string,
): Headers {
  const seconds = value === undefined ? 0 : sessionLengthMs / 1_000
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  const cookie = `${cookieName}=${value ?? ''}; Path=${basePath}/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
  return { 'set-cookie': cookie }
}
