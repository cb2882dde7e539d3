/**
 * Limits the bytes of requests and answers that are in memory at the same time: one budget for the node, of which each key has a share.
 * It counts bodies from their first byte until the publication is answered (including what gzip unpacks to), and answers that their
 * readers have not taken yet. Pages in the memory of `--page-memory-bytes` are not counted: that has a limit of its own. While resident
 * memory is above what all of this may come to (runtime/memory), nothing large is accepted either.
 */
import { recentResidentBytes } from '../runtime/memory/process-memory.ts'
import type { Refusal } from './problem/problem.ts'

interface InFlightLimits {
  readonly inFlightBytes: number
  /** For one key. */
  readonly inFlightBytesPerKey: number
  /** For all requests without a valid key together. */
  readonly inFlightBytesOfStrangers: number
  readonly maxBodyBytes: number
}

/**
 * What bytes are held for. A node that fills up first refuses what costs a lot and can be requested again at any time, and last what is
 * lost if its sender gives up.
 */
export type FlightUse = keyof typeof shareOfNode

/** The share of the node's budget up to which each use is accepted. */
const shareOfNode = { snapshot: 0.5, stream: 0.75, largePage: 0.75, page: 0.9, publication: 1 } as const

/** The bytes of one request or answer. */
export interface Flight {
  /** Adds bytes if there is room for them; otherwise returns why not, and adds nothing. */
  take(bytes: number): Refusal | undefined
  /** Adds bytes that are in memory already. */
  hold(bytes: number): void
  /** Releases this many bytes. */
  giveBack(bytes: number): void
  /** Releases all bytes. Safe to call twice. */
  end(): void
}

export interface BytesInFlight {
  /** `keyId` undefined: a request without a valid key. */
  begin(keyId: string | undefined, use: FlightUse): Flight
  /**
   * Adds bytes that no key's share has counted yet, such as pages that are being made; a negative number takes them off again. `own`: what
   * that page holds now. False: the node holds more than it accepts such pages for.
   */
  count(bytes: number, own: number): boolean
  /** Whether `take` would refuse this many bytes now. */
  refuses(keyId: string | undefined, use: FlightUse, bytes: number): Refusal | undefined
  /** Refusals are counted since the start. */
  state(): InFlightState
}

export interface InFlightState {
  readonly bytes: number
  /** Of resident memory of the process: the same in every thread. 0: none. */
  readonly limitBytes: number
  readonly refused: Readonly<Record<string, number>>
}

/** What a node counts, of all its requests together. */
export interface NodeCounts {
  /** Kibibytes in flight. */
  units: number
  connections: number
  /** Requests that wait for events. */
  waiting: number
  /** Resident memory from which on nothing large is accepted (runtime/memory); 0: no limit. */
  memoryLimitBytes: number
}

export function nodeCounts(): NodeCounts {
  return { units: 0, connections: 0, waiting: 0, memoryLimitBytes: 0 }
}

const bytesPerUnit = 1_024

/** Whatever resident memory is, a request or answer that holds no more than this goes on: a page of a hundred events, a batch of as many. */
const lightUnits = 1_024

const mebibyte = 2 ** 20
/** Resident memory beyond the limit for large reads at which large publications are refused too. */
const publicationStepBytes = 25 * mebibyte
const strangers = ''

