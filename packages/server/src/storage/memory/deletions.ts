import { feedNames, millisecondsOfTicks } from '@property-events/protocol'
import { deletionBegun, keysRemoved, tenantDeleted } from '../audit-changes.ts'
import { readClock } from '../clock.ts'
import { byFeed, firstDigest, nextDigest, noCounts, withCounts } from '../deletion-record.ts'
import type {
  BeginDeletionOutcome,
  DeletedFeed,
  Deletion,
  DeletionRefusal,
  DeletionRequest,
  DeletionStore,
  OwnedCounts,
} from '../deletion-store.ts'
import { holdState } from '../../privacy/hold/hold.ts'
import { isBeingMoved } from '../move-store.ts'
import { nodeSilenceMs } from '../node-store.ts'
import { feedName } from '../storage.ts'
import type { Actor, FeedKey } from '../storage.ts'
import { noteChanges } from './audit.ts'
import { feedOf, headOf, openState } from './state.ts'
import type { MemoryDeletion, MemoryState, MemoryStore } from './state.ts'

/** `changed`: called for each feed whose state has changed. */
export function memoryDeletions(store: MemoryStore, changed: (key: FeedKey) => void): DeletionStore {
  const nowMs = () => millisecondsOfTicks(readClock(store.clock))
  const all = () =>
    [...openState(store).deletions.values()].toSorted((a, b) =>
      a.deletion.deletionId < b.deletion.deletionId ? -1 : 1,
    )
  const tell = (tenantId: string): void => {
    for (const feed of feedNames) changed({ tenantId, feed })
  }
  return {
    async begin(request, actor) {
      const outcome = begin(store, request, actor, nowMs())
      tell(request.tenantId)
      return outcome
    },
    refusal: async (tenantId) => refusal(store, tenantId, nowMs()),
    async count(tenantId) {
      const state = openState(store)
      if (!state.tenants.has(tenantId)) return { kind: 'unknownTenant' }
      return { kind: 'counted', counts: countsOf(state, tenantId), feeds: feedsOf(store, tenantId) }
    },
    async takeExport(deletionId, nodeId) {
      const one = openState(store).deletions.get(deletionId)
      if (one?.deletion.state !== 'exporting') return 'busy'
      if (one.exporter !== undefined && one.exporter !== nodeId && isLive(store, one.exporter, nowMs())) {
        return 'busy'
      }
      openState(store).deletions.set(deletionId, { ...one, exporter: nodeId })
      return 'taken'
    },
    async exported(deletionId, exported) {
      const one = openState(store).deletions.get(deletionId)
      if (one?.deletion.state !== 'exporting') return 'known'
      put(store, one, { state: 'deleting', exported })
      return 'done'
    },
    async step(deletionId) {
      const one = openState(store).deletions.get(deletionId)
      if (one === undefined || one.deletion.state === 'exporting') return 'busy'
      if (one.deletion.state !== 'deleting') return 'finished'
      const removed = removeRows(store, one)
      tell(one.deletion.tenantId)
      return removed
    },
    async acknowledge(deletionId, nodeId) {
      const outcome = acknowledge(store, deletionId, nodeId, nowMs())
      const one = openState(store).deletions.get(deletionId)
      if (one !== undefined) tell(one.deletion.tenantId)
      return outcome
    },
    async open() {
      return all()
        .filter(({ deletion: { state } }) => state !== 'deleted')
        .map(({ deletion, acknowledgedBy }) => ({ ...deletion, acknowledgedBy }))
    },
    find: async (deletionId) => openState(store).deletions.get(deletionId)?.deletion,
    async list(after, limit) {
      const deletions = all().map(({ deletion }) => deletion)
      return deletions.filter(({ deletionId }) => after === undefined || deletionId > after).slice(0, limit)
    },
    async take(given) {
      const { deletions } = openState(store)
      for (const deletion of structuredClone(given)) {
        if (deletions.has(deletion.deletionId)) continue
        deletions.set(deletion.deletionId, { deletion, acknowledgedBy: [], exporter: undefined })
      }
    },
  }
}

