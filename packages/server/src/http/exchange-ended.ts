/** What is noted about an exchange once its answer is with the kernel, or nobody takes it any more. */
import { statusOf } from './answer-head.ts'
import { consumerNameOf } from '../consumers/consumer-name.ts'
import type { HttpContext } from './context.ts'
import type { Exchange } from './exchange.ts'
import { feedRead } from '../reading/min-sequence.ts'
import { problems } from './problem/problem.ts'
import { reportExchange } from './report.ts'

/** `aborted`: the client went away before it had the answer. */
export function exchangeEnded(
  context: Pick<HttpContext, 'metrics' | 'requestLines' | 'readCounts' | 'usageCounts'>,
  exchange: Exchange,
  aborted: boolean,
): void {
  reportExchange(context, exchange, aborted)
  const { answer } = exchange
  if (!aborted && answer.kind === 'pieces' && answer.committedMs !== undefined) {
    context.metrics.live.delivered('long_poll', (Date.now() - answer.committedMs) / 1_000)
  }
  noteReading(context, exchange, aborted)
}

/** What a consumer was sent counts once the last byte was taken (D28). */
function noteReading(
  { readCounts }: Pick<HttpContext, 'readCounts'>,
  { request, routed, answer, keyId, tenantId, problem }: Exchange,
  aborted: boolean,
): void {
  // An answer to `HEAD` sends no events, and a consumer's report is not a read.
  if (keyId === undefined || request.method !== 'GET') return
  if (problem !== undefined) {
    // A path that does not exist refused nothing.
    if (feedRead(routed.access) === undefined || statusOf(answer) === problems.event_not_found.status) return
    const name = consumerNameOf(request)
    readCounts.noteRefusal({ keyId, name, tenantId, code: problem, status: statusOf(answer) })
    return
  }
  if (aborted || !('delivered' in answer) || answer.delivered === undefined) return
  readCounts.note(keyId, consumerNameOf(request), answer.delivered, statusOf(answer))
}
