import { feedNames } from '@property-events/protocol'
import { newEpochId } from '../epoch-id.ts'
import { feedName } from '../storage.ts'
import type { EpochNeed, FeedKey, WaitingFeed } from '../storage.ts'
import { headOf } from './state.ts'
import type { MemoryState } from './state.ts'

export function startEpoch(state: MemoryState, continueAfter: number, keys?: readonly FeedKey[]): void {
  if (keys === undefined) {
    const held = [...state.feeds.values()].map((feed) => headOf(feed).sequenceNumber)
    const offset = Math.max(continueAfter, state.firstOffset, ...held)
    for (const name of state.feeds.keys()) begin(state, name, offset)
    state.firstOffset = offset
    state.needsEpoch = false
    return
  }
  if (state.needsEpoch) for (const feed of state.feeds.values()) feed.needsEpoch = true
  state.needsEpoch = false
  for (const name of new Set(keys.map(feedName))) begin(state, name, continueAfter)
}

function begin(state: MemoryState, name: string, after: number): void {
  const feed = state.feeds.get(name)
  if (feed === undefined) return
  feed.epoch = newEpochId()
  feed.offset = Math.max(after, headOf(feed).sequenceNumber) - feed.events.length
  feed.needsEpoch = false
}

export function acceptHistory(state: MemoryState): 'accepted' {
  for (const feed of state.feeds.values()) feed.needsEpoch = false
  state.needsEpoch = false
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
