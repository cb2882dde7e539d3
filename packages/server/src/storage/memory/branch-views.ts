import { isDeepStrictEqual } from 'node:util'
import { millisecondsOfTicks } from '@property-events/protocol'
import { scopeOfViews } from '../branch-view-store.ts'
import type { BranchSetStep, BranchViewStore } from '../branch-view-store.ts'
import { branchSetId, branchSetOf, partsOfView, viewNames, viewOfBranchSet } from '../branch-view.ts'
import type { BranchSetId } from '../branch-view.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { StorageFailure } from '../storage.ts'
import type { FeedView } from '../storage.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryBranchSet, MemoryFeed, MemoryStore } from './state.ts'

export function memoryBranchViews(store: MemoryStore, clock: SharedClock | undefined): BranchViewStore {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  return {
    sets: async () =>
      feedsOf(store).flatMap(({ tenantId, feed }) =>
        setsOf(feed).map(([set, { branches, state, filled }]) => {
          return { tenantId, set, branches: [...branches], state, filled }
        }),
      ),
    async due() {
      for (const { tenantId, branches } of grantedSets(store, nowMs())) begin(store, tenantId, branches)
      return feedsOf(store).flatMap(({ tenantId, feed }) =>
        setsOf(feed)
          .filter(([, one]) => one.state !== 'ready' || !isGranted(store, tenantId, one, nowMs()))
          .map(([set]) => ({ tenantId, set })),
      )
    },
    step: async ({ tenantId, set }, limit) => step(store, tenantId, set, limit, nowMs()),
  }
}

/** Adds the events after one position up to another, which follow what has been added before; `onlySet`: to the views of that set. */
export function enterBranchViews(
  feed: MemoryFeed,
  after: number,
  through: number,
  onlySet?: BranchSetId,
): void {
  for (const [set, { branches, state }] of feed.branchSets) {
    if (onlySet === undefined ? state !== 'ready' : set !== onlySet) continue
    for (const [index, { branch, category }] of feed.events.slice(after, through).entries()) {
      if (branch === null || !branches.has(branch)) continue
      for (const name of viewNames) {
        if (name !== 'all' && name !== category) continue
        feed.views.get(viewOfBranchSet(set, name))?.push(after + index + 1)
      }
    }
  }
}

/** Whether an event of this branch and category belongs to the view. */
export function standsIn(
  feed: MemoryFeed,
  view: FeedView,
  { branch, category: own }: { readonly branch: string | null; readonly category: string | null },
): boolean {
  const { set, category } = partsOfView(view)
  if (category !== undefined && category !== own) return false
  return set === undefined || (branch !== null && feed.branchSets.get(set)?.branches.has(branch) === true)
}

/** Throws if the view belongs to a set of branches that is not ready. */
export function assertReady(feed: MemoryFeed, view: FeedView): void {
  const { set } = partsOfView(view)
  if (set !== undefined && feed.branchSets.get(set)?.state !== 'ready')
    throw new StorageFailure('view_being_made')
}

function feedsOf(store: MemoryStore) {
  const tenantIds = [...openState(store).tenants.keys()].toSorted()
  return tenantIds.flatMap((tenantId) => {
    const feed = feedOf(store, { tenantId, feed: 'property' })
    return feed === undefined ? [] : [{ tenantId, feed }]
  })
}

function setsOf({ branchSets }: MemoryFeed) {
  return [...branchSets].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function grantedSets(store: MemoryStore, nowMs: number) {
  return [...openState(store).keys.values()]
    .filter(({ revokedMs, expiresMs }) => revokedMs === undefined && (expiresMs ?? Infinity) > nowMs)
    .flatMap(({ grants }) => grants)
    .flatMap(({ tenantId, scopes, branches }) =>
      branches !== undefined && scopes.includes(scopeOfViews) ? [{ tenantId, branches }] : [],
    )
}

function isGranted(store: MemoryStore, of: string, { branches }: MemoryBranchSet, nowMs: number): boolean {
  return grantedSets(store, nowMs).some(
    (one) => one.tenantId === of && isDeepStrictEqual(branchSetOf(one.branches), branchSetOf([...branches])),
  )
}

function begin(store: MemoryStore, tenantId: string, branches: readonly string[]): void {
  const feed = feedOf(store, { tenantId, feed: 'property' })
  const set = branchSetId(branches)
  if (feed === undefined || feed.branchSets.has(set)) return
  feed.branchSets.set(set, { branches: new Set(branchSetOf(branches)), state: 'filling', filled: 0 })
  for (const name of viewNames) feed.views.set(viewOfBranchSet(set, name), [])
}

function step(
  store: MemoryStore,
  tenantId: string,
  set: BranchSetId,
  limit: number,
  nowMs: number,
): BranchSetStep {
  const state = openState(store)
  const feed = feedOf(store, { tenantId, feed: 'property' })
  const found = feed?.branchSets.get(set)
  if (feed === undefined || found === undefined) return 'done'
  const wanted = isGranted(store, tenantId, found, nowMs)
  if (found.state === 'dropping') return drop(feed, set, found, limit, wanted)
  if (!wanted) {
    found.state = 'dropping'
    state.branchViewChanges += 1
    return 'more'
  }
  if (found.state === 'ready') return 'done'
  const through = Math.min(feed.events.length, found.filled + limit)
  enterBranchViews(feed, found.filled, through, set)
  found.filled = through
  if (through < feed.events.length) return 'more'
  found.state = 'ready'
  state.branchViewChanges += 1
  return 'done'
}

function drop(
  feed: MemoryFeed,
  set: BranchSetId,
  found: MemoryBranchSet,
  limit: number,
  wanted: boolean,
): BranchSetStep {
  const views = viewNames.map((name) => viewOfBranchSet(set, name))
  for (const view of views) {
    const positions = feed.views.get(view) ?? []
    if (positions.length === 0) continue
    positions.splice(Math.max(0, positions.length - limit))
    return 'more'
  }
  if (wanted) {
    found.state = 'filling'
    found.filled = 0
    return 'more'
  }
  for (const view of views) feed.views.delete(view)
  feed.branchSets.delete(set)
  return 'done'
}
