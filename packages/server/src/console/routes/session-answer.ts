/** A session, and what may be done with it, for the page (PROTOCOL §15.3). */
import type { ConsoleDoor } from '../door.ts'
import { cookieText } from '../session-cookie.ts'
import type { KeyRecord } from '../../keys/key.ts'
import type { ConsoleSession } from '../session.ts'
import type { Headers } from '../../http/exchange.ts'
import { answer, openProblems } from '../../http/openapi/responses.ts'
import { success } from '../../http/problem/problem.ts'
import type { ProblemCode } from '../../http/problem/problem.ts'
import { timeOf } from '../../http/time-of.ts'
import { keyMembers } from '../../keys/routes/key-answer.ts'
import type { OperationSchema } from '../../http/operation.ts'

/** What writing the cookie needs. */
export interface CookieContext {
  readonly basePath: string
}

export interface SessionPlace {
  readonly door: ConsoleDoor
  readonly basePath: string
  /** The origin of the page. */
  readonly origin: string
  /** The service has pictures of its own. */
  readonly pictures: boolean
}

/** `record`: of the session's key. */
export function sessionMembers(
  { door, basePath, origin, pictures }: SessionPlace,
  session: ConsoleSession,
  record: KeyRecord,
): object {
  return {
    key: keyMembers(record),
    createdAt: timeOf(session.begunMs),
    expiresAt: timeOf(session.endsMs),
    idleEndsAt: timeOf(door.sessions.idleEndMs(session)),
    freshUntil: timeOf(door.sessions.freshUntilMs(session)),
    images: { own: pictures, hosts: door.options.imageHosts ?? [] },
    serviceUrl: door.options.url ?? `${origin}${basePath}`,
  }
}

export const sessionHeaders: Headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

/** `Set-Cookie` for the page's origin; without `value` it removes the cookie. */
export function cookieHeaders(
  { basePath }: Pick<CookieContext, 'basePath'>,
  { cookieName: name }: ConsoleDoor,
  origin: string,
  value?: string,
): Headers {
  return { ...sessionHeaders, 'set-cookie': cookieText({ name, basePath, origin }, value) }
}

/** No document has them: PROTOCOL §15 describes them. */
export function sessionSchema(
  operationId: string,
  summary: string,
  ...problems: readonly ProblemCode[]
): () => OperationSchema {
  return () => ({
    operationId,
    summary,
    description: summary,
    tags: ['Description'],
    security: [],
    response: {
      [success.ok]: answer('The session.', { type: 'object' }, {}),
      ...openProblems(...problems),
    },
  })
}