function begin(
  store: MemoryStore,
  request: DeletionRequest,
  actor: Actor,
  nowMs: number,
): BeginDeletionOutcome {
  const { deletions, tenants } = openState(store)
  const { deletionId, tenantId } = request
  const known = [...deletions.values()].find(
    ({ deletion }) => deletion.tenantId === tenantId && deletion.state !== 'deleted',
  )
  if (known !== undefined) {
    const isWaiting = known.deletion.state === 'exporting'
    const deletion = isWaiting ? put(store, known, { export: request.export }) : known.deletion
    return { kind: 'begun', isNew: false, deletion }
  }
  const refused = refusal(store, tenantId, nowMs)
  if (refused !== undefined) return refused
  for (const feed of feedNames) {
    const found = feedOf(store, { tenantId, feed })
    if (found !== undefined) found.move = 'deleting'
  }
  const deletion: Deletion = {
    ...request,
    state: request.export === 'none' ? 'deleting' : 'exporting',
    name: tenants.get(tenantId)?.name,
    actor,
    exported: undefined,
    feeds: feedsOf(store, tenantId),
    counts: noCounts,
    digests: byFeed(() => firstDigest),
    begunMs: nowMs,
    deletedMs: undefined,
  }
  deletions.set(deletionId, { deletion, acknowledgedBy: [], exporter: undefined })
  noteChanges(store, deletionBegun(request), actor)
  return { kind: 'begun', isNew: true, deletion }
}

function refusal(store: MemoryStore, tenantId: string, nowMs: number): DeletionRefusal | undefined {
  const { tenants, leaving, holds, erasures, restrictions } = openState(store)
  const tenant = tenants.get(tenantId)
  if (tenant === undefined) return { kind: 'unknownTenant' }
  const moves = feedNames.map((feed) => feedOf(store, { tenantId, feed })?.move)
  if (moves.includes('deleting')) return undefined
  if (moves.some((move) => move !== undefined && isBeingMoved(move))) return { kind: 'tenantMoving' }
  if (!tenant.suspended && (leaving.get(tenantId)?.readingEndsMs ?? Infinity) > nowMs)
    return { kind: 'inUse' }
  const active = [...holds.values()].filter(
    (hold) => hold.key.tenantId === tenantId && holdState(hold, nowMs) === 'active',
  )
  if (active.length > 0) {
    return { kind: 'onHold', holds: active.length, untilMs: Math.max(...active.map((hold) => hold.untilMs)) }
  }
  const isErasing =
    [...erasures.values()].some(
      ({ erasure: { key, state } }) => key.tenantId === tenantId && state === 'reducing',
    ) ||
    [...restrictions.values()].some(
      ({ restriction: { key, state } }) =>
        key.tenantId === tenantId && (state === 'hiding' || state === 'lifting'),
    )
  return isErasing ? { kind: 'erasing' } : undefined
}

function feedsOf(store: MemoryStore, tenantId: string): readonly DeletedFeed[] {
  return feedNames.flatMap((feed) => {
    const found = feedOf(store, { tenantId, feed })
    if (found === undefined) return []
    const { epoch, sequenceNumber, revision, position, created } = headOf(found)
    return [{ feed, epoch, sequenceNumber, revision, events: position, lastCreated: created ?? null }]
  })
}

/** Removes everything at once: nothing waits here. */
function removeRows(store: MemoryStore, one: MemoryDeletion): 'removed' | 'finished' {
  const state = openState(store)
  const { deletion } = one
  const { tenantId } = deletion
  const removed = countsOf(state, tenantId)
  if (Object.values(removed).every((count) => count === 0)) {
    put(store, one, { state: 'forgetting' })
    return 'finished'
  }
  const digests = byFeed((feed) =>
    (feedOf(store, { tenantId, feed })?.events ?? []).reduce(
      (digest, event) => nextDigest(digest, event.sequenceNumber, event.id),
      deletion.digests[feed],
    ),
  )
  for (const feed of feedNames) emptyFeed(store, { tenantId, feed })
  const isOwn = (value: { readonly key: FeedKey }): boolean => value.key.tenantId === tenantId
  drop(state.holds, isOwn)
  drop(state.erasures, ({ erasure }) => isOwn(erasure))
  drop(state.restrictions, ({ restriction }) => isOwn(restriction))
  drop(state.sent, isOwn)
  drop(state.retentionRules, (rule) => rule.tenantId === tenantId)
  for (const name of state.moments.keys()) if (name.includes(tenantId)) state.moments.delete(name)
  state.expiring.delete(tenantId)
  removeKeys(store, tenantId, deletion.actor)
  put(store, one, { digests, counts: withCounts(deletion.counts, removed) })
  return 'removed'
}

function emptyFeed(store: MemoryStore, key: FeedKey): void {
  const feed = feedOf(store, key)
  if (feed === undefined) return
  feed.events.length = 0
  feed.reductions.length = 0
  feed.thinnings.length = 0
  for (const positions of feed.views.values()) positions.length = 0
  for (const map of [feed.ids, feed.subjects, feed.kept]) map.clear()
}

