/** Erasing, on a database. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { erasureOf, erasureWithId } from '../../../privacy/erasure/store.ts'
import { sqlOver } from '../../../sql/postgres.ts'
import type { Erasing } from '../../../privacy/erasure/erasure.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import { beginErasure, countErased } from './begin-erasure.ts'
import type { EngineParts } from '../engine-parts.ts'
import { reduceEvents } from './reduce-events.ts'

export function databaseErasing(parts: EngineParts): Erasing {
  const { database, given, feedStates, watching, changes } = parts
  const nowMs = (): number | null => {
    const now = given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  const changed = (key: FeedKey): void => {
    feedStates.forget([key])
    changes.send([key])
    watching.notify(key)
  }
  return {
    async begin(request) {
      const outcome = await beginErasure(parts, request, nowMs())
      if (outcome.kind === 'changed') throw new Error('the erasure was not to depend on a position')
      if (outcome.kind === 'begun') changed(request.key)
      return outcome
    },
    async beginUnchanged(request, position) {
      const outcome = await beginErasure(parts, request, nowMs(), position)
      if (outcome.kind === 'begun') changed(request.key)
      const isUnknown = outcome.kind === 'unknownFeed' || outcome.kind === 'unknownTarget'
      return isUnknown ? { kind: 'changed' } : outcome
    },
    count: (key, target) => countErased((...asked) => database.read(...asked), key, target, nowMs()),
    async reduce(erasureId, limit) {
      const [row] = await sqlOver((...asked) => database.read(...asked)).rows(erasureWithId(erasureId))
      if (row?.state !== 'reducing') return { kind: 'finished' }
      const outcome = await reduceEvents(database, row, limit, nowMs())
      if (outcome.kind === 'reduced') changed(erasureOf(row).key)
      return outcome
    },
  }
}
