import { feedNames } from '@property-events/protocol'
import { tenantMoved } from '../audit-changes.ts'
import { floorAfter, readClock } from '../clock.ts'
import { feedName } from '../storage.ts'
import type { FeedKey, HeldPart, MoveState, MoveStore } from '../storage.ts'
import { pieceOf, recordsPerPiece } from '../store-records.ts'
import type { EventRecord, FeedRecord, IdRecord, StoreRecord, SubjectRecord } from '../store-records.ts'
import { noteChanges } from './audit.ts'
import { expiringOf } from './expiry.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryFeed, MemoryStore } from './state.ts'
import { eventRecords, holdsOf, keptOf, reductionsOf } from './transfer.ts'

/** `changed`: called for each feed whose state has changed. */
export function memoryMoves(store: MemoryStore, changed: (key: FeedKey) => void): MoveStore {
  return {
    async states() {
      const { tenants, feeds } = openState(store)
      const entries = [...tenants.keys()].map((tenantId): [string, MoveState] => {
        return [tenantId, feeds.get(feedName({ tenantId, feed: 'property' }))?.move ?? 'open']
      })
      return new Map(entries.filter(([, move]) => move !== 'open'))
    },
    async change(tenantId, from, to, actor) {
      const feeds = feedNames.map((feed) => feedOf(store, { tenantId, feed }))
      if (feeds.some((feed) => feed?.move !== from)) return 'otherState'
      for (const feed of feeds) if (feed !== undefined) feed.move = to
      noteChanges(store, tenantMoved(tenantId, from, to), actor)
      for (const feed of feedNames) changed({ tenantId, feed })
      return 'done'
    },
    async exportTenant(tenantId, held, take) {
      for (const name of feedNames) {
        const key = { tenantId, feed: name }
        const feed = feedOf(store, key)
        if (feed === undefined) continue
        const counter = counterOf(store, key, feed, floorAfter(readClock(store.clock)))
        for (const piece of piecesOf(feed, key, held(key))) await take(piece)
        await take(reductionsOf(feed, key))
        await take([...keptOf(store, key), ...holdsOf(store, key), ...expiringOf(store, key)])
        await take([counter])
      }
    },
  }
}

function counterOf(
  store: MemoryStore,
  key: FeedKey,
  { epoch, offset, revision, thinned, events, needsEpoch, move, stampFloor }: MemoryFeed,
  now: bigint,
): FeedRecord {
  const floors = [stampFloor, openState(store).stampFloor, now]
  const floor = floors.reduce((one, other) => (one > other ? one : other))
  const lastPosition = events.length
  const counter = { epoch, offset, revision, thinned, lastPosition, needsEpoch, move, stampFloor: floor }
  return { kind: 'feed', key, ...counter }
}

function piecesOf(feed: MemoryFeed, key: FeedKey, held: HeldPart): readonly (readonly StoreRecord[])[] {
  const idRecord = (id: string): IdRecord[] => {
    const taken = feed.ids.get(id)
    return taken === undefined ? [] : [{ kind: 'id', key, id, ...taken }]
  }
  const subjectRecord = (subjectId: string): SubjectRecord[] => {
    const subject = feed.subjects.get(subjectId)
    if (subject === undefined) return []
    const { position, ...state } = subject
    return [{ kind: 'subject', key, subjectId, position, state }]
  }
  const events = eventRecords(feed, key).slice(held.position)
  const pieces: (readonly StoreRecord[])[] = []
  for (let from = 0; from < events.length; from += recordsPerPiece) {
    const part: readonly EventRecord[] = events.slice(from, from + recordsPerPiece)
    const ids = part.flatMap(({ id }) => idRecord(id))
    pieces.push(
      pieceOf(
        part,
        ids,
        part.flatMap(({ subjectId }) => subjectRecord(subjectId)),
      ),
    )
  }
  const skipped = [...feed.ids].filter(([, { skipped }]) => skipped !== null && skipped >= held.skippedUntil)
  pieces.push(skipped.flatMap(([id]) => idRecord(id)))
  return pieces
}