function removeKeys(store: MemoryStore, tenantId: string, actor: Actor): void {
  const { keys } = openState(store)
  const gone = new Map<string, boolean>()
  for (const [keyId, record] of keys) {
    const grants = record.grants.filter((grant) => grant.tenantId !== tenantId)
    if (grants.length === record.grants.length) continue
    gone.set(keyId, grants.length > 0)
    if (grants.length > 0) keys.set(keyId, { ...record, grants })
    else keys.delete(keyId)
  }
  noteChanges(store, keysRemoved(tenantId, gone), actor)
}

function acknowledge(
  store: MemoryStore,
  deletionId: string,
  nodeId: string | undefined,
  nowMs: number,
): 'deleted' | 'waiting' {
  const state = openState(store)
  const found = state.deletions.get(deletionId)
  if (found?.deletion.state === 'deleted') return 'deleted'
  if (found?.deletion.state !== 'forgetting') return 'waiting'
  const acknowledgedBy =
    nodeId === undefined || found.acknowledgedBy.includes(nodeId)
      ? found.acknowledgedBy
      : [...found.acknowledgedBy, nodeId]
  state.deletions.set(deletionId, { ...found, acknowledgedBy })
  const missing = [...store.nodes.keys()].some(
    (node) => isLive(store, node, nowMs) && !acknowledgedBy.includes(node),
  )
  if (missing) return 'waiting'
  // Removes rows that were added since, for example a node's note of what it sent.
  removeRows(store, { ...found, acknowledgedBy })
  const last = state.deletions.get(deletionId) ?? found
  const { tenantId } = last.deletion
  for (const feed of feedNames) state.feeds.delete(feedName({ tenantId, feed }))
  drop(state.publications, ({ key }) => key.tenantId === tenantId)
  removeConsumers(state, tenantId)
  drop(state.presences, ({ name }) => name.kind === 'publisher' && name.tenantId === tenantId)
  state.leaving.delete(tenantId)
  state.tenants.delete(tenantId)
  // Its place is not reused, not even by itself.
  state.places.set(`deleted by ${deletionId}`, state.places.get(tenantId) ?? 0)
  state.places.delete(tenantId)
  const deletion = put(store, last, { state: 'deleted', name: undefined, deletedMs: nowMs })
  noteChanges(store, tenantDeleted(deletion), deletion.actor)
  return 'deleted'
}

function countsOf(state: MemoryState, tenantId: string): OwnedCounts {
  const grants = [...state.keys.values()]
    .map((record) => record.grants.map((grant) => grant.tenantId))
    .filter((tenantIds) => tenantIds.includes(tenantId))
  const feeds = feedNames.map((feed) => state.feeds.get(feedName({ tenantId, feed })))
  const own = (keys: Iterable<FeedKey>): number => [...keys].filter((key) => key.tenantId === tenantId).length
  return {
    events: feeds.reduce((sum, feed) => sum + (feed?.events.length ?? 0), 0),
    subjects: feeds.reduce((sum, feed) => sum + (feed?.subjects.size ?? 0), 0),
    keys: grants.filter((tenantIds) => tenantIds.length === 1).length,
    grants: grants.filter((tenantIds) => tenantIds.length > 1).length,
    erasures: own(state.erasures.values().map(({ erasure }) => erasure.key)),
    holds: own(state.holds.values().map(({ key }) => key)),
    restrictions: own(state.restrictions.values().map(({ restriction }) => restriction.key)),
    sent: own(state.sent.values().map(({ key }) => key)),
  }
}

function put(store: MemoryStore, one: MemoryDeletion, change: Partial<Deletion>): Deletion {
  const deletion: Deletion = { ...one.deletion, ...change }
  const { deletions } = openState(store)
  deletions.set(deletion.deletionId, { ...(deletions.get(deletion.deletionId) ?? one), deletion })
  return deletion
}

function drop<Value>(map: Map<string, Value>, isGone: (value: Value) => boolean): void {
  for (const [name, value] of map) if (isGone(value)) map.delete(name)
}

function isLive(store: MemoryStore, nodeId: string, nowMs: number): boolean {
  const node = store.nodes.get(nodeId)
  return node !== undefined && nowMs - node.seenMs < nodeSilenceMs
}

function removeConsumers(state: MemoryState, tenantId: string): void {
  const isOwn = ({ key }: { readonly key: FeedKey }): boolean => key.tenantId === tenantId
  for (const kept of [state.consumers, state.readings, state.sentMinutes, state.acknowledgements])
    drop(kept, isOwn)
  drop(state.refusals, (refusal) => refusal.tenantId === tenantId)
  drop(state.results, (result) => result.tenantId === tenantId)
}