export function createBytesInFlight(
  limits: InFlightLimits,
  counts: NodeCounts = nodeCounts(),
  residentBytes = recentResidentBytes(),
): BytesInFlight {
  const size = Math.floor(limits.inFlightBytes / bytesPerUnit)
  // A body of the largest size, with the most memory that its events need as well.
  const leastOfKey = Math.ceil((4 * limits.maxBodyBytes) / bytesPerUnit)
  const mostOfKey = Math.max(leastOfKey, limits.inFlightBytesPerKey / bytesPerUnit)
  const mostOfStrangers = limits.inFlightBytesOfStrangers / bytesPerUnit
  const byKey = new Map<string, number>()
  const refused = { snapshot: 0, stream: 0, largePage: 0, page: 0, publication: 0 }

  const addToNode = (units: number): void => {
    counts.units += units
  }

  /** Bytes of no key. */
  const loose = flightOf(addToNode, () => undefined)
  const isCrowdedFor = crowding(counts, residentBytes)

  const add = (name: string, units: number): void => {
    const left = (byKey.get(name) ?? 0) + units
    if (left > 0) byKey.set(name, left)
    else byKey.delete(name)
    addToNode(units)
  }

  const refusalOf = (name: string, use: FlightUse, more: number, own: number): Refusal | undefined => {
    const ofKey = (byKey.get(name) ?? 0) + more
    const inAll = counts.units + more
    const isOwnFault = ofKey > (name === strangers ? mostOfStrangers : mostOfKey)
    // For each key, at least as much stays free as it holds: if many keys take all they can, there is still room for one more.
    const hasRoom = ofKey <= size - inAll && inAll <= size * shareOfNode[use] && !isCrowdedFor(use, own)
    if (!isOwnFault && hasRoom) return undefined
    refused[use] += 1
    return refusal(isOwnFault)
  }

  return {
    begin(keyId, use) {
      const name = keyId ?? strangers
      return flightOf(
        (units) => add(name, units),
        (units, own) => refusalOf(name, use, units, own),
      )
    },
    count(more, own) {
      if (more < 0) loose.giveBack(-more)
      else loose.hold(more)
      const isFull = counts.units > size * shareOfNode.page
      return !isFull && !isCrowdedFor('page', own / bytesPerUnit)
    },
    refuses(keyId, use, bytes) {
      const units = Math.ceil(bytes / bytesPerUnit)
      return refusalOf(keyId ?? strangers, use, units, units)
    },
    state: () => ({
      bytes: counts.units * bytesPerUnit,
      refused: { ...refused },
      limitBytes: counts.memoryLimitBytes,
    }),
  }
}

/** Whether resident memory is too large for a use. `own`: the units that the request or answer would hold. Publications are the last to be refused. */
function crowding(counts: NodeCounts, residentBytes: () => number): (use: FlightUse, own: number) => boolean {
  return (use, own) => {
    if (own <= lightUnits && use !== 'snapshot' && use !== 'largePage') return false
    const limit = counts.memoryLimitBytes
    const step = use === 'publication' ? publicationStepBytes : 0
    return limit > 0 && residentBytes() > limit + step
  }
}

function flightOf(
  add: (units: number) => void,
  refusalOf: (more: number, own: number) => Refusal | undefined,
): Flight {
  let bytes = 0
  let units = 0
  const grow = (more: number): void => {
    const before = units
    bytes += more
    units = Math.ceil(bytes / bytesPerUnit)
    if (units > before) add(units - before)
  }
  return {
    take(more) {
      const wanted = Math.ceil((bytes + more) / bytesPerUnit) - units
      const refusal = wanted > 0 ? refusalOf(wanted, units + wanted) : undefined
      if (refusal === undefined) grow(more)
      return refusal
    },
    hold: grow,
    giveBack(less) {
      const before = units
      bytes = Math.max(0, bytes - less)
      units = Math.ceil(bytes / bytesPerUnit)
      if (units < before) add(units - before)
    },
    end() {
      if (units > 0) add(-units)
      bytes = 0
      units = 0
    },
  }
}

/** A reader that takes nothing is dropped after 30 s and a body after 15; most are done within a second. */
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
  'This key has reached its limit of bytes in progress: bodies that it is sending, and answers that it has not read. Nothing was stored. Read answers to their end, send fewer requests at the same time, and try again.'
const nodeDetail =
  'The service has reached its limit of bytes of requests and answers. Nothing was stored. Try again after the time in Retry-After.'
