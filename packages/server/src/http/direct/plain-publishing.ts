/**
 * Publishing over a connection that is still plain: a request that came in one piece, as single events do. A long one comes in
 * several, and takes its connection to Node's HTTP (`direct-publishing.ts`).
 */
import type { Socket } from 'node:net'
import { feeds } from '@property-events/protocol'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { reportedRefusal } from '../errors.ts'
import { answerPublish } from '../publish-request.ts'
import { provenAccess } from './access.ts'
import type { DirectAccess } from './access.ts'
import { textAnswer } from './answer-publish.ts'
import type { AnswerUnderWay, DirectAnswer } from './answer.ts'
import type { PlainPublication } from './plain-head.ts'

/** `undefined`: the router's, and no token was taken. */
export type PlainPublishing = (
  request: PlainPublication,
  socket: Socket,
  requestId: string,
) => AnswerUnderWay | undefined | Promise<AnswerUnderWay | undefined>

export function plainPublishing(context: HttpContext): PlainPublishing {
  const publish = async (
    { target, targetText, format }: PlainPublication,
    body: Buffer,
    { tenantId }: DirectAccess,
    requestId: string,
  ): Promise<DirectAnswer> => {
    const { feed, parameters } = target
    const head = { kind: 'head', format, parameters } as const
    const answered = await answerPublish(context, { tenantId, feed }, head, body).catch((error: unknown) => ({
      kind: 'refused' as const,
      refusal: reportedRefusal(context, requestId, error),
    }))
    return { kind: 'text', ...textAnswer(context, targetText, requestId, answered) }
  }

  return (request, socket, requestId) => {
    const { target, keyBytes, headers } = request
    const asker = { key: keyBytes, socket, forwardedFor: headers.forwardedFor }
    const access = provenAccess(context, asker, feeds[target.feed].publishScope)
    return whenThere(access, (proven) => {
      if (proven === undefined) return undefined
      // In memory of its own, which the publisher gives back as soon as it has read it.
      const body = Buffer.allocUnsafeSlow(request.body.length)
      request.body.copy(body)
      return { route: target.route, access: proven, answer: publish(request, body, proven, requestId) }
    })
  }
}
