/** `GET /console/session`: what the browser may do (PROTOCOL §15.3). */
import { refusalAtDoor, endedKeyCodes } from '../../keys/access/access.ts'
import { failuresOf, isFromItsNetwork } from '../../keys/access/network.ts'
import type { ConsoleDoor } from '../door.ts'
import { cookieHeader } from '../door.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome, Request } from '../../http/exchange.ts'
import { success } from '../../http/problem/problem.ts'
import type { ProblemCode } from '../../http/problem/problem.ts'
import { withoutParameters } from '../../http/requests/query.ts'
import type { Call, Operation } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { NetworkContext } from '../../keys/access/network.ts'
import type { KeyRecord, KeyStore } from '../../keys/key.ts'
import type { ConsoleSession } from '../session.ts'
import { answer, openProblems } from '../../http/openapi/responses.ts'
import { timeOf } from '../../http/time-of.ts'
import { keyMembers } from '../../keys/routes/key-answer.ts'

/** What operations on a session need. */
export interface SessionContext extends NetworkContext {
  readonly keys: KeyStore
  readonly limits: ServiceLimits
}

export function readSession(context: SessionContext, door: ConsoleDoor): Operation {
  return sessionOperation(context, {
    method: 'GET',
    operationId: 'readSession',
    summary: 'Read the session of the console',
    problems: ['console_session_ended'],
    call: (request) => read(context, door, request),
  })
}

async function read(context: SessionContext, door: ConsoleDoor, request: Request): Promise<Outcome> {
  const failures = failuresOf(context, request)
  const entered = await door.enter(request)
  if (entered.kind !== 'session') return refusalAtDoor(entered, failures)
  const { verdict, session, origin } = entered
  if (verdict.kind !== 'valid') return refused({ code: endedKeyCodes[verdict.kind] })
  if (!isFromItsNetwork(context, request, verdict.key)) return refused({ code: 'key_network' })
  const found = await context.keys.findKey(session.keyId)
  if (found === undefined) return refused({ code: 'console_session_ended' })
  return uncachedAnswer(sessionMembers(door, origin, session, found.record))
}

/** `DELETE /console/session`: signs out, and ends every request of the session that still waits (PROTOCOL §15.3). */
export function signOut(context: SessionContext, door: ConsoleDoor): Operation {
  return sessionOperation(context, {
    method: 'DELETE',
    operationId: 'signOut',
    summary: 'Sign out of the console',
    problems: ['console_session_ended'],
    call: (request) => end(context, door, request),
  })
}

/** Also works for a key that has ended. */
async function end(context: SessionContext, door: ConsoleDoor, request: Request): Promise<Outcome> {
  const failures = failuresOf(context, request)
  const entered = await door.enter(request)
  if (entered.kind !== 'session') return refusalAtDoor(entered, failures)
  await door.sessions.end(entered.session)
  const headers = { 'cache-control': 'no-store', ...cookieHeader(door, entered.origin) }
  return { kind: 'text', status: success.noContent, headers, body: '' }
}

/** A session, and what may be done with it, for the page of this origin (PROTOCOL §15.3). `record`: of the session's key. */
export function sessionMembers(
  door: ConsoleDoor,
  origin: string,
  session: ConsoleSession,
  record: KeyRecord,
): object {
  return {
    key: keyMembers(record),
    createdAt: timeOf(session.begunMs),
    expiresAt: timeOf(session.endsMs),
    idleEndsAt: timeOf(door.sessions.idleEndMs(session)),
    freshUntil: timeOf(door.sessions.freshUntilMs(session)),
    images: { own: door.hasPictures, hosts: door.options.imageHosts ?? [] },
    serviceUrl: door.options.url ?? `${origin}${door.basePath}`,
  }
}

interface SessionRoute extends Pick<Operation, 'method'> {
  readonly operationId: string
  readonly summary: string
  readonly problems: readonly ProblemCode[]
  readonly call: Call
}

/** No document has these operations: PROTOCOL §15 describes them. */
export function sessionOperation(
  { limits }: Pick<SessionContext, 'limits'>,
  { method, operationId, summary, problems, call }: SessionRoute,
): Operation {
  return {
    method,
    path: '/console/session',
    mediaType: 'application/json',
    access: undefined,
    schema: () => ({
      operationId,
      summary,
      description: summary,
      tags: ['Description'],
      security: [],
      response: {
        [success.ok]: answer('The session.', { type: 'object' }, {}),
        ...openProblems(...problems),
      },
    }),
    prepare: withoutParameters(limits, () => call),
  }
}
