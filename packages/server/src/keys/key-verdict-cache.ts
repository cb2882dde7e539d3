/** Remembers the last verdict about each key. It stays the same object until it changes, so waiting requests need to compare nothing. */
import { BoundedMap } from '../runtime/bounded-map.ts'
import type { FoundKey } from './key.ts'
import type { KeyFinder } from './key-cache.ts'

interface CachedVerdict<Verdict> {
  readonly found: FoundKey | undefined
  readonly verdict: Verdict
  readonly fromMs: number
  /** It stays the same until then. */
  readonly untilMs: number
}

/** Keys in use at once. */
const cacheLimit = 20_000

/** `endOf`: until when a verdict holds if the store's answer stays the same. The returned function rejects when the store does. */
export function keyVerdictCache<Verdict>(
  finder: Pick<KeyFinder, 'find'>,
  clock: () => number,
  verdictOf: (found: FoundKey | undefined, nowMs: number) => Verdict,
  endOf: (found: FoundKey | undefined, nowMs: number) => number,
): (keyId: string) => Promise<Verdict> {
  const verdicts = new BoundedMap<string, CachedVerdict<Verdict>>(cacheLimit)
  return async (keyId) => {
    const found = await finder.find(keyId)
    const nowMs = clock()
    const before = verdicts.get(keyId)
    const isSame = before !== undefined && before.found === found
    if (isSame && nowMs >= before.fromMs && nowMs < before.untilMs) return before.verdict
    const verdict = verdictOf(found, nowMs)
    verdicts.set(keyId, { found, verdict, fromMs: nowMs, untilMs: endOf(found, nowMs) })
    return verdict
  }
}
