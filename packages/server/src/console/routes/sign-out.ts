/** `DELETE /console/session`: signs out, and ends every request of the session that still waits (PROTOCOL §15.3). */
import { refusalAtDoor } from '../../keys/access/access.ts'
import { failuresOf } from '../../keys/access/network.ts'
import type { ConsoleDoor } from '../door.ts'
import { refused } from '../../http/exchange.ts'
import type { Outcome, Request } from '../../http/exchange.ts'
import { success } from '../../http/problem/problem.ts'
import { refusalOfParameters } from '../../http/requests/query.ts'
import type { Operation } from '../../http/operation.ts'
import { cookieHeaders, sessionSchema } from './session-answer.ts'
import type { CookieContext } from './session-answer.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { NetworkContext } from '../../keys/access/network.ts'

/** What signing out needs. */
export interface SignOutContext extends CookieContext, NetworkContext {
  readonly limits: ServiceLimits
}

export function signOut(context: SignOutContext, door: ConsoleDoor): Operation {
  return {
    method: 'DELETE',
    path: '/console/session',
    mediaType: 'application/json',
    access: undefined,
    schema: sessionSchema('signOut', 'Sign out of the console', 'console_session_ended'),
    prepare({ query }) {
      const refusal = refusalOfParameters(query, context.limits.maxParameters)
      if (refusal !== undefined) return () => refused(refusal)
      return (request) => end(context, door, request)
    },
  }
}

/** Also works for a key that has ended. */
async function end(context: SignOutContext, door: ConsoleDoor, request: Request): Promise<Outcome> {
  const failures = failuresOf(context, request)
  const entered = await door.enter(request)
  if (entered.kind !== 'session') return refusalAtDoor(entered, failures)
  await door.sessions.end(entered.session)
  const { 'content-type': _, ...headers } = cookieHeaders(context, door, entered.origin)
  return { kind: 'text', status: success.noContent, headers, body: '' }
}
