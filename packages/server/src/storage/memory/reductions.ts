import type { ErasureStore } from '../storage.ts'
import { isOfBranches } from './read-event.ts'
import type { MemoryFeed } from './state.ts'

/** As `ErasureStore.reductions`. */
export function reductionsAfter(
  feed: MemoryFeed | undefined,
  afterRevision: number,
  limit: number,
  branches: readonly string[] | undefined,
): Awaited<ReturnType<ErasureStore['reductions']>> {
  const isSeen = (position: number): boolean => {
    const event = feed?.events[position - 1]
    return event !== undefined && isOfBranches(event, branches)
  }
  const later = (feed?.reductions ?? [])
    .filter(({ revision }) => revision > afterRevision)
    .map((step) => ({ ...step, positions: step.positions.filter(isSeen) }))
    .filter(({ positions }) => positions.length > 0)
  let events = 0
  const taken = later.filter(({ positions }, index) => {
    events += positions.length
    return index === 0 || events <= limit
  })
  return taken.map(({ revision, positions }) => ({
    revision,
    sequenceNumbers: positions.flatMap((position) => feed?.events[position - 1]?.sequenceNumber ?? []),
  }))
}
