/** The grants of a waiting request's key end for that request as for all others (D11). */
import { isDeepStrictEqual } from 'node:util'
import { feeds } from '@property-events/protocol'
import type { EndSignal } from '../end-signal.ts'
import type { KeyVerdict } from '../keys/index.ts'
import type { FeedKey } from '../storage/storage.ts'
import { standingCodes } from './access.ts'
import type { HttpContext } from './context.ts'
import type { Access } from './exchange.ts'
import type { WatchedKey } from './key-looks.ts'
import type { Refusal } from './problem.ts'

/** Watches the key of a request that waits for events of this feed. */
export function watchKey(
  { looks }: Pick<HttpContext, 'looks'>,
  access: Access,
  key: FeedKey,
  gone: EndSignal,
): WatchedKey {
  return looks.watch(
    access.keyId ?? '',
    (verdict) => refusalOf(verdict, access, key) !== undefined,
    gone,
    access.session,
  )
}

/** Why a key that was granted a feed may no longer read it. Rejects as the store does. */
export async function refusalSince(
  { verifier }: Pick<HttpContext, 'verifier'>,
  access: Access,
  key: FeedKey,
): Promise<Refusal | undefined> {
  if ((await access.session?.isOpen()) === false) return { code: 'console_session_ended' }
  return refusalOf(await verifier.look(access.keyId ?? ''), access, key)
}

function refusalOf(
  verdict: KeyVerdict,
  { branches = [] }: Access,
  { tenantId, feed }: FeedKey,
): Refusal | undefined {
  const refusal = refusalOfKey(verdict)
  if (refusal !== undefined || verdict.kind !== 'valid') return refusal
  const { readScope } = feeds[feed]
  const granted = verdict.key.grants.find(
    (grant) => grant.tenantId === tenantId && grant.scopes.includes(readScope),
  )
  // Other branches are another view, so the reader has to begin again with it.
  const isSame = granted !== undefined && isDeepStrictEqual(granted.branches ?? [], branches)
  return isSame ? undefined : { code: 'key_disabled' }
}

/** Why a key may no longer do anything. */
export function refusalOfKey({ kind }: Pick<KeyVerdict, 'kind'>): Refusal | undefined {
  if (kind === 'valid') return undefined
  return { code: kind === 'unknown' ? 'unauthorized' : standingCodes[kind] }
}
