/**
 * Segments' bytes in memory, of which there is so much and no more: those that are kept for the next reader, the least
 * recently used going first, and those that are read for one answer. Both are in the same room, so that what was read for
 * one answer is kept by leaving it where it is.
 */
import { createAskedCounts } from './asked-counts.ts'
import { createPageRoom } from './page-room.ts'
import type { RoomPart } from './page-room.ts'
import { SegmentMap } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { SegmentTable, WholeText } from './segment.ts'

/** The two kinds of a segment's bytes. */
export type SegmentForm = 'joined' | 'deflated'

export interface SegmentFacts {
  readonly whole: WholeText
  /** Read when it is first asked for, and not again: a page made of whole segments does without. Throws when it cannot be read. */
  table(): SegmentTable
}

/** Bytes that stay what they are until released. Releasing twice is harmless. */
export interface Lease {
  readonly bytes: Buffer
  readonly release: () => void
}

export interface SegmentBytes extends Lease {
  readonly facts: SegmentFacts
  /**
   * Of bytes that one answer has for itself: a buffer in which there is room for `marginBytes` before and behind them, so that
   * what goes around them can be sent in one piece with them.
   */
  readonly withMargins?: Buffer | undefined
}

/** For the envelope of a page, plain or as stored blocks, and a gzip trailer. */
export const marginBytes = 256

/** Memory to read a segment into. */
export interface ReadingLease extends Lease {
  /** To be called when the bytes are there: from then on others get them too, if they are worth keeping. */
  readonly keep: (facts: SegmentFacts) => void
  /** As in `SegmentBytes`; nothing where the bytes may be kept. */
  readonly withMargins: Buffer | undefined
}

export interface SegmentMemory {
  has(form: SegmentForm, id: SegmentId): boolean
  get(form: SegmentForm, id: SegmentId): SegmentBytes | undefined
  /** Memory for one answer. */
  take(byteLength: number): Lease
  /** Memory for a segment's bytes, which is kept if there is room, or if they are asked for more often than what would go. */
  takeFor(form: SegmentForm, id: SegmentId, byteLength: number): ReadingLease
  /** Keeps a copy. */
  put(form: SegmentForm, id: SegmentId, bytes: Uint8Array, facts: SegmentFacts): void
  /** Forgets what is kept. What is in use stays until it is released. */
  clear(): void
  /** Of the room: what it comes to, what of it is free. */
  readonly byteLength: number
  readonly freeBytes: number
  /** What answers have beside the room: they found it taken, by answers that their readers have not taken yet. */
  readonly besideBytes: number
}

export interface SegmentMemoryLimits {
  /** Room for what is kept and for answers. */
  readonly memoryBytes: number
  /** At least this much is there for answers, even where nothing or little is to be kept. */
  readonly leastBytes: number
}

/**
 * Requests between two halvings of all counts: what was popular yesterday makes way. Without counting, readers who
 * wander over more than fits would exchange all of it again and again, and take its place in the processor's cache.
 */
const halvingAfter = 5_000

/** This part of the room is not filled with what is kept, so that answers rarely have to make room. */
const spareShare = 1 / 8

interface Kept {
  readonly form: SegmentForm
  readonly id: SegmentId
  readonly part: RoomPart
  readonly bytes: Buffer
  readonly facts: SegmentFacts
  /** Answers that use the bytes. */
  users: number
  times: number
  /** Since it was last looked at as the oldest. */
  wasUsed: boolean
  /** Not to be found any more: goes with its last user. */
  forgotten: boolean
}

