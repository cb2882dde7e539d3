/** `GET /v1/property-events/snapshot` and the same for contacts: the latest of every subject (PROTOCOL §11). */
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { openSnapshot } from '../../feed/snapshot.ts'
import type { Snapshot } from '../../feed/snapshot.ts'
import { preferredCoding } from '../accept.ts'
import { tenantOf } from '../authenticate.ts'
import type { HttpContext } from '../context.ts'
import { cursorSchemas, readCursorParameters, refusalOfCursor } from '../cursor-parameters.ts'
import { feedHeaders, feedHeaderSchemas } from '../feed-headers.ts'
import { answer, capital, keyedHeaders, feedReadProblems } from '../openapi-responses.ts'
import type { Operation } from '../operation.ts'
import { cacheHeaders } from '../page-response.ts'
import { success } from '../problem.ts'
import { sendProblem } from '../send.ts'
import { queryText } from '../target.ts'

const names = ['after', 'head', 'epoch', 'apiEventType'] as const
const mediaType = 'application/x-ndjson'

/** Level 1: a third of the bytes for a tenth of the time that the default takes. */
const gzipLevel = 1

export function readSnapshot(context: HttpContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { basePath, events, limits, log } = context
  return {
    method: 'GET',
    path: `${feed.publishPath}/snapshot`,
    mediaType,
    access: { scope: feed.readScope, refusal: 'own' },
    schema: () => ({
      operationId: `read${capital(feedName)}Snapshot`,
      summary: `Read the latest event of every ${feedName}`,
      description:
        'One event a line, ascending; the last line is `{"end":true,"head":…,"epoch":…,"revision":…,"events":…}`, and without it the answer was cut off: ask again with `after` = the last number that came, and the same `head` and `epoch`. Then go on with the events after `head`. A subject that changes meanwhile is left out here and comes there.',
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      querystring: { type: 'object', properties: cursorSchemas(names, feedName, limits) },
      response: {
        [success.ok]: answer(
          'The snapshot.',
          { type: 'string', description: 'An Event a line, then the end line.' },
          { ...keyedHeaders, ...feedHeaderSchemas },
          mediaType,
        ),
        ...feedReadProblems('missing_scope', 'ambiguous_tenant', 'cursor_beyond_head', 'epoch_changed'),
      },
    }),

    async handle(request, reply) {
      const reading = readCursorParameters(queryText(request.originalUrl), names, feedName, limits)
      if (reading.kind === 'faults') {
        return sendProblem(request, reply, basePath, { code: 'invalid_parameter', errors: reading.errors })
      }
      const { head: headNumber, ...cursor } = reading.parameters
      const key = { tenantId: tenantOf(request), feed: feedName }
      const snapshot = await openSnapshot(events, { key, ...cursor, headNumber })
      if (snapshot.kind !== 'snapshot')
        return sendProblem(request, reply, basePath, refusalOfCursor(snapshot))
      const head = { ...snapshot.head, sequenceNumber: snapshot.headNumber }
      reply.headers({ ...cacheHeaders, ...feedHeaders(head), 'content-type': mediaType })
      const coding = preferredCoding(request.headers['accept-encoding'])
      if (coding === 'gzip') reply.header('content-encoding', 'gzip')
      if (request.method === 'HEAD') return reply.send()
      const lines = Readable.from(linesOf(snapshot), { objectMode: false })
      lines.on('error', (error) => log.error({ requestId: request.id, err: error }, 'snapshot failed'))
      if (coding === 'identity') return reply.send(lines)
      const gzip = createGzip({ level: gzipLevel })
      // A store that fails cuts the answer off, which its reader sees by the missing end line.
      lines.on('error', (error) => gzip.destroy(error))
      gzip.on('close', () => lines.destroy())
      return reply.send(lines.pipe(gzip))
    },
  }
}

const lineEnd = Buffer.from('\n')

async function* linesOf(snapshot: Snapshot): AsyncGenerator<Uint8Array> {
  let count = 0
  for await (const piece of snapshot.pieces()) {
    count += piece.length
    yield Buffer.concat(piece.flatMap(({ json }) => [json, lineEnd]))
  }
  const { headNumber, head } = snapshot
  const end = { end: true, head: headNumber, epoch: head.epoch, revision: head.revision, events: count }
  yield Buffer.from(`${JSON.stringify(end)}\n`)
}
