/**
 * The batches that wait to be appended: each feed's in their order, and the tenants in turn. Whoever takes batches of a
 * feed claims the feed, so that it is in one commit at a time.
 */
import { feedName } from '../../events/feed-key.ts'
import type { AppendBatch, AppendOutcome } from '../../events/append/append-batch.ts'
import { fairQuota } from './commit-limits.ts'
import type { CommitLimits, CommitSize, FairQuota } from './commit-limits.ts'

export interface WaitingBatch {
  readonly batch: AppendBatch
  readonly characters: number
  readonly size: BatchSize
  /** Milliseconds of the queue's clock. */
  readonly sinceMs: number
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

/** The batches of about one size, which share commits. */
export interface BatchSize extends CommitSize {
  /** The smallest size is 0. */
  readonly rank: number
  /** The unclaimed feeds whose first batch has this size, by tenant; the tenant whose turn it is comes first. */
  readonly tenants: Map<string, Set<FeedQueue>>
  /** The number of its last commit, counted over all sizes. */
  lastCommit: number
  /** How long a commit usually takes. */
  usualMs: number
}

/** The batches of one feed. */
export interface FeedQueue {
  readonly tenantId: string
  readonly name: string
  readonly waiting: WaitingBatch[]
  isClaimed: boolean
  /** Another session had locked the feed when it was last tried. */
  isBlocked: boolean
}

/** Batches of a claimed feed, in their order. */
export interface Claim {
  readonly feed: FeedQueue
  readonly batches: readonly WaitingBatch[]
}

export class WaitingBatches {
  readonly sizes: readonly BatchSize[]
  readonly #quota: FairQuota
  readonly #feeds = new Map<string, FeedQueue>()
  #unanswered = 0

  constructor({ sizes, maxWaitingCharacters }: CommitLimits) {
    this.#quota = fairQuota(maxWaitingCharacters)
    this.sizes = sizes.map((size, rank) => {
      return { ...size, rank, tenants: new Map(), lastCommit: 0, usualMs: 0 }
    })
  }

