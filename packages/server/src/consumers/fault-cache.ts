/** What needs somebody, looked for no more often than people can act on it, and only while somebody asks. */
import type { TenantStore } from '../tenants/tenant.ts'
import type { SilenceStore } from './silence/silence.ts'
import type { PublicationStore } from '../publishing/history/publication.ts'
import type { KeyStore } from '../keys/key.ts'
import type { ConsumerStore } from './consumer.ts'
import { listFaults } from './list-faults.ts'
import type { FoundFaults } from './list-faults.ts'

export interface FaultCache {
  /** As of at most 30 s ago, for all who ask. */
  find(): Promise<FoundFaults & { readonly atMs: number }>
}

/** A look over 30,000 keys takes some 0.7 s of the processor, in steps of 3 ms between which others have their turn. */
const keptMs = 30_000

/** `clock`: milliseconds since 1970. */
export function faultCache(
  storage: {
    readonly consumers: ConsumerStore
    readonly keys: KeyStore
    readonly publications: PublicationStore
    readonly silence: SilenceStore
    readonly tenants: TenantStore
  },
  clock: () => number,
): FaultCache {
  type Kept = { readonly atMs: number; readonly found: Promise<FoundFaults & { readonly atMs: number }> }
  let kept: Kept | undefined
  return {
    find() {
      const atMs = clock()
      // A clock that was set back must not keep an answer alive.
      if (kept !== undefined && atMs >= kept.atMs && atMs - kept.atMs < keptMs) return kept.found
      const looked = { atMs, found: listFaults(storage, atMs).then((found) => ({ ...found, atMs })) }
      kept = looked
      // Requests that wait for this look get its failure; later requests look again.
      looked.found.catch(() => {
        if (kept === looked) kept = undefined
      })
      return looked.found
    },
  }
}
