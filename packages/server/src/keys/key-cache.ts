import type { FoundKey, KeyStore } from './key.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'

/** The store's answer about an id, the time of the question, and the version of the store's keys that was read before it. */
interface Finding {
  readonly found: FoundKey | undefined
  readonly askedMs: number
  readonly version: string
}

interface CachedVersion {
  readonly version: string
  readonly askedMs: number
}

/** Keys in use at once; about 1 kB each. */
const cacheLimit = 20_000
/** Ids that do not exist are kept apart, so that guessing cannot push good keys out. */
const missingLimit = 2_000

export interface KeyFinder {
  find(keyId: string): Promise<FoundKey | undefined>
  /** The answer of `find` if it needs no query, else `undefined`. It is the same object while nothing changes. */
  cached(keyId: string): FoundKey | undefined
}

/**
 * Looks keys up by id. It asks the store for the version of its keys once in `cacheMs`; while that stays the same, every answer stays
 * valid. A thousand keys in use therefore cost one look-up a second instead of a thousand, which took a fifth of the serving thread's
 * time per publication (measured manually). Concurrent look-ups share one query. An answer is never older than `cacheMs`, counted from
 * before the query. Failures of the store are not remembered.
 */
export function cachedFinder(
  keys: Pick<KeyStore, 'findKey' | 'keysVersion'>,
  clock: () => number,
  cacheMs: number,
): KeyFinder {
  const cache = new BoundedMap<string, Finding>(cacheLimit)
  const missing = new BoundedMap<string, Finding>(missingLimit)
  // If the clock is set back, answers must not live longer.
  const isFresh: IsFresh = (askedMs, nowMs) => nowMs >= askedMs && nowMs - askedMs < cacheMs
  const reading = sharedReads<FoundKey | undefined>(isFresh)
  const versionReading = sharedReads<string>(isFresh)
  let current: CachedVersion | undefined

  const isCurrent = ({ askedMs, version }: Finding, nowMs: number): boolean =>
    isFresh(askedMs, nowMs) || (current?.version === version && isFresh(current.askedMs, nowMs))

  const currentVersion = (nowMs: number): string | Promise<string> => {
    if (current !== undefined && isFresh(current.askedMs, nowMs)) return current.version
    return versionReading('keys', nowMs, async () => {
      const version = await keys.keysVersion()
      current = { version, askedMs: nowMs }
      return version
    })
  }

  async function read(keyId: string, askedMs: number): Promise<FoundKey | undefined> {
    const version = await currentVersion(askedMs)
    const before = cache.get(keyId) ?? missing.get(keyId)
    if (before?.version === version) return before.found
    const found = await keys.findKey(keyId)
    const finding = { found, askedMs, version }
    if (found === undefined) {
      cache.delete(keyId)
      missing.set(keyId, finding)
    } else {
      missing.delete(keyId)
      cache.set(keyId, finding)
    }
    return found
  }

  return {
    async find(keyId) {
      const nowMs = clock()
      const finding = cache.get(keyId) ?? missing.get(keyId)
      if (finding !== undefined && isCurrent(finding, nowMs)) return finding.found
      return reading(keyId, nowMs, () => read(keyId, nowMs))
    },
    cached(keyId) {
      const finding = cache.get(keyId)
      return finding !== undefined && isCurrent(finding, clock()) ? finding.found : undefined
    },
  }
}

type IsFresh = (askedMs: number, nowMs: number) => boolean

type SharedReads<T> = (name: string, nowMs: number, read: () => Promise<T>) => Promise<T>

/** Concurrent reads of the same thing share one query, if the one under way is fresh enough. */
function sharedReads<T>(isFresh: IsFresh): SharedReads<T> {
  const underWay = new Map<string, { readonly askedMs: number; readonly answer: Promise<T> }>()
  return async (name, nowMs, read) => {
    const running = underWay.get(name)
    if (running !== undefined && isFresh(running.askedMs, nowMs)) return running.answer
    const entry = { askedMs: nowMs, answer: read() }
    underWay.set(name, entry)
    try {
      return await entry.answer
    } finally {
      if (underWay.get(name) === entry) underWay.delete(name)
    }
  }
}

interface CachedVerdict<Verdict> {
  readonly found: FoundKey | undefined
  readonly verdict: Verdict
  readonly fromMs: number
  /** It stays the same until then. */
  readonly untilMs: number
}

/**
 * Remembers the last verdict about each key. It stays the same object until it changes, so waiting requests need to compare nothing.
 * `endOf`: until when a verdict holds if the store's answer stays the same. The returned function rejects when the store does.
 */
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
