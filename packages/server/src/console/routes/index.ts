/** The operations of `/console` itself; those under `/console/api` are the operations of the whole service (http/router.ts). */
import type { ConsoleDoor } from '../door.ts'
import type { Operation } from '../../http/operation.ts'
import { readSession, signOut } from './session.ts'
import { signIn } from './sign-in.ts'
import type { SessionContext, SignOutContext } from './session.ts'
import type { SignInContext } from './sign-in.ts'
import type { ConsoleFiles } from '../files.ts'
import { refused } from '../../http/exchange.ts'
import { answer, documentHeaders, openProblems } from '../../http/openapi/responses.ts'
import { success } from '../../http/problem/problem.ts'
import { documentCall } from '../../http/openapi/static-document.ts'
import type { DocumentContext, StaticDocument } from '../../http/openapi/static-document.ts'

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

/** The page of the console with its scripts and its style. Every path is a state of the page, which its script reads. */

/** What answering with files needs. */
type PagesContext = DocumentContext

function consolePages(context: PagesContext, { page, scripts, style }: ConsoleFiles): readonly Operation[] {
  return [
    fileAt(context, '/console', 'text/html', page),
    fileAt(context, '/console/*', 'text/html', page),
    ...[...scripts].map(([name, script]) => fileAt(context, `/console/${name}`, 'text/javascript', script)),
    fileAt(context, '/console/console.css', 'text/css', style),
  ]
}

function fileAt(
  context: PagesContext,
  path: string,
  mediaType: string,
  file: () => StaticDocument,
): Operation {
  return {
    method: 'GET',
    path,
    mediaType,
    access: undefined,
    schema: () => ({
      operationId: 'getConsole',
      summary: 'The console',
      description: 'Needs no key.',
      tags: ['Description'],
      security: [],
      response: {
        [success.ok]: answer('The file.', { type: 'string' }, documentHeaders, mediaType),
        ...openProblems(),
      },
    }),
    // The query is for the page.
    prepare: ({ params }) => {
      const isFile = params.some((rest) => rest.includes('.'))
      return isFile
        ? () => refused({ code: 'path_not_found' })
        : documentCall(context, { query: '', params }, file)
    },
  }
}
