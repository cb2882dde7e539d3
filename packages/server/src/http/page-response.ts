/** A located page to an answer: validators first, events only when they are needed (D4, D20). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { locatePage } from '../feed/list.ts'
import type { PageRequest } from '../feed/list.ts'
import { preferredCoding } from './accept.ts'
import type { HttpContext } from './context.ts'
import { pageTag, tagMatches } from './entity-tag.ts'
import { feedHeaders } from './feed-headers.ts'
import { sendNotModified } from './not-modified.ts'
import { gaveUp, sendBody } from './send-event-bytes.ts'
import { sendProblem } from './send.ts'

/** Whose cache may keep an answer, and that it must ask before using it: totals change with every publish. */
export const cacheHeaders = {
  'cache-control': 'private, no-cache',
  vary: 'x-api-key, accept-encoding',
} as const

/** Answers a list request: 304 after the look-up alone, else 200 with the page. */
export async function sendPage(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  pageRequest: PageRequest,
): Promise<FastifyReply | undefined> {
  const located = await locatePage(context.ranges, pageRequest)
  if (located === undefined) return sendProblem(request, reply, context.basePath, { code: 'key_disabled' })
  const coding = preferredCoding(request.headers['accept-encoding'])
  const tag = pageTag(pageRequest, located, coding)
  reply.headers({ ...cacheHeaders, etag: tag, ...feedHeaders(located.head) })
  if (tagMatches(request.headers['if-none-match'], tag)) return sendNotModified(context, request, reply)
  if (gaveUp(request, reply)) return undefined
  // An empty page is shorter than a gzip header is worth.
  const sent = located.range.count === 0 ? 'identity' : coding
  const body = await context.pages.read(located, sent)
  if (gaveUp(request, reply)) body.release()
  else sendBody(request, reply, body, sent)
  return undefined
}
