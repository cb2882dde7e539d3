/** What failed, as a problem. */
import { StorageFailure } from '../storage/storage.ts'
import type { HttpContext } from './context.ts'
import type { Request } from './exchange.ts'
import type { Refusal } from './problem.ts'

/** A thrown error to what the caller is told. Nothing of its message gets out. */
export function refusalOfError(error: unknown): Refusal {
  if (error instanceof StorageFailure) {
    const isForNow = error.code === 'storage_closed' || error.code === 'feed_locked'
    return { code: isForNow ? 'storage_unavailable' : error.code }
  }
  return { code: 'internal_error' }
}

/** The same; its cause is reported where the caller is told nothing of it. */
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