  /** The queue that the batch is now in; `undefined`: too many wait. */
  add(
    batch: AppendBatch,
    sinceMs: number,
    { resolve, reject }: PromiseWithResolvers<AppendOutcome>,
  ): FeedQueue | undefined {
    const characters = charactersOf(batch)
    if (!this.#quota.take(batch.key.tenantId, characters)) return undefined
    this.#unanswered += 1
    const size = sizeOf(batch, characters, this.sizes)
    const feed = this.#feedOf(batch)
    feed.waiting.push({ batch, characters, size, sinceMs, resolve, reject })
    if (!feed.isClaimed && feed.waiting.length === 1) joinTurns(feed)
    return feed
  }

  /** Claims feeds and takes the batches of one commit. */
  take(size: BatchSize): readonly Claim[] {
    const only = onlyOne(size)
    if (only !== undefined) {
      claim(only, size)
      return [{ feed: only, batches: only.waiting.splice(0) }]
    }
    const claims = takeShares(size)
    for (const { feed } of claims) claim(feed, size)
    return claims
  }

  /** Takes what else fits into the commit of a claimed feed. */
  takeMore({ feed, batches }: Claim): Claim {
    const [first] = batches
    if (first === undefined) return { feed, batches }
    const filling: Filling = { events: 0, characters: 0 }
    for (const batch of batches) add(filling, batch)
    return { feed, batches: [...batches, ...fill(feed, first.size, filling, first.size.commitEvents)] }
  }

  /** Claims a feed out of turn and takes its first batch. */
  takeFirst(feed: FeedQueue): Claim {
    const batches = feed.waiting.splice(0, 1)
    for (const { size } of batches) claim(feed, size)
    return { feed, batches }
  }

  /** The feed takes its turn again. */
  release(feed: FeedQueue): void {
    feed.isClaimed = false
    if (feed.waiting.length > 0) joinTurns(feed)
    else if (!feed.isBlocked) this.#feeds.delete(feed.name)
  }

  /** A batch that was taken has been answered, so others may use what it used. */
  answered({ batch, characters }: WaitingBatch): void {
    this.#quota.free(batch.key.tenantId, characters)
    this.#unanswered -= 1
  }

  /** Batches that were added and not answered. */
  get count(): number {
    return this.#unanswered
  }

  /** Payload characters of the same. */
  get characters(): number {
    return this.#quota.used()
  }

  /** Batches that were added and not taken. */
  untaken(): readonly WaitingBatch[] {
    return [...this.#feeds.values()].flatMap(({ waiting }) => waiting)
  }

  #feedOf({ key }: AppendBatch): FeedQueue {
    const name = feedName(key)
    let feed = this.#feeds.get(name)
    if (feed === undefined) {
      feed = { tenantId: key.tenantId, name, waiting: [], isClaimed: false, isBlocked: false }
      this.#feeds.set(name, feed)
    }
    return feed
  }
}

function charactersOf({ drafts }: AppendBatch): number {
  return drafts.reduce((sum, { content }) => sum + (content.kind === 'payload' ? content.text.length : 0), 0)
}

function sizeOf({ drafts }: AppendBatch, characters: number, sizes: readonly BatchSize[]): BatchSize {
  const size = sizes.find((one) => drafts.length <= one.batchEvents && characters <= one.batchCharacters)
  if (size === undefined) throw new RangeError('no commit size takes this batch; the last one must take any')
  return size
}

function joinTurns(feed: FeedQueue): void {
  const tenants = feed.waiting[0]?.size.tenants
  const own = tenants?.get(feed.tenantId)
  if (own === undefined) tenants?.set(feed.tenantId, new Set([feed]))
  else own.add(feed)
}

/** The tenant goes to the end of the turns, with its batches in other feeds. */
function claim(feed: FeedQueue, { tenants }: BatchSize): void {
  feed.isClaimed = true
  const own = tenants.get(feed.tenantId)
  if (own === undefined) return
  own.delete(feed)
  tenants.delete(feed.tenantId)
  if (own.size > 0) tenants.set(feed.tenantId, own)
}

/** The feed with the only batch of a size, which needs no shares. */
function onlyOne({ tenants }: BatchSize): FeedQueue | undefined {
  if (tenants.size !== 1) return undefined
  const [feeds] = tenants.values()
  if (feeds?.size !== 1) return undefined
  const [feed] = feeds
  return feed?.waiting.length === 1 ? feed : undefined
}

/**
 * The batches of one commit, in rounds: in each, a tenant's feeds give as many events as the largest batch of this size
 * has, so that a tenant with many small batches gets as much as one with a few larger ones.
 */
function takeShares(size: BatchSize): readonly Claim[] {
  const filling: Filling = { events: 0, characters: 0 }
  const share = Math.min(size.batchEvents, size.commitEvents)
  const shares = new Map<FeedQueue, WaitingBatch[]>()
  const claims = (): readonly Claim[] => Array.from(shares, ([feed, batches]) => ({ feed, batches }))
  let inRound = [...size.tenants.values()]
  while (inRound.length > 0) {
    const inNextRound: Set<FeedQueue>[] = []
    for (const feeds of inRound) {
      let left = share
      for (const feed of feeds) {
        const batches = fill(feed, size, filling, left)
        if (batches.length > 0) shares.set(feed, [...(shares.get(feed) ?? []), ...batches])
        for (const { batch } of batches) left -= batch.drafts.length
      }
      const hasMore = [...feeds].some(({ waiting }) => waiting[0]?.size === size)
      // The rest of its share is too small for its next batch, so the commit is full.
      if (hasMore && left > 0) return claims()
      if (hasMore) inNextRound.push(feeds)
    }
    inRound = inNextRound
  }
  return claims()
}

/** The contents of a commit, while it is filled. */
interface Filling {
  events: number
  characters: number
}

/** Takes batches of this size from the front while they fit into the commit, until there are `most` events or more. */
function fill(
  { waiting }: FeedQueue,
  size: BatchSize,
  filling: Filling,
  most: number,
): readonly WaitingBatch[] {
  let [taken, events] = [0, 0]
  for (const next of waiting) {
    if (next.size !== size || events >= most || !fits(next, filling)) break
    add(filling, next)
    taken += 1
    events += next.batch.drafts.length
  }
  return waiting.splice(0, taken)
}

function fits({ size, batch, characters }: WaitingBatch, filling: Filling): boolean {
  if (filling.events === 0) return true
  return (
    filling.events + batch.drafts.length <= size.commitEvents &&
    filling.characters + characters <= size.commitCharacters
  )
}

function add(filling: Filling, { batch, characters }: WaitingBatch): void {
  filling.events += batch.drafts.length
  filling.characters += characters
}
