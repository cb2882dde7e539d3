/**
 * Which feeds have changed since a client last asked, for readers of thousands of them (PROTOCOL §11.5). The marks of all feeds are
 * read as a whole, at most once a second for all who ask, so that a question costs what has changed and not what there is.
 *
 * A token names a state of the store by the sum of all counts in it: it rises with every change, is the same on every node, and
 * needs no clock. Whatever a state does not hold is in one with a greater sum.
 */
import { crc32 } from 'node:zlib'
import { feedName } from '../storage/storage.ts'
import type { EventStore, FeedKey, FeedMark } from '../storage/storage.ts'

/** The feeds that a key may read. Ask with the same object for as long as they are the same. */
export interface ReadableFeeds {
  readonly byName: ReadonlyMap<string, FeedKey>
  /** Another one for other feeds. */
  readonly print: string
}

export interface MovedFeeds {
  /**
   * The readable feeds that have changed since the state that the token names, in no order; all of them without one, or where it is
   * of another store, epoch or set of feeds. A feed may be named although it has not changed. `next`: names the state of now.
   * What this node has acknowledged is in it, and what others have, a second later at the latest.
   */
  since(token: string | undefined, readable: ReadableFeeds): Promise<Moved>
  close(): void
}

export interface Moved {
  readonly keys: readonly FeedKey[]
  readonly next: string
}

/** Hints of changes elsewhere may be lost, so the marks are read again after so long. */
const freshMs = 1_000
/** With more feeds than this, hints are answered without another reading, so that readings take a tenth of the time at most. */
const fewFeeds = 1_000

export function readableFeeds(keys: readonly FeedKey[]): ReadableFeeds {
  const byName = new Map(keys.map((key) => [feedName(key), key]))
  return { byName, print: crc32([...byName.keys()].sort().join(' ')).toString(36) }
}

/** A token as `since` gives it. */
export function isToken(text: string): boolean {
  return /^[0-9a-z]{1,20}(?:-[0-9a-z]{1,7}){2}$/.test(text)
}

/** What is known of all feeds, as of the last reading. */
interface Known {
  readonly feeds: Map<string, KnownFeed>
  /** The sum of all counts. */
  total: bigint
  /** Of all feeds and their epochs. */
  print: string
  /** Names of feeds and the totals at which they were found to have changed, ascending; all others were at `allSince`. */
  changes: { readonly total: bigint; readonly name: string }[]
  allSince: bigint
}

interface KnownFeed {
  readonly epoch: string
  readonly count: number
  /** Of name and epoch. */
  readonly print: number
}

export function movedFeeds(
  events: Pick<EventStore, 'marks' | 'watch'>,
  clock: () => number = () => performance.now(),
): MovedFeeds {
  const known: Known = { feeds: new Map(), total: 0n, print: '', changes: [], allSince: 0n }
  let readMs = -Infinity
  let tookMs = 0
  let reading: Promise<void> | undefined
  /** Hints since the last reading began. */
  let hints: { readonly names: Set<string>; any: boolean } = { names: new Set(), any: false }
  let stop: (() => void) | undefined

  const read = async (): Promise<void> => {
    const before = hints
    hints = { names: new Set(), any: false }
    const startedMs = clock()
    try {
      note(known, await events.marks())
    } catch (error) {
      for (const name of before.names) hints.names.add(name)
      hints.any ||= before.any
      throw error
    }
    readMs = startedMs
    tookMs = clock() - startedMs
  }
  const needsReading = (): boolean => {
    const ageMs = clock() - readMs
    if (!(ageMs >= 0 && ageMs < freshMs) || hints.any) return true
    return hints.names.size > 0 && (known.feeds.size < fewFeeds || ageMs > 10 * tookMs)
  }
  const readAgain = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    async since(token, readable) {
      stop ??= events.watch((key) => {
        if (key === undefined) hints.any = true
        else hints.names.add(feedName(key))
      })
      // One that is under way may have begun too early for what this node has acknowledged.
      if (reading !== undefined) await reading
      if (needsReading()) await readAgain()
      // Another node may know of more.
      if (totalOf(token) > known.total) await readAgain()
      const names = changedSince(known, token, readable)
      const next = `${known.total.toString(36)}-${known.print}-${readable.print}`
      if (names === 'all') return { keys: [...readable.byName.values()], next }
      const keys = [...names.union(hints.names)].flatMap((name) => readable.byName.get(name) ?? [])
      return { keys, next }
    },
    close: () => stop?.(),
  }
}

/** What has changed since the last reading. */
function note(known: Known, marks: readonly FeedMark[]): void {
  let total = 0n
  let print = 0
  const changed: string[] = []
  for (const { key, epoch, count } of marks) {
    const name = feedName(key)
    const before = known.feeds.get(name)
    const isSameEpoch = before?.epoch === epoch
    const printed = isSameEpoch ? before.print : crc32(`${name} ${epoch}`)
    if (!isSameEpoch || before.count !== count) {
      known.feeds.set(name, { epoch, count, print: printed })
      changed.push(name)
    }
    total += BigInt(count)
    print = (print + printed) % 2 ** 32
  }
  const text = print.toString(36)
  const isAnother = text !== known.print || total < known.total
  known.total = total
  if (isAnother) {
    // A feed came, went or began another epoch, or the store is one of before: earlier sums say nothing any more.
    if (known.feeds.size > marks.length) forgetOthers(known.feeds, marks)
    known.print = text
    known.changes = []
    known.allSince = total
    return
  }
  for (const name of changed) known.changes.push({ total, name })
  if (known.changes.length > 2 * known.feeds.size + fewFeeds) known.changes = lastChanges(known.changes)
}

function forgetOthers(feeds: Map<string, KnownFeed>, marks: readonly FeedMark[]): void {
  const names = new Set(marks.map(({ key }) => feedName(key)))
  for (const name of feeds.keys()) if (!names.has(name)) feeds.delete(name)
}

/** Each feed's last one. */
function lastChanges(changes: Known['changes']): Known['changes'] {
  const last = new Map(changes.map((change) => [change.name, change]))
  return changes.filter((change) => last.get(change.name) === change)
}

function changedSince(
  known: Known,
  token: string | undefined,
  readable: ReadableFeeds,
): ReadonlySet<string> | 'all' {
  const [, print, ofReadable] = token?.split('-') ?? []
  const total = totalOf(token)
  if (print !== known.print || ofReadable !== readable.print) return 'all'
  if (total < known.allSince || total > known.total) return 'all'
  const names = new Set<string>()
  for (let index = known.changes.length - 1; index >= 0; index -= 1) {
    const change = known.changes[index]
    if (change === undefined || change.total <= total) break
    names.add(change.name)
  }
  return names
}

function totalOf(token: string | undefined): bigint {
  const [digits = ''] = token?.split('-') ?? []
  let total = 0n
  for (const digit of digits) total = total * 36n + BigInt(Number.parseInt(digit, 36))
  return total
}
