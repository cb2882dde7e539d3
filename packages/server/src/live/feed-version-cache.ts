/** What one thread knows about all feeds' versions, and in which order it learnt of their changes (docs/decisions/0035). */
import { crc32 } from 'node:zlib'
import { epochWeight } from '../events/epochs.ts'
import { feedName } from '../events/feed-key.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedVersion, FeedVersionsTotal } from '../events/event-log.ts'
import type { StateToken } from './state-token.ts'

/** `all`: possibly every feed. */
export type Changed = ReadonlySet<string> | 'all'

interface FeedVersionState {
  /** The sum of all counts, when all were last known to be from one state. */
  readonly total: bigint
  /** A hash of all feeds and their epochs. */
  readonly print: string
  /** Rises with each change that the thread learns of. */
  readonly serial: number
  readonly size: number
}

interface CachedFeed {
  readonly key: FeedKey
  readonly epoch: string
  readonly count: number
  /** A hash of name and epoch. */
  readonly print: number
}

/** In the order in which the thread learnt of them. */
interface Change {
  readonly name: string
  readonly serial: number
  /** The change is part of this total at the latest; `undefined`: the total is not known yet. */
  total: bigint | undefined
}

/** In addition to one for each feed. */
const spareChanges = 1_000

/** One for each answering thread; `thread` names it. */
export class FeedVersionCache {
  readonly #thread: string
  readonly #feeds = new Map<string, CachedFeed>()
  #changes: Change[] = []
  #total = 0n
  /** The sum of the known counts. */
  #sum = 0n
  #print = ''
  /** The sum of their weights. */
  #epochs = 0
  #serial = 0
  /** All earlier changes have been forgotten. */
  #allSince: { readonly total: bigint; readonly serial: number } = { total: 0n, serial: 0 }

  constructor(thread: string) {
    this.#thread = thread
  }

  get state(): FeedVersionState {
    return { total: this.#total, print: this.#print, serial: this.#serial, size: this.#feeds.size }
  }

  /** All feeds that are known. */
  feeds(): Iterable<FeedKey> {
    return this.#feeds.values().map(({ key }) => key)
  }

  /** Takes the versions of all feeds, from one state of the store; returns what has changed since. */
  takeAll(versions: readonly FeedVersion[]): Changed {
    const now = versions.reduce((all, { count }) => all + BigInt(count), 0n)
    const before = this.#total
    const changed = this.#learn(versions)
    if (this.#feeds.size > versions.length) forgetOthers(this.#feeds, versions)
    this.#sum = now
    this.#epochs = versions.reduce((all, { epoch }) => all + epochWeight(epoch), 0)
    this.#settle(now)
    const print = printOf(this.#feeds.values())
    const isAnother = print !== this.#print || now < before
    this.#print = print
    if (isAnother) {
      // A feed was added or removed or began another epoch, or the store was restored: earlier sums have no meaning any more.
      this.#changes = []
      this.#serial += 1
      this.#allSince = { total: now, serial: this.#serial }
      return 'all'
    }
    if (this.#changes.length > 2 * this.#feeds.size + spareChanges) this.#changes = lastChanges(this.#changes)
    return changed
  }

  /** Takes the totals of all versions, if they match what is known; `false`: they do not. */
  putTotal({ total, feeds, epochs }: FeedVersionsTotal): boolean {
    if (total !== this.#sum || feeds !== this.#feeds.size || epochs !== this.#epochs) return false
    this.#settle(total)
    return true
  }

  /** Takes the versions of some feeds; returns which have changed. `undefined`: they do not match what is known, and all are needed. */
  takeSome(keys: readonly FeedKey[], versions: readonly FeedVersion[]): ReadonlySet<string> | undefined {
    const isUsual = versions.every(({ key, epoch, count }) => {
      const before = this.#feeds.get(feedName(key))
      return before?.epoch === epoch && count >= before.count
    })
    return isUsual && versions.length === keys.length ? this.#learn(versions) : undefined
  }

  /** The names of feeds that have changed since the state of the token. */
  changedSince(token: StateToken): Changed {
    if (token.print !== this.#print) return 'all'
    const { total, serial } = this.#allSince
    const ofThread = token.thread === this.#thread && token.serial >= serial && token.serial <= this.#serial
    if (!ofThread && (token.total < total || token.total > this.#total)) return 'all'
    const isLater = ofThread
      ? (change: Change) => change.serial > token.serial
      : (change: Change) => change.total === undefined || change.total > token.total
    const names = new Set<string>()
    for (let index = this.#changes.length - 1; index >= 0; index -= 1) {
      const change = this.#changes[index]
      if (change === undefined || !isLater(change)) break
      names.add(change.name)
    }
    return names
  }

  #learn(versions: readonly FeedVersion[]): ReadonlySet<string> {
    const learnt = new Set<string>()
    for (const { key, epoch, count } of versions) {
      const name = feedName(key)
      const before = this.#feeds.get(name)
      const isSameEpoch = before?.epoch === epoch
      if (isSameEpoch && before.count === count) continue
      const print = isSameEpoch ? before.print : crc32(`${name} ${epoch}`)
      this.#feeds.set(name, { key, epoch, count, print })
      this.#sum += BigInt(count - (before?.count ?? 0))
      this.#serial += 1
      this.#changes.push({ name, serial: this.#serial, total: undefined })
      learnt.add(name)
    }
    return learnt
  }

  /** What was learnt since all counts were from one state belongs to the present state at the latest. */
  #settle(now: bigint): void {
    this.#total = now
    for (let index = this.#changes.length - 1; index >= 0; index -= 1) {
      const change = this.#changes[index]
      if (change === undefined || change.total !== undefined) break
      change.total = now
    }
  }
}

function printOf(feeds: Iterable<CachedFeed>): string {
  let print = 0
  for (const feed of feeds) print = (print + feed.print) % 2 ** 32
  return print.toString(36)
}

function forgetOthers(feeds: Map<string, unknown>, versions: readonly FeedVersion[]): void {
  const names = new Set(versions.map(({ key }) => feedName(key)))
  for (const name of feeds.keys()) if (!names.has(name)) feeds.delete(name)
}

/** Each feed's last one. */
function lastChanges(changes: readonly Change[]): Change[] {
  const last = new Map(changes.map((change) => [change.name, change]))
  return changes.filter((change) => last.get(change.name) === change)
}
