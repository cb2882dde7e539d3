import type { Ticks } from '@property-events/protocol'
import { skippedIdsEnd, skippedIdsPerStep } from '../skipped-ids.ts'
import type { MemoryState } from './state.ts'

export function forgetSkippedIds({ feeds }: MemoryState, now: Ticks): number {
  const end = skippedIdsEnd(now)
  const old = [...feeds.values()]
    .flatMap(({ ids }) =>
      [...ids].flatMap(([id, { skipped }]) =>
        skipped === null || skipped >= end ? [] : [{ ids, id, skipped }],
      ),
    )
    .toSorted((a, b) => (a.skipped < b.skipped ? -1 : 1))
    .slice(0, skippedIdsPerStep)
  for (const { ids, id } of old) ids.delete(id)
  return old.length
}
