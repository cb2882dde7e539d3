/**
 * Segments' bytes in a limited memory: those that are kept for the next reader, of which the least recently used go first, and those that
 * are read for one answer. Both share one room, so bytes that were read for one answer are kept by leaving them in place.
 */
import { freeBytes } from '../../../runtime/memory/free-bytes.ts'
import {
  countRequest,
  doneWith,
  forgetAll,
  forgetSeries,
  keep,
  createSegmentCache,
  makeWay,
  partFor,
  use,
} from './segment-cache.ts'
import type { CachedSegment, SegmentCache, SegmentFacts, SegmentForm } from './segment-cache.ts'
import { createPageBufferPool } from '../page-buffer-pool.ts'
import type { PooledBuffer } from '../page-buffer-pool.ts'
import type { SegmentId } from './segment-id.ts'

/** Bytes that do not change until they are released. Releasing twice is harmless. */
export interface Lease {
  readonly bytes: Buffer
  /** The length of the bytes if they lie outside the room, else 0. */
  readonly ownBytes: number
  readonly release: () => void
}

export interface SegmentBytes extends Lease {
  readonly facts: SegmentFacts
  /**
   * For bytes that only one answer uses: a buffer with room for `marginBytes` before and after them, so that they can be sent in one
   * piece with the envelope.
   */
  readonly withMargins?: Buffer | undefined
}

/** For the envelope of a page, plain or as stored blocks, and for a gzip trailer. */
export const marginBytes = 256

/** Memory to read a segment into. */
interface ReadingLease extends Lease {
  /** Call it when the bytes have been read: other answers can then use them, if they are worth keeping. */
  readonly keep: (facts: SegmentFacts) => void
  /** As in `SegmentBytes`; `undefined` if the bytes may be kept. */
  readonly withMargins: Buffer | undefined
}

export interface SegmentMemory {
  has(form: SegmentForm, id: SegmentId): boolean
  get(form: SegmentForm, id: SegmentId): SegmentBytes | undefined
  /** Memory for one answer. */
  take(byteLength: number): Lease
  /**
   * Memory for a segment's bytes. They are kept if there is room, or if they are asked for more often than those that would have to go.
   */
  takeFor(form: SegmentForm, id: SegmentId, byteLength: number): ReadingLease
  /** Keeps a copy. */
  put(form: SegmentForm, id: SegmentId, bytes: Uint8Array, facts: SegmentFacts): void
  /** Forgets the kept bytes. Those in use stay until they are released. */
  clear(): void
  /** Like `clear`, for the series with this prefix. */
  forget(prefix: string): void
  /** The size of the room, and how much of it is free. */
  readonly byteLength: number
  readonly freeBytes: number
  /** Bytes of answers that found the room full because clients had not read earlier answers yet. */
  readonly besideBytes: number
}

interface SegmentMemoryLimits {
  /** Room for kept bytes and for answers. */
  readonly memoryBytes: number
  /** Answers have at least this much, even if little or nothing is kept. */
  readonly leastBytes: number
}

export function createSegmentMemory({ memoryBytes, leastBytes }: SegmentMemoryLimits): SegmentMemory {
  const room = createPageBufferPool(Math.max(memoryBytes, leastBytes))
  const kept = createSegmentCache(room, memoryBytes)
  let besideBytes = 0

  /** Lies outside the room, for when answers hold all of it. */
  function leaseBeside(byteLength: number): Lease {
    besideBytes += byteLength
    const bytes = Buffer.allocUnsafeSlow(byteLength)
    const done = (): void => {
      besideBytes -= byteLength
      freeBytes(bytes)
    }
    return { ...leaseOf(bytes, done), ownBytes: byteLength }
  }

  return {
    byteLength: room.byteLength,
    get freeBytes() {
      return room.freeBytes
    },
    get besideBytes() {
      return besideBytes
    },
    has: (form, id) => kept.byForm[form].has(id),
    get(form, id) {
      const one = kept.byForm[form].get(id)
      if (one === undefined) return undefined
      use(kept, one)
      const { bytes, release } = leaseOf(one.bytes, () => doneWith(kept, one))
      return { facts: one.facts, bytes, ownBytes: 0, release }
    },
    take(byteLength) {
      const part = partFor(kept, byteLength)
      if (part === undefined) return leaseBeside(byteLength)
      return leaseOf(part.bytes.subarray(0, byteLength), () => room.giveBack(part))
    },
    takeFor(form, id, byteLength) {
      countRequest(kept)
      const times = kept.asked[form].add(id)
      const isWorthKeeping = makeWay(kept, times, byteLength)
      const part = partFor(kept, byteLength + (isWorthKeeping ? 0 : 2 * marginBytes))
      if (part === undefined) {
        return { ...leaseBeside(byteLength), keep: () => undefined, withMargins: undefined }
      }
      return isWorthKeeping
        ? leaseToKeep(kept, part, { form, id, times, byteLength })
        : leaseForOne(kept, part, byteLength)
    },
    put(form, id, given, facts) {
      const { byteLength } = given
      // A segment that is put counts as the most recently asked for.
      if (kept.byForm[form].has(id) || !makeWay(kept, Infinity, byteLength)) return
      const part = partFor(kept, byteLength)
      if (part === undefined) return
      const bytes = part.bytes.subarray(0, byteLength)
      bytes.set(given)
      keep(kept, { form, id, part, bytes, facts, users: 0, times: 1 })
    },
    clear: () => forgetAll(kept),
    forget: (prefix) => forgetSeries(kept, prefix),
  }
}

function leaseOf(bytes: Buffer, done: () => void): Lease {
  let released = false
  return {
    bytes,
    ownBytes: 0,
    release() {
      if (released) return
      released = true
      done()
    },
  }
}

/** Memory with margins that is returned after this answer. */
function leaseForOne({ room }: SegmentCache, part: PooledBuffer, byteLength: number): ReadingLease {
  const bytes = part.bytes.subarray(marginBytes, marginBytes + byteLength)
  const { release } = leaseOf(bytes, () => room.giveBack(part))
  const withMargins = part.bytes.subarray(0, byteLength + 2 * marginBytes)
  return { bytes, ownBytes: 0, release, withMargins, keep: () => undefined }
}

interface ToKeep extends Pick<CachedSegment, 'form' | 'id' | 'times'> {
  readonly byteLength: number
}

function leaseToKeep(
  kept: SegmentCache,
  part: PooledBuffer,
  { form, id, times, byteLength }: ToKeep,
): ReadingLease {
  const bytes = part.bytes.subarray(0, byteLength)
  let one: CachedSegment | undefined
  const { release } = leaseOf(bytes, () => {
    if (one === undefined) kept.room.giveBack(part)
    else doneWith(kept, one)
  })
  return {
    bytes,
    ownBytes: 0,
    release,
    withMargins: undefined,
    keep(facts) {
      if (kept.byForm[form].has(id)) return
      kept.asked[form].forget(id)
      one = keep(kept, { form, id, part, bytes, facts, users: 1, times })
    },
  }
}
