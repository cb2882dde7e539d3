import { feedNames } from '@property-events/protocol'
import { newEpochId } from '../epoch-id.ts'
import { feedName } from '../storage.ts'
import { epochStarted, historyAccepted, maintenanceSet } from '../audit-changes.ts'
import type { Actor, EpochNeed, FeedKey, WaitingFeed } from '../storage.ts'
import { noteChanges } from './audit.ts'
import { headOf, openState } from './state.ts'
import type { MemoryState, MemoryStore } from './state.ts'

export function startEpoch(
  store: MemoryStore,
  continueAfter: number,
  actor: Actor,
  keys?: readonly FeedKey[],
): void {
  const state = openState(store)
  if (state.needsEpoch) {
    store.nodes.clear()
    if (state.maintenance !== undefined) noteChanges(store, maintenanceSet(undefined), actor)
    state.maintenance = undefined
  }
  if (keys === undefined || state.needsEpoch) {
    store.links.clear()
    store.sessions.clear()
  }
  if (keys === undefined) {
    const held = [...state.feeds.values()].map((feed) => headOf(feed).sequenceNumber)
    const offset = Math.max(continueAfter, state.firstOffset, ...held)
    for (const name of state.feeds.keys()) begin(state, name, offset)
    state.firstOffset = offset
    state.needsEpoch = false
    noteChanges(store, epochStarted(continueAfter, undefined), actor)
    return
  }
  if (state.needsEpoch) for (const feed of state.feeds.values()) feed.needsEpoch = true
  state.needsEpoch = false
  const begun = new Map(keys.map((key) => [feedName(key), key]))
  for (const name of begun.keys()) if (!begin(state, name, continueAfter)) begun.delete(name)
  noteChanges(store, epochStarted(continueAfter, [...begun.values()]), actor)
}

/** False: there is no such feed. */
function begin(state: MemoryState, name: string, after: number): boolean {
  const feed = state.feeds.get(name)
  if (feed === undefined) return false
  feed.epoch = newEpochId()
  feed.offset = Math.max(after, headOf(feed).sequenceNumber) - feed.events.length
  feed.needsEpoch = false
  return true
}

export function acceptHistory(store: MemoryStore, actor: Actor): 'accepted' {
  const state = openState(store)
  if (epochNeed(state) === 'none' && !state.needsEpoch) return 'accepted'
  for (const feed of state.feeds.values()) feed.needsEpoch = false
  state.needsEpoch = false
  noteChanges(store, historyAccepted(), actor)
  return 'accepted'
}

export function waitingFeeds(state: MemoryState): readonly WaitingFeed[] {
  const keys = [...state.tenants.keys()].flatMap((tenantId) => feedNames.map((feed) => ({ tenantId, feed })))
  return keys.flatMap((key) => {
    const feed = state.feeds.get(feedName(key))
    if (feed === undefined || !(state.needsEpoch || feed.needsEpoch)) return []
    return [{ key, heldNumber: headOf(feed).sequenceNumber, shownNumber: undefined }]
  })
}

export function epochNeed(state: MemoryState): EpochNeed {
  const waiting = waitingFeeds(state).length
  if (state.needsEpoch || (waiting > 0 && waiting === state.feeds.size)) return 'all'
  return waiting === 0 ? 'none' : 'some'
}