export function createSegmentMemory({ memoryBytes, leastBytes }: SegmentMemoryLimits): SegmentMemory {
  const room = createPageRoom(Math.max(memoryBytes, leastBytes))
  const spareBytes = room.byteLength * spareShare
  const kept = { joined: new SegmentMap<Kept>(), deflated: new SegmentMap<Kept>() }
  /** All that is kept, the oldest first. */
  const byAge = new Map<RoomPart, Kept>()
  /** How often what is not kept was asked for. */
  const asked = { joined: createAskedCounts(), deflated: createAskedCounts() }
  let keptBytes = 0
  let besideBytes = 0
  let requests = 0

  function countRequest(): void {
    requests += 1
    if (requests % halvingAfter !== 0) return
    asked.joined.halve()
    asked.deflated.halve()
    for (const one of byAge.values()) one.times >>= 1
  }

  function forget(one: Kept): void {
    kept[one.form].delete(one.id)
    byAge.delete(one.part)
    keptBytes -= one.part.byteLength
    asked[one.form].raise(one.id, one.times)
    one.forgotten = true
    if (one.users === 0) room.giveBack(one.part)
  }

  /** What nobody uses, the least recently used first; may be forgotten on the way. */
  function* unused(): Generator<Kept> {
    for (const [part, one] of byAge) {
      if (one.users > 0) continue
      if (one.wasUsed) {
        // It has another round, behind all others.
        one.wasUsed = false
        byAge.delete(part)
        byAge.set(part, one)
      } else yield one
    }
  }

  /** Makes what is kept give way, so that this length is free in one place. False when answers hold too much of the room. */
  function makeRoom(byteLength: number): boolean {
    for (const { part } of unused()) {
      const inTheWay = room.inTheWay(part, byteLength, (other) => byAge.get(other)?.users === 0)
      if (inTheWay === undefined) continue
      for (const other of inTheWay) {
        const one = byAge.get(other)
        if (one !== undefined) forget(one)
      }
      return true
    }
    return false
  }

  function partFor(byteLength: number): RoomPart | undefined {
    return room.take(byteLength) ?? (makeRoom(byteLength) ? room.take(byteLength) : undefined)
  }

  const mayKeepMore = (byteLength: number): boolean =>
    keptBytes + byteLength <= memoryBytes && room.freeBytes - byteLength >= spareBytes

  /** Whether bytes of this length are worth keeping; what is worth less than they has then gone. */
  function makeWay(times: number, byteLength: number): boolean {
    if (byteLength > memoryBytes) return false
    if (mayKeepMore(byteLength)) return true
    for (const one of unused()) {
      // Twice as often, so that equals do not take turns.
      if (times <= 2 * one.times) return false
      forget(one)
      if (mayKeepMore(byteLength)) return true
    }
    return false
  }

  function leaseOf(bytes: Buffer, done: () => void): Lease {
    let released = false
    return {
      bytes,
      release() {
        if (released) return
        released = true
        done()
      },
    }
  }

  /** Beside the room when answers hold all of it. */
  function leaseBeside(byteLength: number): Lease {
    besideBytes += byteLength
    return leaseOf(Buffer.allocUnsafeSlow(byteLength), () => (besideBytes -= byteLength))
  }

  function keepPart(kind: Pick<Kept, 'form' | 'id' | 'part' | 'bytes' | 'facts' | 'users' | 'times'>): Kept {
    const one = { ...kind, wasUsed: false, forgotten: false }
    kept[one.form].set(one.id, one)
    byAge.set(one.part, one)
    keptBytes += one.part.byteLength
    return one
  }

  function doneWith(one: Kept): void {
    one.users -= 1
    if (one.forgotten && one.users === 0) room.giveBack(one.part)
  }

  return {
    byteLength: room.byteLength,
    get freeBytes() {
      return room.freeBytes
    },
    get besideBytes() {
      return besideBytes
    },
    has: (form, id) => kept[form].has(id),
    get(form, id) {
      const one = kept[form].get(id)
      if (one === undefined) return undefined
      countRequest()
      one.times += 1
      one.wasUsed = true
      one.users += 1
      const { bytes, release } = leaseOf(one.bytes, () => doneWith(one))
      return { facts: one.facts, bytes, release }
    },
    take(byteLength) {
      const part = partFor(byteLength)
      if (part === undefined) return leaseBeside(byteLength)
      return leaseOf(part.bytes.subarray(0, byteLength), () => room.giveBack(part))
    },
    takeFor(form, id, byteLength) {
      countRequest()
      const times = asked[form].add(id)
      const isWorthKeeping = makeWay(times, byteLength)
      const margin = isWorthKeeping ? 0 : marginBytes
      const length = byteLength + 2 * margin
      const part = partFor(length)
      const withMargins = isWorthKeeping ? undefined : part?.bytes.subarray(0, length)
      if (part === undefined) return { ...leaseBeside(byteLength), keep: () => undefined, withMargins }
      const bytes = part.bytes.subarray(margin, margin + byteLength)
      let one: Kept | undefined
      const { release } = leaseOf(bytes, () => {
        if (one === undefined) room.giveBack(part)
        else doneWith(one)
      })
      return {
        bytes,
        release,
        withMargins,
        keep(facts) {
          if (!isWorthKeeping || kept[form].has(id)) return
          asked[form].forget(id)
          one = keepPart({ form, id, part, bytes, facts, users: 1, times })
        },
      }
    },
    put(form, id, given, facts) {
      const { byteLength } = given
      // What is put is what was asked for last.
      if (kept[form].has(id) || !makeWay(Infinity, byteLength)) return
      const part = partFor(byteLength)
      if (part === undefined) return
      const bytes = part.bytes.subarray(0, byteLength)
      bytes.set(given)
      keepPart({ form, id, part, bytes, facts, users: 0, times: 1 })
    },
    clear() {
      for (const one of byAge.values()) forget(one)
      asked.joined.clear()
      asked.deflated.clear()
    },
  }
}
