/** The operations of `/console` itself; those under `/console/api` are the operations of the whole service (http/router.ts). */
import type { ConsoleDoor } from '../door.ts'
import type { Operation } from '../../http/operation.ts'
import { readSession, signOut } from './session.ts'
import { signIn } from './sign-in.ts'
import type { SignInContext } from './sign-in.ts'
import type { ConsoleFiles } from '../files.ts'
import { refused } from '../../http/exchange.ts'
import { openOperation } from '../../http/openapi/description-routes.ts'
import { documentCall } from '../../http/openapi/static-document.ts'
import type { StaticDocument } from '../../http/openapi/static-document.ts'

export function consoleOperations(context: SignInContext, door: ConsoleDoor): readonly Operation[] {
  return [
    ...consolePages(door.files),
    signIn(context, door),
    readSession(context, door),
    signOut(context, door),
  ]
}

/** The page of the console with its scripts and its style. Every path is a state of the page, which its script reads. */
function consolePages({ page, scripts, style }: ConsoleFiles): readonly Operation[] {
  return [
    fileAt('/console', 'text/html', page),
    fileAt('/console/*', 'text/html', page),
    ...[...scripts].map(([name, script]) => fileAt(`/console/${name}`, 'text/javascript', script)),
    fileAt('/console/console.css', 'text/css', style),
  ]
}

function fileAt(path: string, mediaType: string, file: () => StaticDocument): Operation {
  return openOperation({
    path,
    mediaType,
    operationId: 'getConsole',
    summary: 'The console',
    description: 'Needs no key.',
    ok: 'The file.',
    // The query is for the page.
    prepare: ({ params }) => {
      const isFile = params.some((rest) => rest.includes('.'))
      return isFile ? () => refused({ code: 'path_not_found' }) : documentCall(file)
    },
  })
}
