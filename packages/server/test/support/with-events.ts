import type { StorageEngine } from '../../src/index.ts'
import { rangeReads } from './range-reads.ts'

/** The engine with some verbs of its events replaced: by ones that fail, wait or count. With `readRange` goes the one with a limit. */
export function withEvents(
  storage: StorageEngine,
  replaced: Partial<StorageEngine['events']>,
): StorageEngine {
  const { readRange } = replaced
  const limited = readRange && { readRangeWithin: rangeReads(readRange).readRangeWithin }
  return {
    ...storage,
    [Symbol.asyncDispose]: () => storage.close(),
    events: { ...storage.events, ...limited, ...replaced },
  }
}
