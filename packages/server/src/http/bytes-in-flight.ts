/**
 * Bytes of requests and answers that are in memory at the same time: one budget for the node, of which each key has a share.
 * Counted are bodies from their first byte until the publication is answered (what gzip made of them included), and answers that
 * their readers have not taken yet. Pages in the room of `--page-memory-bytes` are not: that has a limit of its own.
 */
import type { InFlightState } from '../observability/in-flight-metrics.ts'
import type { Refusal } from './problem.ts'

export interface InFlightLimits {
  /** Of the node, all its threads together. */
  readonly inFlightBytes: number
  /** Of one key. All threads together, as far as its connections are spread over them. */
  readonly inFlightBytesPerKey: number
  /** Of all requests without a valid key together. */
  readonly inFlightBytesOfStrangers: number
  readonly maxBodyBytes: number
}

/**
 * What bytes are held for. A node that fills up refuses first what is dear and can be asked for again at any time, and last what is
 * lost if its sender gives up.
 */
export type FlightUse = keyof typeof shareOfNode

/** Up to which share of the node's budget each is taken on. */
const shareOfNode = { snapshot: 0.5, stream: 0.75, largePage: 0.75, page: 0.9, publication: 1 } as const

/** The bytes of one request or answer. */
export interface Flight {
  /** Adds bytes, if there is room for them; else says why not, and adds nothing. */
  take(bytes: number): Refusal | undefined
  /** Adds bytes that are in memory in any case. */
  hold(bytes: number): void
  /** So many of them are gone. */
  giveBack(bytes: number): void
  /** All of them are gone. Safe to call twice. */
  end(): void
}

export interface BytesInFlight {
  /** `keyId` undefined: a request without a valid key. */
  begin(keyId: string | undefined, use: FlightUse): Flight
  /** Whether `take` would refuse so many bytes at this moment. */
  refuses(keyId: string | undefined, use: FlightUse, bytes: number): Refusal | undefined
  /** Of this thread; refusals since the start. */
  state(): InFlightState
}

/** What the threads of a node count together. */
export interface NodeCounts {
  /** Of 32 bits each, as `nodeCountWords` has them. */
  readonly words: SharedArrayBuffer
  readonly threads: number
}

/**
 * `units`: kibibytes in flight. `refusing`: 1 while connections are refused. `warned`: 1 once it was said that there can be few.
 * `waiting`: requests that wait for events.
 */
export const nodeCountWords = { units: 0, connections: 1, refusing: 2, warned: 3, waiting: 4 } as const

export function nodeCounts(threads = 1): NodeCounts {
  return { words: new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT), threads }
}

const bytesPerUnit = 1_024
const strangers = ''

export function createBytesInFlight(
  limits: InFlightLimits,
  counts: NodeCounts = nodeCounts(),
): BytesInFlight {
  const words = new Int32Array(counts.words)
  const size = Math.floor(limits.inFlightBytes / bytesPerUnit)
  // A body of the largest size, and the most that its events need beside it.
  const leastOfKey = Math.ceil((4 * limits.maxBodyBytes) / bytesPerUnit)
  const mostOfKey = Math.max(leastOfKey, limits.inFlightBytesPerKey / bytesPerUnit / counts.threads)
  const mostOfStrangers = limits.inFlightBytesOfStrangers / bytesPerUnit
  const byKey = new Map<string, number>()
  const refused = { snapshot: 0, stream: 0, largePage: 0, page: 0, publication: 0 }
  let ownUnits = 0

  const add = (name: string, units: number): void => {
    const left = (byKey.get(name) ?? 0) + units
    if (left > 0) byKey.set(name, left)
    else byKey.delete(name)
    ownUnits += units
    Atomics.add(words, nodeCountWords.units, units)
  }

  const refusalOf = (name: string, use: FlightUse, more: number): Refusal | undefined => {
    const ofKey = (byKey.get(name) ?? 0) + more
    const inAll = Atomics.load(words, nodeCountWords.units) + more
    const isOwnFault = ofKey > (name === strangers ? mostOfStrangers : mostOfKey)
    // Beside a key at least as much is left free as it has: many that take all they can leave room for one more.
    if (!isOwnFault && ofKey <= size - inAll && inAll <= size * shareOfNode[use]) return undefined
    refused[use] += 1
    return refusal(isOwnFault)
  }

  return {
    begin(keyId, use) {
      const name = keyId ?? strangers
      let bytes = 0
      let units = 0
      const grow = (more: number): void => {
        const before = units
        bytes += more
        units = Math.ceil(bytes / bytesPerUnit)
        if (units > before) add(name, units - before)
      }
      return {
        take(more) {
          const wanted = Math.ceil((bytes + more) / bytesPerUnit) - units
          const refusal = wanted > 0 ? refusalOf(name, use, wanted) : undefined
          if (refusal === undefined) grow(more)
          return refusal
        },
        hold: grow,
        giveBack(less) {
          const before = units
          bytes = Math.max(0, bytes - less)
          units = Math.ceil(bytes / bytesPerUnit)
          if (units < before) add(name, units - before)
        },
        end() {
          if (units > 0) add(name, -units)
          bytes = 0
          units = 0
        },
      }
    },
    refuses: (keyId, use, bytes) => refusalOf(keyId ?? strangers, use, Math.ceil(bytes / bytesPerUnit)),
    state: () => ({ bytes: ownUnits * bytesPerUnit, refused: { ...refused } }),
  }
}

/** A reader that takes nothing is gone after 30 s and a body after 15; most are within a second. */
const retryAfterSeconds = [2, 3, 4]

function refusal(isOwnFault: boolean): Refusal {
  const seconds = retryAfterSeconds[Math.floor(Math.random() * retryAfterSeconds.length)] ?? 2
  return {
    code: 'overloaded',
    detail: isOwnFault ? ownDetail : nodeDetail,
    headers: { 'retry-after': String(seconds) },
  }
}

const ownDetail =
  'This key has as many bytes under way as it may: bodies it is sending, and answers it has not read. Nothing was stored. Read answers to their end, send fewer requests at the same time, and try again.'
const nodeDetail =
  'The service holds as many bytes of requests and answers as it may. Nothing was stored. Try again, after the time in Retry-After.'
