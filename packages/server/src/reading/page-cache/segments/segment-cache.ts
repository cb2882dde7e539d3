/** Holds the segments' bytes that are kept for the next reader, and chooses which of them make room for others. */
import type { PageBufferPool, PooledBuffer } from '../page-buffer-pool.ts'
import { SegmentMap } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { SegmentTable, WholeText } from './segment.ts'

/** The two kinds of a segment's bytes. */
export type SegmentForm = 'joined' | 'deflated'

export interface SegmentFacts {
  readonly whole: WholeText
  /** Read on first use and then kept, because a page made of whole segments does not need it. Throws if it cannot be read. */
  table(): SegmentTable
}

/**
 * Requests between two halvings of all counts, so that segments that were popular yesterday make room. Without counts, readers who range
 * over more than fits would replace everything again and again, and fill the processor's cache with it.
 */
const halvingAfter = 5_000

/** This share of the room is never filled with kept segments, so that answers rarely have to make room. */
const spareShare = 1 / 8

export interface CachedSegment {
  readonly form: SegmentForm
  readonly id: SegmentId
  readonly part: PooledBuffer
  readonly bytes: Buffer
  readonly facts: SegmentFacts
  /** The number of answers that use the bytes. */
  users: number
  times: number
  /** True if it was used after it was last examined as the oldest. */
  wasUsed: boolean
  /** It can no longer be found, and is freed with its last user. */
  forgotten: boolean
}

export interface SegmentCache {
  readonly room: PageBufferPool
  /** The most bytes that are kept. */
  readonly maxBytes: number
  readonly spareBytes: number
  readonly byForm: Readonly<Record<SegmentForm, SegmentMap<CachedSegment>>>
  /** Oldest first. */
  readonly byAge: Map<PooledBuffer, CachedSegment>
  /** How often segments that are not kept were asked for. */
  readonly asked: Readonly<Record<SegmentForm, RequestCounts>>
  byteLength: number
  requests: number
}

export function createSegmentCache(room: PageBufferPool, maxBytes: number): SegmentCache {
  return {
    room,
    maxBytes,
    spareBytes: room.byteLength * spareShare,
    byForm: { joined: new SegmentMap(), deflated: new SegmentMap() },
    byAge: new Map(),
    asked: { joined: createRequestCounts(), deflated: createRequestCounts() },
    byteLength: 0,
    requests: 0,
  }
}

export function countRequest(segments: SegmentCache): void {
  segments.requests += 1
  if (segments.requests % halvingAfter !== 0) return
  segments.asked.joined.halve()
  segments.asked.deflated.halve()
  for (const one of segments.byAge.values()) one.times >>= 1
}

/** Adds an answer that uses the bytes, until `doneWith`. */
export function use(segments: SegmentCache, one: CachedSegment): void {
  countRequest(segments)
  one.times += 1
  one.wasUsed = true
  one.users += 1
}

export function doneWith({ room }: SegmentCache, one: CachedSegment): void {
  one.users -= 1
  if (one.forgotten && one.users === 0) room.giveBack(one.part)
}

export function keep(
  segments: SegmentCache,
  kind: Omit<CachedSegment, 'wasUsed' | 'forgotten'>,
): CachedSegment {
  const one = { ...kind, wasUsed: false, forgotten: false }
  segments.byForm[one.form].set(one.id, one)
  segments.byAge.set(one.part, one)
  segments.byteLength += one.part.byteLength
  return one
}

function forget(segments: SegmentCache, one: CachedSegment): void {
  segments.byForm[one.form].delete(one.id)
  segments.byAge.delete(one.part)
  segments.byteLength -= one.part.byteLength
  segments.asked[one.form].raise(one.id, one.times)
  one.forgotten = true
  if (one.users === 0) segments.room.giveBack(one.part)
}

