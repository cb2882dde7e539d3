import type { StorageEngine } from '../storage/storage.ts'

/** The parts of the port that operations use as they are. */
export type StoreParts = Pick<
  StorageEngine,
  'admin' | 'audit' | 'erasures' | 'events' | 'expiry' | 'holds' | 'keys' | 'leaving' | 'restrictions'
>

export function storeParts(storage: StorageEngine): StoreParts {
  const { admin, audit, erasures, events, expiry, holds, keys, leaving, restrictions } = storage
  return { admin, audit, erasures, events, expiry, holds, keys, leaving, restrictions }
}
