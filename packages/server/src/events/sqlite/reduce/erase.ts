/** Erasing, on a file: counts on this thread, writes on the writer's. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import type { Unguarded } from '../../../sql/guarded.ts'
import type { Erasing } from '../../../privacy/erasure/erasure.ts'
import type { Watchers } from '../../watchers.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { erasedRangeReader } from './erased-range.ts'
import type { WriterLink } from '../writer/writer-link.ts'

export function fileErasing(
  db: Connection,
  { clock, link }: { readonly clock: SharedClock | undefined; readonly link: WriterLink },
  watching: Watchers,
): Unguarded<Erasing> {
  const rangeOf = erasedRangeReader(db, () => millisecondsOfTicks(readClock(clock)))
  return {
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
    count(key, target) {
      const found = rangeOf(key, target)
      return 'kind' in found ? found : { kind: 'counted', events: found.events }
    },
    async reduce(erasureId, limit) {
      const outcome = await link.call('reduceErased', erasureId, limit)
      if (outcome.kind === 'reduced') watching.tell(undefined)
      return outcome
    },
  }
}
