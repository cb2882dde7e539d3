import { feedNames } from '@property-events/protocol'
import { parseEventJson } from '../event-json.ts'
import { feedName } from '../storage.ts'
import { storeFilled } from '../audit-changes.ts'
import type { Actor, FeedKey } from '../storage.ts'
import { positionFault, recordsPerPiece } from '../store-records.ts'
import type { EventRecord, KeptRecord, StoreRecord, ThinningRecord } from '../store-records.ts'
import { noteChanges } from './audit.ts'
import { enterBranchViews } from './branch-views.ts'
import { takeResults } from './consumers.ts'
import { reduceEvent } from './erasures.ts'
import { expiringOf, importExpiring } from './expiry.ts'
import { hide, show } from './restrictions.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryFeed, MemoryStore } from './state.ts'

export async function exportRecords(
  store: MemoryStore,
  after: (key: FeedKey) => number,
  take: (records: readonly StoreRecord[]) => Promise<void>,
): Promise<void> {
  const { tenants, firstOffset, needsEpoch, stampFloor } = openState(store)
  // Everything from one moment: collected before the first piece is handed over.
  const records: StoreRecord[] = [...tenants.keys()].flatMap((tenantId) =>
    feedNames.flatMap((feed) => feedRecords(store, { tenantId, feed }, after)),
  )
  records.push({ kind: 'whole', firstOffset, needsEpoch, reservedUntil: stampFloor })
  for (let from = 0; from < records.length; from += recordsPerPiece) {
    await take(records.slice(from, from + recordsPerPiece))
  }
}

function feedRecords(
  store: MemoryStore,
  key: FeedKey,
  after: (key: FeedKey) => number,
): readonly StoreRecord[] {
  const feed = feedOf(store, key)
  if (feed === undefined) return []
  const { epoch, offset, revision, thinned, events, needsEpoch, move, stampFloor } = feed
  const lastPosition = events.length
  return [
    ...eventRecords(feed, key).slice(after(key)),
    ...[...feed.ids].map(([id, taken]) => ({ kind: 'id' as const, key, id, ...taken })),
    ...[...feed.subjects].map(([subjectId, { position, ...state }]) => {
      return { kind: 'subject' as const, key, subjectId, position, state }
    }),
    ...reductionsOf(feed, key),
    ...keptOf(store, key),
    ...holdsOf(store, key),
    ...expiringOf(store, key),
    { kind: 'feed', key, epoch, offset, revision, thinned, lastPosition, needsEpoch, move, stampFloor },
  ]
}

/** What erasures and retention have reduced. */
export function reductionsOf(feed: MemoryFeed, key: FeedKey): readonly StoreRecord[] {
  const erased: readonly StoreRecord[] = feed.reductions.map(({ revision, positions }) => {
    const events = positions.flatMap((position) => {
      const event = feed.events[position - 1]
      if (event === undefined) return []
      const kept = event.payloadState === 'erased' ? {} : { isKept: true as const }
      return [{ position, sequenceNumber: event.sequenceNumber, ...kept }]
    })
    return { kind: 'reduction', key, revision, events }
  })
  return [...erased, ...feed.thinnings.map((step) => ({ kind: 'thinning' as const, key, ...step }))]
}

/** What is kept of restricted contacts, what is shown again, and the restrictions. */
export function keptOf(store: MemoryStore, key: FeedKey): readonly StoreRecord[] {
  const feed = feedOf(store, key)
  if (feed === undefined) return []
  const touched = feed.reductions.flatMap(({ positions }) => positions)
  const positions = [...new Set([...touched, ...feed.kept.keys()])].toSorted((a, b) => a - b)
  const kept = positions.flatMap((position): StoreRecord[] => {
    const event = feed.events[position - 1]
    if (event?.payloadState !== 'full' && event?.payloadState !== 'restricted') return []
    const hidden = feed.kept.get(position)
    const { subjectId, id } = event
    const json = new TextDecoder().decode(hidden ?? event.json)
    const contentHash = feed.ids.get(id)?.contentHash ?? null
    return [{ kind: 'kept', key, position, subjectId, json, contentHash, isHidden: hidden !== undefined }]
  })
  const restrictions = [...openState(store).restrictions.values()]
    .filter(({ restriction }) => feedName(restriction.key) === feedName(key))
    .map(({ restriction, nextPosition, lastPosition }): StoreRecord => {
      return { kind: 'restriction', ...restriction, nextPosition, lastPosition }
    })
  return [...kept, ...restrictions]
}

export function holdsOf(store: MemoryStore, key: FeedKey): readonly StoreRecord[] {
  const holds = [...openState(store).holds.values()]
  const own = holds.filter((hold) => feedName(hold.key) === feedName(key))
  return own.map((hold) => ({ kind: 'hold', ...hold }))
}

export function eventRecords(feed: MemoryFeed, key: FeedKey): readonly EventRecord[] {
  return feed.events.map(({ json: bytes, ...event }, index) => {
    const json = new TextDecoder().decode(bytes)
    const code = parseEventJson(json).eventTypeShortCode
    return { kind: 'event', key, position: index + 1, ...event, json, code }
  })
}

