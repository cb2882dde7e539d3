import type { StorageEngine } from '../../src/index.ts'

/** The engine with some verbs of its events replaced: by ones that fail, wait or count. */
export function withEvents(
  storage: StorageEngine,
  replaced: Partial<StorageEngine['events']>,
): StorageEngine {
  return {
    ...storage,
    [Symbol.asyncDispose]: () => storage.close(),
    events: { ...storage.events, ...replaced },
  }
}
