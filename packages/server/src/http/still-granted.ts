/** Requests that wait are looked at now and then: what their key may do ends for them as for all others (D11). */
import { isDeepStrictEqual } from 'node:util'
import { feeds } from '@property-events/protocol'
import type { KeyVerdict } from '../keys/index.ts'
import type { FeedKey } from '../storage/storage.ts'
import { standingCodes } from './access.ts'
import type { HttpContext } from './context.ts'
import type { Access } from './exchange.ts'
import type { Refusal } from './problem.ts'

/** Revocation works within 2 s, of which what is known of a key takes one. */
export const lookAtKeyEveryMs = 500

/** Why a key that was granted a feed may not read it any more. Rejects as the store does. */
export async function refusalSince(
  { verifier }: Pick<HttpContext, 'verifier'>,
  { keyId = '', branches = [] }: Access,
  { tenantId, feed }: FeedKey,
): Promise<Refusal | undefined> {
  const verdict = await verifier.look(keyId)
  const refusal = refusalOfKey(verdict)
  if (refusal !== undefined || verdict.kind !== 'valid') return refusal
  const { readScope } = feeds[feed]
  const granted = verdict.key.grants.find(
    (grant) => grant.tenantId === tenantId && grant.scopes.includes(readScope),
  )
  // Other branches are another view: its reader begins again with it.
  const isSame = granted !== undefined && isDeepStrictEqual(granted.branches ?? [], branches)
  return isSame ? undefined : { code: 'key_disabled' }
}

/** Why a key may do nothing any more. */
export function refusalOfKey({ kind }: Pick<KeyVerdict, 'kind'>): Refusal | undefined {
  if (kind === 'valid') return undefined
  return { code: kind === 'unknown' ? 'unauthorized' : standingCodes[kind] }
}
