/** Where reading stands: what a checkpoint keeps of it. `plan.ts` says how it moves. */

export type Reading = StartReading | SnapshotReading | NumbersReading | PagesReading

/** Nothing is known: read everything. */
export interface StartReading {
  readonly kind: 'start'
}

/** In the middle of a snapshot. */
export interface SnapshotReading {
  readonly kind: 'snapshot'
  readonly epoch: string
  readonly revision: number
  /** The number the snapshot is as of. */
  readonly head: number
  /** Everything up to this number has been applied. */
  readonly after: number
}

/** Behind a number. */
export interface NumbersReading {
  readonly kind: 'numbers'
  readonly epoch: string
  readonly revision: number
  readonly after: number
}

/**
 * In the middle of a walk over pages, or before its first.
 *
 * What is relied on, and no more: an event that becomes visible is at most `overlapMs` older by its `createdDate` than
 * the newest one that was visible then, and of two events of a subject the one with the greater number is at most
 * `overlapMs` older than the other. Pages may shift towards higher numbers while they are walked, in any order.
 */
export interface PagesReading {
  readonly kind: 'pages'
  /** The window's lower bound; absent while the whole feed is walked. */
  readonly from?: string
  /** The next page, from 1. */
  readonly page: number
  /** Events on a page of this walk, as the service told; absent before its first and from earlier versions. */
  readonly pageSize?: number
  /** Total of the walk's last answer: a smaller one tells that events went and pages moved up. */
  readonly available?: number
  /** Newest `createdDate` that was surely visible when this walk began, in ms: the next window is laid from it. */
  readonly startedMs?: number
  /** The newest event of all earlier walks: gone from its window, the feed has been rewritten. */
  readonly newest?: NewestEvent
  readonly sawNewest: boolean
  /** The newest event of this walk. */
  readonly walkNewest?: NewestEvent
  /** The service's epoch and revision, if it tells them in headers. */
  readonly mark?: string
}

export interface NewestEvent {
  readonly id: string
  readonly createdMs: number
}

export const firstWalk: PagesReading = { kind: 'pages', page: 1, sawNewest: false }

/**
 * The beginning of the read of the whole feed that has come to `reading`, tied to what is read: if that is another epoch
 * or a rewritten feed by the time the read begins again, it will be noticed.
 */
export function beginningOf(reading: Reading): Reading {
  if (reading.kind === 'start') return reading
  if (reading.kind === 'pages') {
    const newest = reading.walkNewest ?? reading.newest
    return {
      ...firstWalk,
      ...(newest === undefined ? {} : { newest }),
      ...(reading.mark === undefined ? {} : { mark: reading.mark }),
    }
  }
  const { epoch, revision } = reading
  const head = reading.kind === 'snapshot' ? reading.head : reading.after
  return { kind: 'snapshot', epoch, revision, head, after: 0 }
}

/** Whether reading on from here, or from its beginning, would notice that the feed is not the one it was. */
export function isTied(reading: Reading): boolean {
  if (reading.kind === 'pages') return (reading.newest ?? reading.walkNewest ?? reading.mark) !== undefined
  return reading.kind !== 'start'
}
