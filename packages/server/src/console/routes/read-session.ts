/** `GET /console/session`: what the browser may do (PROTOCOL §15.3). */
import { refusalAtDoor, standingCodes } from '../../keys/access/access.ts'
import { failuresOf, isFromItsNetwork } from '../../keys/access/network.ts'
import type { ConsoleDoor } from '../door.ts'
import { refused } from '../../http/exchange.ts'
import type { Outcome, Request } from '../../http/exchange.ts'
import { success } from '../../http/problem/problem.ts'
import { refusalOfParameters } from '../../http/requests/query.ts'
import type { Operation } from '../../http/operation.ts'
import { sessionHeaders, sessionMembers, sessionSchema } from './session-answer.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { NetworkContext } from '../../keys/access/network.ts'
import type { KeyStore } from '../../keys/key.ts'

/** What the answer about a session needs. */
export interface SessionContext extends NetworkContext {
  readonly basePath: string
  readonly keys: KeyStore
  readonly limits: ServiceLimits
}

export function readSession(context: SessionContext, door: ConsoleDoor, pictures: boolean): Operation {
  return {
    method: 'GET',
    path: '/console/session',
    mediaType: 'application/json',
    access: undefined,
    schema: sessionSchema('readSession', 'Read the session of the console', 'console_session_ended'),
    prepare({ query }) {
      const refusal = refusalOfParameters(query, context.limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      return (request) => read(context, door, pictures, request)
    },
  }
}

async function read(
  context: SessionContext,
  door: ConsoleDoor,
  pictures: boolean,
  request: Request,
): Promise<Outcome> {
  const failures = failuresOf(context, request)
  const entered = await door.enter(request)
  if (entered.kind !== 'session') return refusalAtDoor(entered, failures)
  const { verdict, session, origin } = entered
  if (verdict.kind !== 'valid') return refused({ code: standingCodes[verdict.kind] })
  if (!isFromItsNetwork(context, request, verdict.key)) return refused({ code: 'key_network' })
  const found = await context.keys.findKey(session.keyId)
  if (found === undefined) return refused({ code: 'console_session_ended' })
  const { basePath } = context
  const body = JSON.stringify(sessionMembers({ door, basePath, origin, pictures }, session, found.record))
  return { kind: 'text', status: success.ok, headers: sessionHeaders, body }
}
