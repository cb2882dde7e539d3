import type { StorageEngine } from '../store/storage.ts'

/** The parts of the port that operations use as they are. */
export type StoreParts = Pick<
  StorageEngine,
  | 'tenants'
  | 'audit'
  | 'deletions'
  | 'consumers'
  | 'erasures'
  | 'events'
  | 'expiry'
  | 'holds'
  | 'keys'
  | 'leaving'
  | 'names'
  | 'publications'
  | 'restrictions'
  | 'silence'
  | 'usage'
>

export function storeParts(storage: StorageEngine): StoreParts {
  const { tenants, audit, consumers, deletions, erasures, events, expiry, holds } = storage
  const { keys, leaving, names, publications, restrictions, silence, usage } = storage
  return {
    tenants,
    audit,
    consumers,
    deletions,
    erasures,
    events,
    expiry,
    holds,
    keys,
    leaving,
    names,
    publications,
    restrictions,
    silence,
    usage,
  }
}
