/** The memory of token buckets, of a fixed size whatever strangers send, and where in it each name has its bucket. */
import { randomInt } from 'node:crypto'

/** 20 bytes each: less than three quarters of a megabyte. */
const defaultBuckets = 32_768
/** Each name belongs to one set of this many buckets. */
const setSize = 16

/** Enough for 10,000 tenants with two keys each, which take a quarter of it: hardly any set overflows. 2.5 MB. */
export const requestBuckets = 131_072

/** A name, hashed once because it is looked up often. */
export interface BucketName {
  /** The two halves of a hash of 64 bits. */
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
 */
export class BucketMemory {
  readonly #low: Int32Array
  readonly #high: Int32Array
  /** The microsecond at which each bucket will be full again. */
  readonly #fullAtUs: Float64Array
  readonly #underWay: Int32Array
  readonly #sets: number
  readonly #hashOf: ReturnType<typeof nameHash>
  #size = 0

  constructor(capacity: number = defaultBuckets) {
    this.#sets = 2 ** Math.ceil(Math.log2(capacity / setSize))
    const length = this.#sets * setSize
    this.#low = new Int32Array(length)
    this.#high = new Int32Array(length)
    this.#fullAtUs = new Float64Array(length)
    this.#underWay = new Int32Array(length)
    // Secret: with it, somebody could choose names that belong to one set and push each other out.
    this.#hashOf = nameHash(randomInt(2 ** 32))
  }

  /** The number of buckets in use; it never falls. */
  get size(): number {
    return this.#size
  }

  nameOf(name: string): BucketName {
    const { high, low } = this.#hashOf(name)
    const first = setSize * ((high >>> 0) % this.#sets)
    return { high, low, first, at: first }
  }

  /** The index of a name's bucket; `undefined` if it has none, which means that it is full. */
  find(name: BucketName): number | undefined {
    if (this.#isAt(name.at, name)) return name.at
    for (let at = name.first; at < name.first + setSize; at += 1) {
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
    for (let at = name.first + 1; at < name.first + setSize; at += 1) {
      const readyUs = this.#readyAt(at)
      if (readyUs >= fullestUs) continue
      fullest = at
      fullestUs = readyUs
    }
    if (this.#isUnused(fullest)) this.#size += 1
    this.#low[fullest] = name.low
    this.#high[fullest] = name.high
    this.#fullAtUs[fullest] = nowUs
    this.#underWay[fullest] = 0
    name.at = fullest
    return fullest
  }

  /** The microseconds until the bucket is full again. */
  fullIn(at: number, nowUs: number): number {
    return Math.max(0, this.#fullAt(at) - nowUs)
  }

  /** Sets the microseconds until the bucket is full again. */
  fill(at: number, nowUs: number, inUs: number): void {
    this.#fullAtUs[at] = nowUs + inUs
  }

  underWay(at: number): number {
    return this.#underWay[at] ?? 0
  }

  /** Adds to the count of requests under way, which never falls below 0. */
  count(at: number, more: 1 | -1): void {
    this.#underWay[at] = Math.max(0, this.underWay(at) + more)
  }

  #isAt(at: number, { low, high }: BucketName): boolean {
    return this.#low[at] === low && this.#high[at] === high
  }

  #isUnused(at: number): boolean {
    return this.#low[at] === 0 && this.#high[at] === 0
  }

  #fullAt(at: number): number {
    return this.#fullAtUs[at] ?? 0
  }

  /** When a bucket may make way: at once if it is empty. */
  #readyAt(at: number): number {
    if (this.#isUnused(at)) return 0
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
