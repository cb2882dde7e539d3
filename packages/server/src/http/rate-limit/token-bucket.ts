/** Token buckets by name. Each holds this node's share of a limit (D10). */
import { BucketMemory } from './bucket-memory.ts'
import type { BucketName } from './bucket-memory.ts'

/** The limits over all nodes together. */
export interface BucketLimits {
  readonly perSecond: number
  readonly burst: number
}

/**
 * A class, because its numbers are small integers only sometimes. Of an object literal V8's optimised code made the old form after the
 * first other number, changed each object, and compiled again and again what reads them: a 304 took 37 µs in place of 14.
 */
export class BucketState {
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

  constructor(
    limits: BucketLimits,
    allowed: boolean,
    remaining: number,
    nextTokenMs: number,
    fullMs: number,
    nowUs: number,
  ) {
    this.limits = limits
    this.allowed = allowed
    this.remaining = remaining
    this.nextTokenMs = nextTokenMs
    this.fullMs = fullMs
    this.nowUs = nowUs
  }
}

export interface TokenBuckets {
  /** The bucket of a name, which the caller may keep and use often. `limits`: replaces the limits of all. */
  of(name: string, limits?: BucketLimits): Bucket
  /** The number of buckets in use; it never falls. */
  readonly size: number
}

interface TokenBucketOptions {
  readonly limits: BucketLimits
  /** Milliseconds that never go back. */
  readonly clock: () => number
  /** How many names have a bucket at the same time. Default: 32,768. */
  readonly capacity?: number
  /** How many nodes share the limits now; at least 1. Left out: only this one. */
  readonly nodes?: () => number
}

export function createTokenBuckets({
  limits,
  clock,
  capacity,
  nodes = () => 1,
}: TokenBucketOptions): TokenBuckets {
  const memory = new BucketMemory(capacity)
  const now = (): number => Math.round(clock() * 1_000)
  return {
    of: (name, own = limits) => new Bucket(memory, memory.nameOf(name), own, now, nodes),
    get size() {
      return memory.size
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
  readonly #memory: BucketMemory
  readonly #name: BucketName
  readonly #now: () => number
  readonly #nodes: () => number
  /** The microseconds of a token if no other node shares the limit. */
  readonly #soleTokenUs: number

  constructor(
    memory: BucketMemory,
    name: BucketName,
    limits: BucketLimits,
    now: () => number,
    nodes: () => number,
  ) {
    this.limits = limits
    this.#memory = memory
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
    const at = this.#memory.findOrMake(this.#name, nowUs)
    const fullInUs = this.#memory.fullIn(at, nowUs)
    if (fullInUs > mostUs) return this.#state(fullInUs, tokenUs, nowUs, false)
    this.#memory.fill(at, nowUs, fullInUs + tokenUs)
    return this.#state(fullInUs + tokenUs, tokenUs, nowUs, true)
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
    const at = this.#memory.findOrMake(this.#name, nowUs)
    return this.#remaining(this.#memory.fullIn(at, nowUs), this.#tokenUs())
  }

  /** Takes a token even if there is none: the debt, at most another burst, is paid back before anything is allowed again. */
  charge(nowUs: number = this.#now()): void {
    const tokenUs = this.#tokenUs()
    const deepestUs = 2 * this.#heightUs(tokenUs)
    const at = this.#memory.findOrMake(this.#name, nowUs)
    this.#memory.fill(at, nowUs, Math.min(deepestUs, this.#memory.fullIn(at, nowUs) + tokenUs))
  }

  /** Gives back the token that was taken with this state, and returns the state with it. */
  refund({ nowUs }: BucketState): BucketState {
    const tokenUs = this.#tokenUs()
    const at = this.#memory.find(this.#name)
    const fullInUs = at === undefined ? 0 : Math.max(0, this.#memory.fullIn(at, nowUs) - tokenUs)
    if (at !== undefined) this.#memory.fill(at, nowUs, fullInUs)
    return this.#state(fullInUs, tokenUs, nowUs, fullInUs <= this.#heightUs(tokenUs) - tokenUs)
  }

  /** The requests counted with `enter`. */
  get underWay(): number {
    const at = this.#memory.find(this.#name)
    return at === undefined ? 0 : this.#memory.underWay(at)
  }

  enter(): void {
    this.#memory.count(this.#memory.findOrMake(this.#name, this.#now()), 1)
  }

  leave(): void {
    const at = this.#memory.find(this.#name)
    if (at !== undefined) this.#memory.count(at, -1)
  }

  #tokenUs(): number {
    return this.#soleTokenUs * this.#nodes()
  }

  /** If there are more nodes than the burst has requests, each node still has one. */
  #heightUs(tokenUs: number): number {
    return Math.max(tokenUs, this.limits.burst * this.#soleTokenUs)
  }

  #fullInUs(nowUs: number): number {
    const at = this.#memory.find(this.#name)
    return at === undefined ? 0 : this.#memory.fullIn(at, nowUs)
  }

  #remaining(fullInUs: number, tokenUs: number): number {
    return Math.max(0, Math.floor((this.#heightUs(tokenUs) - fullInUs) / tokenUs))
  }

  #state(fullInUs: number, tokenUs: number, nowUs: number, allowed: boolean): BucketState {
    const remaining = this.#remaining(fullInUs, tokenUs)
    const nextTokenMs = Math.max(0, fullInUs - this.#heightUs(tokenUs) + tokenUs) / 1_000
    return new BucketState(this.limits, allowed, remaining, nextTokenMs, fullInUs / 1_000, nowUs)
  }
}

/** Milliseconds that never go back. */
export function steadyClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
