/** Token buckets by name, in memory that all threads of a node share. Each holds this node's share of a limit (D10). */
import { BucketWords, bucketMemory } from './bucket-words.ts'
import type { BucketMemory, BucketName } from './bucket-words.ts'

/** The limits over all nodes together. */
export interface BucketLimits {
  readonly perSecond: number
  readonly burst: number
}

export interface BucketState {
  /** The limits of which the bucket holds a share. */
  readonly limits: BucketLimits
  /** A token was available. `take` then took it. */
  readonly allowed: boolean
  /** Whole tokens left on this node. */
  readonly remaining: number
  /** Milliseconds until the next token; 0 when there is one. */
  readonly nextTokenMs: number
  /** Milliseconds until the bucket is full again. */
  readonly fullMs: number
  /** The time of this state, on the buckets' clock. */
  readonly nowUs: number
}

export interface TokenBuckets {
  /** The bucket of a name, which the caller may keep and use often. `limits`: replaces the limits of all. */
  of(name: string, limits?: BucketLimits): Bucket
  /** The number of buckets in use; it never falls. */
  readonly size: number
}

export interface TokenBucketOptions {
  readonly limits: BucketLimits
  /** Milliseconds that never go back, the same in every thread. */
  readonly clock: () => number
  /** Left out: memory of this thread alone. */
  readonly memory?: BucketMemory | undefined
  /** How many nodes share the limits now; at least 1. Left out: only this one. */
  readonly nodes?: () => number
}

export function createTokenBuckets({
  limits,
  clock,
  memory,
  nodes = () => 1,
}: TokenBucketOptions): TokenBuckets {
  const words = new BucketWords(memory ?? bucketMemory())
  const now = (): number => Math.round(clock() * 1_000)
  return {
    of: (name, own = limits) => new Bucket(words, words.nameOf(name), own, now, nodes),
    get size() {
      return words.size
    },
  }
}

/**
 * Stores one number: the microsecond at which the bucket will be full again. A token costs a fixed number of microseconds, multiplied by
 * the number of nodes that share the limit, while the bucket always takes the same time to fill. So when a node joins, everybody keeps
 * the remaining part of the burst.
 */
export class Bucket {
  readonly limits: BucketLimits
  readonly #words: BucketWords
  readonly #name: BucketName
  readonly #now: () => number
  readonly #nodes: () => number
  /** The microseconds of a token if no other node shares the limit. */
  readonly #soleTokenUs: number

  constructor(
    words: BucketWords,
    name: BucketName,
    limits: BucketLimits,
    now: () => number,
    nodes: () => number,
  ) {
    this.limits = limits
    this.#words = words
    this.#name = name
    this.#now = now
    this.#nodes = nodes
    this.#soleTokenUs = Math.max(1, Math.round(1_000_000 / limits.perSecond))
  }

  /** Takes a token if there is one. */
  take(): BucketState {
    const nowUs = this.#now()
    const tokenUs = this.#tokenUs()
    const mostUs = this.#heightUs(tokenUs) - tokenUs
    let allowed = true
    const at = this.#words.findOrMake(this.#name, nowUs)
    const fullInUs = this.#words.move(at, nowUs, (inUs) => {
      allowed = inUs <= mostUs
      return allowed ? inUs + tokenUs : undefined
    })
    return this.#state(fullInUs, tokenUs, nowUs, allowed)
  }

  /** Returns the state without taking a token. */
  peek(nowUs: number = this.#now()): BucketState {
    const tokenUs = this.#tokenUs()
    const fullInUs = this.#fullInUs(nowUs)
    return this.#state(fullInUs, tokenUs, nowUs, fullInUs <= this.#heightUs(tokenUs) - tokenUs)
  }

  /**
   * Whole tokens left. `nowUs`: from a state of a bucket on the same clock. Each poll asks for this, so the bucket is created here:
   * looking for a missing one searches its whole set.
   */
  remaining(nowUs: number): number {
    const at = this.#words.findOrMake(this.#name, nowUs)
    return this.#remaining(this.#words.fullIn(at, nowUs), this.#tokenUs())
  }

  /** Takes a token even if there is none: the debt, at most another burst, is paid back before anything is allowed again. */
  charge(nowUs: number = this.#now()): void {
    const tokenUs = this.#tokenUs()
    const deepestUs = 2 * this.#heightUs(tokenUs)
    const at = this.#words.findOrMake(this.#name, nowUs)
    this.#words.move(at, nowUs, (inUs) => Math.min(deepestUs, inUs + tokenUs))
  }

  /** Gives back the token that was taken with this state, and returns the state with it. */
  refund({ nowUs }: BucketState): BucketState {
    const tokenUs = this.#tokenUs()
    const at = this.#words.find(this.#name)
    const fullInUs = at === undefined ? 0 : this.#words.move(at, nowUs, (inUs) => Math.max(0, inUs - tokenUs))
    return this.#state(fullInUs, tokenUs, nowUs, fullInUs <= this.#heightUs(tokenUs) - tokenUs)
  }

  /** The requests counted with `enter`, on all threads of this node. */
  get underWay(): number {
    const at = this.#words.find(this.#name)
    return at === undefined ? 0 : this.#words.underWay(at)
  }

  enter(): void {
    this.#words.count(this.#words.findOrMake(this.#name, this.#now()), 1)
  }

  leave(): void {
    const at = this.#words.find(this.#name)
    if (at !== undefined) this.#words.count(at, -1)
  }

  #tokenUs(): number {
    return this.#soleTokenUs * this.#nodes()
  }

  /** If there are more nodes than the burst has requests, each node still has one. */
  #heightUs(tokenUs: number): number {
    return Math.max(tokenUs, this.limits.burst * this.#soleTokenUs)
  }

  #fullInUs(nowUs: number): number {
    const at = this.#words.find(this.#name)
    return at === undefined ? 0 : this.#words.fullIn(at, nowUs)
  }

  #remaining(fullInUs: number, tokenUs: number): number {
    return Math.max(0, Math.floor((this.#heightUs(tokenUs) - fullInUs) / tokenUs))
  }

  #state(fullInUs: number, tokenUs: number, nowUs: number, allowed: boolean): BucketState {
    return {
      limits: this.limits,
      allowed,
      remaining: this.#remaining(fullInUs, tokenUs),
      nextTokenMs: Math.max(0, fullInUs - this.#heightUs(tokenUs) + tokenUs) / 1_000,
      fullMs: fullInUs / 1_000,
      nowUs,
    }
  }
}

/** Milliseconds that never go back, the same in every thread. */
export function steadyClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