export function importRecords(store: MemoryStore, records: readonly StoreRecord[], actor: Actor): void {
  checkPositions(store, records)
  for (const record of records) {
    importRecord(store, record)
    if (record.kind === 'whole') noteChanges(store, storeFilled(record), actor)
  }
}

/** Checked before anything is changed. */
function checkPositions(store: MemoryStore, records: readonly StoreRecord[]): void {
  const lastPositions = new Map<string, number>()
  for (const record of records) {
    if (record.kind === 'whole') continue
    const { key } = record
    const name = feedName(key)
    const feed = feedOf(store, key)
    if (feed === undefined) throw new Error(`no tenant ${key.tenantId}`)
    const last = lastPositions.get(name) ?? feed.events.length
    if (record.kind === 'event') {
      if (record.position !== last + 1) throw positionFault(key, last + 1, record.position)
      lastPositions.set(name, record.position)
    }
    if (record.kind === 'feed' && record.lastPosition !== last) {
      throw positionFault(key, last, record.lastPosition)
    }
  }
}

function importThinning(feed: MemoryFeed, { thinned, positions, key }: ThinningRecord): void {
  for (const position of positions) {
    // It was restricted when it came, and the restriction has been lifted since.
    feed.kept.delete(position)
    reduceEvent(feed, key, position, 'thinned')
  }
  const known = feed.thinnings.findIndex((one) => one.thinned === thinned)
  const before = feed.thinnings[known]?.positions ?? []
  const all = [...new Set([...before, ...positions])].toSorted((a, b) => a - b)
  if (known >= 0) feed.thinnings[known] = { thinned, positions: all }
  else feed.thinnings.push({ thinned, positions: all })
}

function importRecord(store: MemoryStore, record: StoreRecord): void {
  const state = openState(store)
  if (record.kind === 'whole') {
    state.firstOffset = record.firstOffset
    state.needsEpoch = record.needsEpoch
    const { reservedUntil = 0n } = record
    if (reservedUntil > state.stampFloor) state.stampFloor = reservedUntil
    return
  }
  const feed = feedOf(store, record.key)
  if (feed === undefined) return
  switch (record.kind) {
    case 'event': {
      const { position, sequenceNumber, created, id, subjectId, payloadState, category, branch } = record
      const json = new TextEncoder().encode(record.json)
      feed.events.push({ sequenceNumber, created, id, subjectId, payloadState, category, branch, json })
      if (category !== null) feed.views.get(category)?.push(position)
      enterBranchViews(feed, position - 1, position)
      break
    }
    case 'id': {
      const { id, position, contentHash, skipped } = record
      feed.ids.set(id, { position, contentHash, skipped })
      break
    }
    case 'subject':
      feed.subjects.set(record.subjectId, { ...record.state, position: record.position })
      break
    case 'reduction':
      importReduction(store, feed, record)
      break
    case 'kept':
      putKept(feed, record)
      break
    case 'restriction': {
      const { kind: _, nextPosition, lastPosition, ...restriction } = record
      const { acknowledgedBy = [] } = state.restrictions.get(record.restrictionId) ?? {}
      state.restrictions.set(record.restrictionId, {
        restriction,
        nextPosition,
        lastPosition,
        acknowledgedBy,
      })
      break
    }
    case 'hold': {
      const { kind: _, ...hold } = record
      state.holds.set(hold.holdId, hold)
      break
    }
    case 'expiring':
      importExpiring(store, record)
      break
    case 'thinning':
      importThinning(feed, record)
      break
    case 'feed':
      feed.epoch = record.epoch
      feed.offset = record.offset
      feed.revision = record.revision
      feed.thinned = record.thinned ?? 0
      feed.needsEpoch = record.needsEpoch ?? false
      feed.move = record.move ?? feed.move
      if (record.stampFloor !== undefined && record.stampFloor > feed.stampFloor) {
        feed.stampFloor = record.stampFloor
      }
  }
}

function importReduction(
  store: MemoryStore,
  feed: MemoryFeed,
  record: Extract<StoreRecord, { kind: 'reduction' }>,
): void {
  const { revision, key } = record
  const positions = record.events.map(({ position }) => position)
  for (const { position, isKept } of record.events) {
    if (isKept === true) continue
    feed.kept.delete(position)
    reduceEvent(feed, key, position)
    const eventId = feed.events[position - 1]?.id
    if (eventId !== undefined) takeResults(store, { key, target: { kind: 'event', eventId } })
  }
  const known = feed.reductions.findIndex((one) => one.revision === revision)
  const before = feed.reductions[known]?.positions ?? []
  const all = [...new Set([...before, ...positions])].toSorted((a, b) => a - b)
  if (known >= 0) feed.reductions[known] = { revision, positions: all }
  else feed.reductions.push({ revision, positions: all })
}

/** Applies the event's state in the source: its bytes are kept aside, or shown again. */
function putKept(feed: MemoryFeed, { key, position, json, contentHash, isHidden }: KeptRecord): void {
  const event = feed.events[position - 1]
  if (event === undefined) return
  feed.kept.set(position, new TextEncoder().encode(json))
  show(feed, position)
  if (isHidden) hide(feed, key, position)
  const taken = feed.ids.get(event.id)
  if (taken !== undefined) feed.ids.set(event.id, { ...taken, contentHash })
}
