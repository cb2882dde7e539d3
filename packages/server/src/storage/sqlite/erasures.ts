/** The port's part for erasing, on a file: reads on this thread, writes on the writer's. */
import type { SharedClock } from '../clock.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { ErasureStore } from '../storage.ts'
import type { Watchers } from '../watchers.ts'
import type { Connection } from './connection.ts'
import { erasureReads } from './erasure-reads.ts'
import type { WriterLink } from './writer-link.ts'

export function fileErasures(
  db: Connection,
  { clock, link }: { readonly clock: SharedClock | undefined; readonly link: WriterLink },
  watching: Watchers,
): Unguarded<ErasureStore> {
  return {
    ...erasureReads(db, clock),
    async begin(request) {
      const outcome = await link.call('beginErasure', request)
      if (outcome.kind === 'begun') watching.tell(request.key)
      return outcome
    },
    async beginUnchanged(request, position) {
      const outcome = await link.call('beginUnchangedErasure', request, position)
      if (outcome.kind === 'begun') watching.tell(request.key)
      return outcome
    },
    async reduce(erasureId, limit) {
      const outcome = await link.call('reduceErased', erasureId, limit)
      if (outcome.kind === 'reduced') watching.tell(undefined)
      return outcome
    },
    acknowledge: (erasureId, nodeId) => link.call('acknowledgeErasure', erasureId, nodeId),
    markOverwritten: (erasureIds, actor) => link.call('markOverwritten', erasureIds, actor),
  }
}
