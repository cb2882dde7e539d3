/**
 * The Fastify app: hooks that every request passes, then one route per operation. In front of it the contract's two reads
 * and publishing are answered directly where nothing is unusual about them. Listens nowhere by itself.
 */
import { feedNames } from '@property-events/protocol'
import { fastify } from 'fastify'
import type { FastifyInstance } from 'fastify'
import { clientErrorHandler } from './client-error.ts'
import type { HttpContext } from './context.ts'
import { directPublishing } from './direct/direct-publishing.ts'
import { takePlainConnections } from './direct/plain-connections.ts'
import type { PlainConnections } from './direct/plain-connections.ts'
import { docsPage } from './docs-page.ts'
import { refusalOfError, reportedRefusal } from './errors.ts'
import { guardRequest } from './guards.ts'
import { openApiText } from './openapi-document.ts'
import type { Operation } from './operation.ts'
import { registerOperation } from './register-operation.ts'
import { commonHeaders, factsOf } from './request-facts.ts'
import { reportRequest } from './report-request.ts'
import { docs } from './routes/docs.ts'
import { getEvent } from './routes/get-event.ts'
import { getSubject } from './routes/get-subject.ts'
import { readHeads } from './routes/heads.ts'
import { listEvents } from './routes/list-events.ts'
import { openApi } from './routes/openapi.ts'
import { publishEvents } from './routes/publish-events.ts'
import { readEventRun } from './routes/read-run.ts'
import { readSnapshot } from './routes/snapshot.ts'
import { subjectHistory } from './routes/subject-history.ts'
import { sendProblem } from './send.ts'
import { createLimitedServer, routerOptions } from './server-options.ts'
import { madeOnce, staticDocument } from './static-document.ts'
import { answerUnrouted, routeTable } from './unrouted.ts'

export interface App {
  readonly fastify: FastifyInstance
  /** Those that Fastify's server has not been given; to be closed with it. */
  readonly plain: PlainConnections
}

export async function buildApp(context: HttpContext): Promise<App> {
  const { limits, basePath } = context
  const onBroken = clientErrorHandler(context)
  const app = fastify({
    ...routerOptions(limits, basePath),
    serverFactory: (router) => createLimitedServer(limits, directPublishing(context, router)),
    clientErrorHandler: onBroken,
    frameworkErrors: (error, request, reply) => {
      sendProblem(request, reply, basePath, refusalOfError(error, limits.maxBodyBytes))
    },
  })
  /** The route table: one line per operation. */
  const operations: readonly Operation[] = [
    ...feedNames.flatMap((feed) => [listEvents(context, feed), getEvent(context, feed)]),
    ...feedNames.map((feed) => publishEvents(context, feed)),
    ...feedNames.flatMap((feed) => [
      readEventRun(context, feed),
      readSnapshot(context, feed),
      getSubject(context, feed),
      subjectHistory(context, feed),
    ]),
    readHeads(context),
    openApi(
      context,
      madeOnce(() => staticDocument('application/json', openApiText(operations, basePath))),
    ),
    docs(
      context,
      madeOnce(() => docsPage(operations, basePath)),
    ),
  ]
  const table = routeTable(operations)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onRequest', async (request, reply) => {
    factsOf(request)
    reply.headers(commonHeaders(request.id))
    if (context.stopping()) reply.header('connection', 'close')
    const refusal = guardRequest(request.raw, request.originalUrl, limits)
    if (refusal !== undefined) return sendProblem(request, reply, basePath, refusal)
    return request.is404 ? answerUnrouted(table, basePath, request, reply) : undefined
  })
  app.addHook('onResponse', async (request, reply) => reportRequest(context, request, reply))
  app.setNotFoundHandler((request, reply) => answerUnrouted(table, basePath, request, reply))
  app.setErrorHandler((error, request, reply) =>
    sendProblem(request, reply, basePath, reportedRefusal(context, request.id, error)),
  )

  for (const operation of operations) registerOperation(app, context, operation)
  await app.ready()
  return { fastify: app, plain: takePlainConnections(context, app.server, onBroken) }
}
