/** Token buckets by name, in memory that all threads of a node share (D10). */
import { randomInt } from 'node:crypto'

export interface BucketLimits {
  readonly perSecond: number
  readonly burst: number
}

export interface BucketState {
  /** A token was there, and was taken if that was asked for. */
  readonly allowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** Until the next token; 0 when there is one. */
  readonly nextTokenMs: number
  /** Until the bucket is full again. */
  readonly fullMs: number
}

export interface TokenBuckets {
  /** Takes a token if there is one. */
  take(name: string): BucketState
  /** Looks without taking. */
  peek(name: string): BucketState
  /** Takes a token even when there is none: the debt is paid back before anything is allowed again. */
  charge(name: string): void
  /** Gives a taken token back, and tells how many there are. */
  refund(name: string): BucketState
  /** Buckets that are held; never less than it was. */
  readonly size: number
}

/** Where buckets lie. Every thread that is given the same memory, with the same limits, sees the same buckets. */
export interface BucketMemory {
  readonly words: SharedArrayBuffer
  /** Secret: names chosen with it could meet in one set and push each other out. */
  readonly seed: number
}

/** 16 bytes each: half a megabyte, whatever strangers send. */
const defaultBuckets = 32_768
/** A name has its place in one set of so many buckets. */
const setSize = 16

export function bucketMemory(capacity: number = defaultBuckets): BucketMemory {
  const sets = 2 ** Math.ceil(Math.log2(capacity / setSize))
  const words = new SharedArrayBuffer((1 + 2 * setSize * sets) * BigInt64Array.BYTES_PER_ELEMENT)
  return { words, seed: randomInt(2 ** 32) }
}

/**
 * A bucket is two words: a hash of its name, and the microsecond at which it will be full again, which is all there is to
 * know of it. A full one says nothing and makes way for another name; where all of a set are in use, the fullest goes: a
 * spray of new names pushes out those, not the limits that somebody has used up. Two names whose 64-bit hashes are equal
 * would share a bucket.
 *
 * No thread waits for another: a word is changed by compare-and-exchange. Where two threads meet a new name in the same
 * microsecond, one token may be counted twice or not at all.
 *
 * `clock`: milliseconds that never step back, the same in every thread.
 */
export function createTokenBuckets(
  limits: BucketLimits,
  clock: () => number,
  memory: BucketMemory = bucketMemory(),
): TokenBuckets {
  const { burst } = limits
  const tokenUs = Math.max(1, Math.round(1_000_000 / limits.perSecond))
  const oneToken = BigInt(tokenUs)
  /** Debt goes as deep as the bucket is high. */
  const deepestUs = BigInt(2 * burst * tokenUs)
  const buckets = bucketWords(memory)
  const now = (): bigint => BigInt(Math.round(clock() * 1_000))

  function stateOf(fullInUs: bigint, allowed: boolean): BucketState {
    const fullUs = Number(fullInUs)
    return {
      allowed,
      remaining: Math.max(0, Math.floor(burst - fullUs / tokenUs)),
      nextTokenMs: Math.max(0, fullUs - (burst - 1) * tokenUs) / 1_000,
      fullMs: fullUs / 1_000,
    }
  }

  const holdsToken = (fullInUs: bigint): boolean => Number(fullInUs) <= (burst - 1) * tokenUs

  return {
    take(name) {
      const nowUs = now()
      let allowed = true
      const fullInUs = buckets.move(buckets.findOrMake(name, nowUs), nowUs, (fullInUs) => {
        allowed = holdsToken(fullInUs)
        return allowed ? fullInUs + oneToken : undefined
      })
      return stateOf(fullInUs, allowed)
    },
    peek(name) {
      const at = buckets.find(name)
      if (at === undefined) return stateOf(0n, true)
      const fullInUs = buckets.move(at, now(), () => undefined)
      return stateOf(fullInUs, holdsToken(fullInUs))
    },
    charge(name) {
      const nowUs = now()
      buckets.move(buckets.findOrMake(name, nowUs), nowUs, (fullInUs) =>
        fullInUs + oneToken > deepestUs ? deepestUs : fullInUs + oneToken,
      )
    },
    refund(name) {
      const at = buckets.find(name)
      if (at === undefined) return stateOf(0n, true)
      const fullInUs = buckets.move(at, now(), (inUs) => (inUs > oneToken ? inUs - oneToken : 0n))
      return stateOf(fullInUs, holdsToken(fullInUs))
    },
    get size() {
      return buckets.size
    },
  }
}

/** The words of buckets: which one stands where, and when it is full again. */
interface BucketWords {
  /** The index of the word that says when the bucket is full; `undefined`: there is none of this name. */
  find(name: string): number | undefined
  findOrMake(name: string, nowUs: bigint): number
  /** Puts off, or brings nearer, the moment at which a bucket is full; `undefined` from `change` leaves it. */
  move(at: number, nowUs: bigint, change: (fullInUs: bigint) => bigint | undefined): bigint
  readonly size: number
}

function bucketWords(memory: BucketMemory): BucketWords {
  const words = new BigInt64Array(memory.words)
  const sets = (words.length - 1) / 2 / setSize
  const hashOf = nameHash(memory.seed)

  const find = (name: string): number | undefined => {
    const { tag, hash } = hashOf(name)
    const first = 1 + 2 * setSize * (hash % sets)
    for (let at = first; at < first + 2 * setSize; at += 2) {
      if (Atomics.load(words, at) === tag) return at + 1
    }
    return undefined
  }

  return {
    find,
    findOrMake(name, nowUs) {
      const known = find(name)
      if (known !== undefined) return known
      const { tag, hash } = hashOf(name)
      const first = 1 + 2 * setSize * (hash % sets)
      let fullest = first
      let fullestUs: bigint | undefined
      for (let at = first; at < first + 2 * setSize; at += 2) {
        const fullUs = Atomics.load(words, at) === 0n ? 0n : Atomics.load(words, at + 1)
        if (fullestUs !== undefined && fullUs >= fullestUs) continue
        fullest = at
        fullestUs = fullUs
      }
      const before = Atomics.exchange(words, fullest, tag)
      if (before === 0n) Atomics.add(words, 0, 1n)
      Atomics.store(words, fullest + 1, nowUs)
      return fullest + 1
    },
    move(at, nowUs, change) {
      for (;;) {
        const stored = Atomics.load(words, at)
        const fullInUs = stored > nowUs ? stored - nowUs : 0n
        const wantedUs = change(fullInUs)
        if (wantedUs === undefined) return fullInUs
        if (Atomics.compareExchange(words, at, stored, nowUs + wantedUs) === stored) return wantedUs
      }
    },
    get size() {
      return Number(Atomics.load(words, 0))
    },
  }
}

/** Two multiplicative hashes of 32 bits, from two halves of a secret: quick, and nobody outside can aim at a set. */
function nameHash(seed: number): (name: string) => { readonly tag: bigint; readonly hash: number } {
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
    const hash = (one ^ (one >>> 13)) >>> 0
    // Zero marks a bucket that was never used.
    const tag = BigInt.asIntN(64, (BigInt(hash) << 32n) | BigInt(other >>> 0))
    return { tag: tag === 0n ? 1n : tag, hash }
  }
}
