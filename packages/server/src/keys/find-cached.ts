import type { FoundKey, KeyStore } from '../storage/storage.ts'
import { BoundedMap } from '../bounded-map.ts'

/** The store's answer about an id, and when it was asked. */
interface Finding {
  readonly found: FoundKey | undefined
  readonly askedMs: number
}

/** Keys in use at once; about 1 kB each. */
const knownLimit = 20_000
/** Ids that do not exist are kept apart, so that guessing cannot push good keys out. */
const missingLimit = 2_000

export interface KeyFinder {
  find(keyId: string): Promise<FoundKey | undefined>
  /** The answer of `find` if it needs no query; `undefined` also where it would need one. */
  known(keyId: string): FoundKey | undefined
}

/**
 * Looks keys up by id, at most once in `cacheMs` for each id: concurrent look-ups share one query. An answer is never
 * older than `cacheMs`, counted from before the query. Failures of the store are not remembered.
 */
export function cachedFinder(
  keys: Pick<KeyStore, 'findKey'>,
  clock: () => number,
  cacheMs: number,
): KeyFinder {
  const known = new BoundedMap<string, Finding>(knownLimit)
  const missing = new BoundedMap<string, Finding>(missingLimit)
  const reading = new Map<
    string,
    { readonly askedMs: number; readonly answer: Promise<FoundKey | undefined> }
  >()

  // A clock that was set back must not keep an answer alive.
  const isFresh = (askedMs: number, nowMs: number) => nowMs >= askedMs && nowMs - askedMs < cacheMs

  async function read(keyId: string, askedMs: number): Promise<FoundKey | undefined> {
    const found = await keys.findKey(keyId)
    const finding = { found, askedMs }
    if (found === undefined) {
      known.delete(keyId)
      missing.set(keyId, finding)
    } else {
      missing.delete(keyId)
      known.set(keyId, finding)
    }
    return found
  }

  async function find(keyId: string): Promise<FoundKey | undefined> {
    const nowMs = clock()
    const finding = known.get(keyId) ?? missing.get(keyId)
    if (finding !== undefined && isFresh(finding.askedMs, nowMs)) return finding.found
    const running = reading.get(keyId)
    if (running !== undefined && isFresh(running.askedMs, nowMs)) return running.answer
    const answer = read(keyId, nowMs)
    const entry = { askedMs: nowMs, answer }
    reading.set(keyId, entry)
    try {
      return await answer
    } finally {
      if (reading.get(keyId) === entry) reading.delete(keyId)
    }
  }

  return {
    find,
    known(keyId) {
      const finding = known.get(keyId)
      return finding !== undefined && isFresh(finding.askedMs, clock()) ? finding.found : undefined
    },
  }
}
