/** Turns failures into problems. */
import { StorageFailure } from '../../sql/storage-errors.ts'
import type { HttpContext } from '../context.ts'
import type { Request } from '../exchange.ts'
import type { Refusal } from './problem.ts'

/** A tenant waits for its own reads alone (sql/postgres/read-lines.ts). */
const readsWaiting: Refusal = {
  code: 'overloaded',
  detail:
    'The store has more to read for the tenant of this key than it can in time. Nothing was stored. Send fewer requests at the same time, and try again.',
}

/** Turns a thrown error into a refusal. Nothing of its message reaches the caller. */
export function refusalOfError(error: unknown): Refusal {
  if (error instanceof StorageFailure) {
    if (error.code === 'reads_waiting') return readsWaiting
    const isForNow = error.code === 'storage_closed' || error.code === 'feed_locked'
    return { code: isForNow ? 'storage_unavailable' : error.code }
  }
  return { code: 'internal_error' }
}

/** The same, and reports the cause, of which the caller learns nothing. */
export function reportedRefusal(
  { outages }: Pick<HttpContext, 'outages'>,
  { id, method }: Pick<Request, 'id' | 'method'>,
  error: unknown,
): Refusal {
  const refusal = refusalOfError(error)
  if (refusal.code === 'internal_error' || refusal.code.startsWith('storage_')) {
    outages.requestFailed(error, id, method === 'POST')
  }
  return refusal
}
