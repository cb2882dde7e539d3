/** The memory of token buckets, which all threads of a node share: which name has its bucket where. */
import { randomInt } from 'node:crypto'

/** Where buckets lie. Every thread that is given the same memory sees the same buckets. */
export interface BucketMemory {
  readonly words: SharedArrayBuffer
  /** Secret: names chosen with it could meet in one set and push each other out. */
  readonly seed: number
}

/** 24 bytes each: three quarters of a megabyte, whatever strangers send. */
const defaultBuckets = 32_768
/** A name has its place in one set of so many buckets. */
const setSize = 16
/** Of 64 bits: a hash of the name, the microsecond at which the bucket will be full again, and what is under way of it. */
const wordsPerBucket = 3
const setLength = wordsPerBucket * setSize

export function bucketMemory(capacity: number = defaultBuckets): BucketMemory {
  const sets = 2 ** Math.ceil(Math.log2(capacity / setSize))
  const words = new SharedArrayBuffer((1 + wordsPerBucket * setSize * sets) * BigInt64Array.BYTES_PER_ELEMENT)
  return { words, seed: randomInt(2 ** 32) }
}

/** For keys and tenants, 3 MB: 10,000 tenants with two keys each take a quarter, and next to no set has more of them than it holds. */
export function requestMemory(): BucketMemory {
  return bucketMemory(131_072)
}

/** A name, hashed once for being looked for often. */
export interface BucketName {
  readonly tag: bigint
  /** The halves of the tag, to be compared without making a BigInt. */
  readonly low: number
  readonly high: number
  /** Of its set. */
  readonly first: number
  /** Where it was last. */
  at: number
}

/**
 * A full bucket says nothing and makes way for another name; where all of a set are in use, the fullest goes: a spray of new names
 * pushes out those, not the limits that somebody has used up. Two names whose 64-bit hashes are equal would share a bucket.
 *
 * No thread waits for another: a word is changed by compare-and-exchange. Where two threads meet a new name in the same
 * microsecond, one token may be counted twice or not at all.
 */
export class BucketWords {
  readonly #words: BigInt64Array
  /** The same memory, for what is compared and counted without making a BigInt. */
  readonly #halves: Int32Array
  readonly #sets: number
  readonly #hashOf: ReturnType<typeof nameHash>

  constructor(memory: BucketMemory) {
    this.#words = new BigInt64Array(memory.words)
    this.#halves = new Int32Array(memory.words)
    this.#sets = (this.#words.length - 1) / setLength
    this.#hashOf = nameHash(memory.seed)
  }

  /** Buckets that are held; never less than it was. */
  get size(): number {
    return Number(Atomics.load(this.#words, 0))
  }

  nameOf(name: string): BucketName {
    const { high, low } = this.#hashOf(name)
    const first = 1 + setLength * ((high >>> 0) % this.#sets)
    return { tag: (BigInt(high) << 32n) | BigInt(low >>> 0), high, low, first, at: first }
  }

  /** The place of a name's bucket; `undefined`: there is none, so it is full. */
  find(name: BucketName): number | undefined {
    if (this.#isAt(name.at, name)) return name.at
    for (let at = name.first; at < name.first + setLength; at += wordsPerBucket) {
      if (!this.#isAt(at, name)) continue
      name.at = at
      return at
    }
    return undefined
  }

  findOrMake(name: BucketName, nowUs: number): number {
    const known = this.find(name)
    if (known !== undefined) return known
    let fullest = name.first
    let fullestUs = this.#readyAt(fullest)
    for (let at = name.first + wordsPerBucket; at < name.first + setLength; at += wordsPerBucket) {
      const readyUs = this.#readyAt(at)
      if (readyUs >= fullestUs) continue
      fullest = at
      fullestUs = readyUs
    }
    const before = Atomics.exchange(this.#words, fullest, name.tag)
    if (before === 0n) Atomics.add(this.#words, 0, 1n)
    Atomics.store(this.#words, fullest + 1, BigInt(nowUs))
    Atomics.store(this.#words, fullest + 2, 0n)
    name.at = fullest
    return fullest
  }

  /** In so many microseconds the bucket is full again. */
  fullIn(at: number, nowUs: number): number {
    return Math.max(0, this.#fullAt(at) - nowUs)
  }

  /** Puts off, or brings nearer, the moment at which a bucket is full; `undefined` from `change` leaves it. */
  move(at: number, nowUs: number, change: (fullInUs: number) => number | undefined): number {
    for (;;) {
      const stored = Atomics.load(this.#words, at + 1)
      const fullInUs = Math.max(0, Number(stored) - nowUs)
      const wantedUs = change(fullInUs)
      if (wantedUs === undefined) return fullInUs
      const moved = BigInt(nowUs + wantedUs)
      if (Atomics.compareExchange(this.#words, at + 1, stored, moved) === stored) return wantedUs
    }
  }

  underWay(at: number): number {
    return Atomics.load(this.#halves, 2 * (at + 2))
  }

  /** Adds to what is under way, which is never less than none. */
  count(at: number, more: 1 | -1): void {
    const place = 2 * (at + 2)
    for (;;) {
      const before = Atomics.load(this.#halves, place)
      const wanted = Math.max(0, before + more)
      if (Atomics.compareExchange(this.#halves, place, before, wanted) === before) return
    }
  }

  #isAt(at: number, { low, high }: BucketName): boolean {
    return Atomics.load(this.#halves, 2 * at) === low && Atomics.load(this.#halves, 2 * at + 1) === high
  }

  #fullAt(at: number): number {
    return Number(Atomics.load(this.#words, at + 1))
  }

  /** When a bucket may make way: at once where none is. */
  #readyAt(at: number): number {
    if (Atomics.load(this.#words, at) === 0n) return 0
    return this.underWay(at) > 0 ? Infinity : this.#fullAt(at)
  }
}

/** Two multiplicative hashes of 32 bits, from two halves of a secret: quick, and nobody outside can aim at a set. */
function nameHash(seed: number): (name: string) => { readonly high: number; readonly low: number } {
  const mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  return (name) => {
    let one = seed
    let other = mixed
    for (let index = 0; index < name.length; index += 1) {
      const code = name.charCodeAt(index)
      one = Math.imul(one ^ code, 0x01000193)
      other = Math.imul((other ^ code) + (one >>> 15), 0x5bd1e995)
    }
    one = Math.imul(one ^ (one >>> 16), 0x85ebca6b)
    other = Math.imul(other ^ (other >>> 15), 0xc2b2ae35)
    const high = (one ^ (one >>> 13)) | 0
    // Zero marks a bucket that was never used.
    return { high, low: high === 0 && (other | 0) === 0 ? 1 : other | 0 }
  }
}
