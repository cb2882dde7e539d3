/** Erasing, on a file: counts on this thread, writes on the writer's. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import type { Erasing } from '../../../privacy/erasure/erasure.ts'
import type { Watchers } from '../../../events/watchers.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { erasedRangeReader } from './erasure-writes.ts'
import type { ErasureWrites } from './erasure-writes.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'

export function fileErasing(
  db: Connection,
  clock: SharedClock | undefined,
  writer: OnWriter<ErasureWrites>,
  watching: Watchers,
): Erasing {
  const rangeOf = erasedRangeReader(db, () => millisecondsOfTicks(readClock(clock)))
  return {
    async begin(request) {
      const outcome = await writer.beginErasure(request)
      if (outcome.kind === 'begun') watching.notify(request.key)
      return outcome
    },
    async beginUnchanged(request, position) {
      const outcome = await writer.beginUnchangedErasure(request, position)
      if (outcome.kind === 'begun') watching.notify(request.key)
      return outcome
    },
    async count(key, target) {
      const found = rangeOf(key, target)
      return 'kind' in found ? found : { kind: 'counted', events: found.events }
    },
    async reduce(erasureId, limit) {
      const outcome = await writer.reduceErased(erasureId, limit)
      if (outcome.kind === 'reduced') watching.notify(undefined)
      return outcome
    },
  }
}