/** The segments that no answer uses, the least recently used first. Some may be forgotten meanwhile. */
function* unused({ byAge }: SegmentCache): Generator<CachedSegment> {
  for (const [part, one] of byAge) {
    if (one.users > 0) continue
    if (one.wasUsed) {
      // It gets another round, behind all the others.
      one.wasUsed = false
      byAge.delete(part)
      byAge.set(part, one)
    } else yield one
  }
}

/** Takes a part of the room, for which kept segments make way. `undefined`: answers hold too much of the room. */
export function partFor(segments: SegmentCache, byteLength: number): PooledBuffer | undefined {
  const { room } = segments
  return room.take(byteLength) ?? (makeRoom(segments, byteLength) ? room.take(byteLength) : undefined)
}

/** Makes room. True if this length is now free in one place. */
function makeRoom(segments: SegmentCache, byteLength: number): boolean {
  const { room, byAge } = segments
  for (const { part } of unused(segments)) {
    const inTheWay = room.inTheWay(part, byteLength, (other) => byAge.get(other)?.users === 0)
    if (inTheWay === undefined) continue
    for (const other of inTheWay) {
      const one = byAge.get(other)
      if (one !== undefined) forget(segments, one)
    }
    return true
  }
  return false
}

/** Whether bytes of this length, asked for this often, are worth keeping. If so, bytes that are worth less have been removed. */
export function makeWay(segments: SegmentCache, times: number, byteLength: number): boolean {
  if (byteLength > segments.maxBytes) return false
  if (mayKeepMore(segments, byteLength)) return true
  for (const one of unused(segments)) {
    // Twice as often, so that equals do not keep replacing each other.
    if (times <= 2 * one.times) return false
    forget(segments, one)
    if (mayKeepMore(segments, byteLength)) return true
  }
  return false
}

function mayKeepMore(segments: SegmentCache, byteLength: number): boolean {
  const { room, spareBytes, maxBytes } = segments
  return segments.byteLength + byteLength <= maxBytes && room.freeBytes - byteLength >= spareBytes
}

/** Forgets the segments of a feed, in whatever state (`seriesPrefix`). */
export function forgetSeries(segments: SegmentCache, prefix: string): void {
  for (const one of segments.byAge.values()) if (one.id.series.startsWith(prefix)) forget(segments, one)
}

export function forgetAll(segments: SegmentCache): void {
  for (const one of segments.byAge.values()) forget(segments, one)
  segments.asked.joined.clear()
  segments.asked.deflated.clear()
}

/**
 * Counts how often each of very many segments was asked for recently, in a table of fixed size. A segment's count is that of its place in
 * the table, which it may share with others. A map held thousands of keys for a second each, long enough for V8 to treat them as old and
 * to let tens of megabytes of them pile up.
 */
interface RequestCounts {
  /** Adds one and returns the count: at least the number of times that the segment was asked for. */
  add(id: SegmentId): number
  /** Raises the count to at least `times`. */
  raise(id: SegmentId, times: number): void
  forget(id: SegmentId): void
  halve(): void
  clear(): void
}

/** 128 kB. Between two halvings a few thousand keys are counted; about one in ten shares its place. */
const places = 2 ** 16
const mostTimes = 2 ** 16 - 1

export function createRequestCounts(): RequestCounts {
  const counts = new Uint16Array(places)
  return {
    add(id) {
      const place = placeOf(id)
      const times = Math.min(mostTimes, (counts[place] ?? 0) + 1)
      counts[place] = times
      return times
    },
    raise(id, times) {
      const place = placeOf(id)
      counts[place] = Math.min(mostTimes, Math.max(times, counts[place] ?? 0))
    },
    forget(id) {
      counts[placeOf(id)] = 0
    },
    halve() {
      for (let place = 0; place < places; place += 1) counts[place] = (counts[place] ?? 0) >> 1
    },
    clear: () => void counts.fill(0),
  }
}

/** FNV-1a over the name's characters and the number, with the upper half folded into the place. */
function placeOf({ series, number }: SegmentId): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < series.length; index += 1) {
    hash = Math.imul(hash ^ series.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ number, 0x01000193)
  return (hash ^ (hash >>> 16)) & (places - 1)
}
