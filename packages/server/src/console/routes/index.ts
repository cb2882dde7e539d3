/** The operations of `/console` itself; those under `/console/api` are the operations of the whole service (http/router.ts). */
import type { ConsoleDoor } from '../door.ts'
import type { Operation } from '../../http/operation.ts'
import { consolePages } from './pages.ts'
import { readSession } from './read-session.ts'
import { signIn } from './sign-in.ts'
import { signOut } from './sign-out.ts'
import type { SessionContext } from './read-session.ts'
import type { SignInContext } from './sign-in.ts'
import type { SignOutContext } from './sign-out.ts'

/** `pictures`: the service has pictures of its own. */
export function consoleOperations(
  context: SessionContext & SignInContext & SignOutContext,
  door: ConsoleDoor,
  pictures: boolean,
): readonly Operation[] {
  return [
    ...consolePages(context, door.files),
    signIn(context, door, pictures),
    readSession(context, door, pictures),
    signOut(context, door),
  ]
}
