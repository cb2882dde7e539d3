/** From `unreachable` to `overwritten` (D17, docs/decisions/0030): rewrites the store and updates receipts. */
import type { Actor } from '../../audit/actor.ts'
import type { StorageEngine } from '../../store/storage.ts'
import type { WaitingErasure } from './erasure.ts'

export type Compaction =
  /** No erasure waits for it, and nothing was done. */
  | { readonly kind: 'nothingWaits' }
  /** `waited`: the erasures that had become `unreachable` before it began. All of them are now `overwritten`. */
  | { readonly kind: 'compacted'; readonly waited: readonly WaitingErasure[] }

/**
 * Rewrites the store if an erasure waits for that, or in any case with `always`. An erasure that becomes `unreachable` meanwhile waits
 * for the next rewrite.
 */
export async function compactStore(
  { erasures, rewrite }: Pick<StorageEngine, 'erasures' | 'rewrite'>,
  actor: Actor,
  { always }: { readonly always: boolean },
): Promise<Compaction> {
  const waited = await erasures.waiting()
  if (waited.length === 0 && !always) return { kind: 'nothingWaits' }
  await rewrite()
  await erasures.markOverwritten(
    waited.map(({ erasureId }) => erasureId),
    actor,
  )
  return { kind: 'compacted', waited }
}
