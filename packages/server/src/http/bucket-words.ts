/** The memory of token buckets, shared by all threads of a node, and where in it each name has its bucket. */
import { randomInt } from 'node:crypto'

/** The memory of buckets. Every thread that is given the same memory sees the same buckets. */
export interface BucketMemory {
  readonly words: SharedArrayBuffer
  /** Secret: with it, somebody could choose names that meet in one set and push each other out. */
  readonly seed: number
}

/** 24 bytes each: three quarters of a megabyte, whatever strangers send. */
const defaultBuckets = 32_768
/** Each name belongs to one set of this many buckets. */
const setSize = 16
/** Of 64 bits each: a hash of the name, the microsecond at which the bucket will be full again, and its count of requests under way. */
const wordsPerBucket = 3
const setLength = wordsPerBucket * setSize

export function bucketMemory(capacity: number = defaultBuckets): BucketMemory {
  const sets = 2 ** Math.ceil(Math.log2(capacity / setSize))
  const words = new SharedArrayBuffer((1 + wordsPerBucket * setSize * sets) * BigInt64Array.BYTES_PER_ELEMENT)
  return { words, seed: randomInt(2 ** 32) }
}

/** The memory for keys and tenants, 3 MB: 10,000 tenants with two keys each take a quarter of it, and hardly any set overflows. */
export function requestMemory(): BucketMemory {
  return bucketMemory(131_072)
}

/** A name, hashed once because it is looked up often. */
export interface BucketName {
  readonly tag: bigint
  /** The halves of the tag, which can be compared without making a BigInt. */
  readonly low: number
  readonly high: number
  /** The first bucket of its set. */
  readonly first: number
  /** Where the name was found last. */
  at: number
}

/**
 * A full bucket holds no information and makes way for another name. If all buckets of a set are in use, the fullest goes: a spray of new
 * names pushes out other new names, not the limits that somebody has used up. Two names with equal 64-bit hashes would share a bucket.
 *
 * No thread waits for another: a word is changed by compare-and-exchange. If two threads meet a new name in the same microsecond, one
 * token may be counted twice or not at all.
 */
export class BucketWords {
  readonly #words: BigInt64Array
  /** The same memory as 32-bit words, to compare and count without making a BigInt. */
  readonly #halves: Int32Array
  readonly #sets: number
  readonly #hashOf: ReturnType<typeof nameHash>

  constructor(memory: BucketMemory) {
    this.#words = new BigInt64Array(memory.words)
    this.#halves = new Int32Array(memory.words)
    this.#sets = (this.#words.length - 1) / setLength
    this.#hashOf = nameHash(memory.seed)
  }

  /** The number of buckets in use; it never falls. */
  get size(): number {
    return Number(Atomics.load(this.#words, 0))
  }

  nameOf(name: string): BucketName {
    const { high, low } = this.#hashOf(name)
    const first = 1 + setLength * ((high >>> 0) % this.#sets)
    return { tag: (BigInt(high) << 32n) | BigInt(low >>> 0), high, low, first, at: first }
  }

  /** The place of a name's bucket; `undefined` if it has none, which means that it is full. */
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

  /** The microseconds until the bucket is full again. */
  fullIn(at: number, nowUs: number): number {
    return Math.max(0, this.#fullAt(at) - nowUs)
  }

  /** Moves the time at which a bucket is full; if `change` returns `undefined`, the time stays. */
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

  /** Adds to the count of requests under way, which never falls below 0. */
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

  /** When a bucket may make way: at once if it is empty. */
  #readyAt(at: number): number {
    if (Atomics.load(this.#words, at) === 0n) return 0
    return this.underWay(at) > 0 ? Infinity : this.#fullAt(at)
  }
}

/** Two multiplicative hashes of 32 bits, from two halves of a secret: they are quick, and nobody outside can aim at a set. */
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
    // Zero marks an unused bucket.
    return { high, low: high === 0 && (other | 0) === 0 ? 1 : other | 0 }
  }
}
