/** What a consumer was sent is counted once the last byte was taken, and what it was refused (D28). */
import { problems } from '../http/problem/problem.ts'
import type { Exchange } from '../http/routed.ts'
import { feedRead } from '../reading/min-sequence.ts'
import { consumerNameOf } from './consumer-name.ts'
import type { ReadCounts } from './read-counts.ts'

/** `aborted`: the client went away before it had the answer. */
export function recordReading(
  readCounts: ReadCounts,
  { request, routed, answer, keyId, tenantId, problem }: Exchange,
  aborted: boolean,
  status: number,
): void {
  // An answer to `HEAD` sends no events, and a consumer's report is not a read.
  if (keyId === undefined || request.method !== 'GET') return
  if (problem !== undefined) {
    // A path that does not exist refused nothing.
    if (feedRead(routed.access) === undefined || status === problems.event_not_found.status) return
    const name = consumerNameOf(request)
    readCounts.noteRefusal({ keyId, name, tenantId, code: problem, status })
    return
  }
  if (aborted || !('delivered' in answer) || answer.delivered === undefined) return
  readCounts.note(keyId, consumerNameOf(request), answer.delivered, status)
}
