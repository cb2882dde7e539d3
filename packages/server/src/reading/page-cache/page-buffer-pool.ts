/**
 * Room for the bytes of pages: a few large buffers, allocated when they are first needed and kept for good, of which parts are lent. A
 * buffer for each page cost the process three times its size: 64 MiB of them took 220, because the allocator keeps room between buffers
 * that come and go, and V8 frees them late and counts them as future garbage (measured manually).
 */

/** A part of the room. */
export interface PooledBuffer {
  /** A multiple of the unit. */
  readonly byteLength: number
  /** Usable while the part is lent. */
  readonly bytes: Buffer
}

export interface PageBufferPool {
  /** The limit of all parts together, including free ones. */
  readonly byteLength: number
  readonly freeBytes: number
  /** Lends the first free part of at least this length; `undefined` if every free part is too short. */
  take(byteLength: number): PooledBuffer | undefined
  /** Takes back a part that was lent. Call it once for each. */
  giveBack(part: PooledBuffer): void
  /**
   * The lent parts, `part` and its neighbours, that have to come back so that this length is free in one place. `undefined` if one of
   * them has to stay.
   */
  inTheWay(
    part: PooledBuffer,
    byteLength: number,
    mayGo: (part: PooledBuffer) => boolean,
  ): readonly PooledBuffer[] | undefined
}

/** Parts begin and end at multiples of this, so that little is lost between them and free ones are found quickly. */
const unitBytes = 4_096

/** The size of one request to the system, which provides the memory only as it is first touched. Longer parts are not lent. */
const slabBytes = 32 * 2 ** 20

interface Slab {
  readonly bytes: Buffer
  /**
   * In the order of their addresses. The first are lent first, so that few are in use and stay in the processor's
   * cache.
   */
  readonly free: Part[]
}

class Part implements PooledBuffer {
  readonly slab: Slab
  from: number
  byteLength: number
  isFree = true
  /** Neighbours by address: adjacent free parts become one. */
  previous: Part | undefined
  next: Part | undefined

  constructor(slab: Slab, from: number, byteLength: number) {
    this.slab = slab
    this.from = from
    this.byteLength = byteLength
  }

  get bytes(): Buffer {
    return this.slab.bytes.subarray(this.from, this.from + this.byteLength)
  }
}

/** `byteLength` is rounded down to whole units. Nothing is allocated before it is needed. */
export function createPageBufferPool(byteLength: number): PageBufferPool {
  const total = Math.floor(byteLength / unitBytes) * unitBytes
  const slabs: Slab[] = []
  let slabTotal = 0
  let freeBytes = total

  function addSlab(): Slab | undefined {
    const length = Math.min(slabBytes, total - slabTotal)
    if (length === 0) return undefined
    // Shared memory, although no other thread sees it: V8 counts unshared memory, and lets as much more garbage pile
    // up.
    const slab: Slab = { bytes: Buffer.from(new SharedArrayBuffer(length)), free: [] }
    slab.free.push(new Part(slab, 0, length))
    slabs.push(slab)
    slabTotal += length
    return slab
  }

  function takeFrom(slab: Slab, byteLength: number): Part | undefined {
    const index = slab.free.findIndex((part) => part.byteLength >= byteLength)
    const part = slab.free[index]
    if (part === undefined) return undefined
    if (part.byteLength === byteLength) slab.free.splice(index, 1)
    else slab.free[index] = splitOff(part, byteLength)
    part.isFree = false
    freeBytes -= byteLength
    return part
  }

  return {
    byteLength: total,
    get freeBytes() {
      return freeBytes
    },
    take(wantedBytes) {
      const byteLength = Math.max(1, Math.ceil(wantedBytes / unitBytes)) * unitBytes
      if (byteLength > freeBytes) return undefined
      for (const slab of slabs) {
        const part = takeFrom(slab, byteLength)
        if (part !== undefined) return part
      }
      const slab = addSlab()
      return slab && takeFrom(slab, byteLength)
    },
    giveBack(part) {
      if (!(part instanceof Part) || part.isFree) throw new Error('a part came back that was not lent')
      freeBytes += part.byteLength
      part.isFree = true
      free(part)
    },
    inTheWay(part, byteLength, mayGo) {
      if (!(part instanceof Part)) return undefined
      const found = [part]
      let [first, last, length] = [part, part, part.byteLength]
      while (length < byteLength) {
        const beside = [last.next, first.previous].filter((other) => other !== undefined)
        const neighbour = beside.find((other) => other.isFree) ?? beside.find((other) => mayGo(other))
        if (neighbour === undefined) return undefined
        if (neighbour === last.next) last = neighbour
        else first = neighbour
        if (!neighbour.isFree) found.push(neighbour)
        length += neighbour.byteLength
      }
      return found
    },
  }
}

/** Cuts a part after `byteLength` and returns the rest. */
function splitOff(part: Part, byteLength: number): Part {
  const rest = new Part(part.slab, part.from + byteLength, part.byteLength - byteLength)
  rest.previous = part
  rest.next = part.next
  if (part.next !== undefined) part.next.previous = rest
  part.next = rest
  part.byteLength = byteLength
  return rest
}

/** Adds a part to the free ones, joined with the free parts next to it. */
function free(part: Part): void {
  const { free } = part.slab
  const { previous, next } = part
  if (previous?.isFree === true) {
    swallowNext(previous)
    if (next?.isFree === true) {
      free.splice(free.indexOf(next), 1)
      swallowNext(previous)
    }
  } else if (next?.isFree === true) {
    free[free.indexOf(next)] = part
    swallowNext(part)
  } else {
    const following = free.findIndex((other) => other.from > part.from)
    free.splice(following < 0 ? free.length : following, 0, part)
  }
}

function swallowNext(part: Part): void {
  const { next } = part
  if (next === undefined) return
  part.byteLength += next.byteLength
  part.next = next.next
  if (next.next !== undefined) next.next.previous = part
}
