import type { FastifyReply, FastifyRequest } from 'fastify'
import { runPieces } from '../feed/read-run.ts'
import type { EventRun } from '../feed/read-run.ts'
import { preferredCoding } from './accept.ts'
import { feedHeaders } from './feed-headers.ts'
import { cacheHeaders } from './page-response.ts'
import { gaveUp, sendEvent } from './send-event-bytes.ts'

/** Answers 200 with a run of events. It has no tag: a reader that has caught up gets an empty run of 80 bytes. */
export async function sendRun(
  request: FastifyRequest,
  reply: FastifyReply,
  run: EventRun,
): Promise<undefined> {
  if (gaveUp(request, reply)) return undefined
  reply.headers({ ...cacheHeaders, ...feedHeaders({ ...run.head, sequenceNumber: run.headNumber }) })
  const coding = preferredCoding(request.headers['accept-encoding'])
  await sendEvent(request, reply, Buffer.concat(runPieces(run)), coding)
  return undefined
}
