/** The progress of reading, which a checkpoint keeps. `plan.ts` says how it moves. */

export type Reading = StartReading | SnapshotReading | NumbersReading | PagesReading

/** Nothing has been read: read everything. */
interface StartReading {
  readonly kind: 'start'
}

/** In the middle of a snapshot. */
export interface SnapshotReading {
  readonly kind: 'snapshot'
  readonly epoch: string
  readonly revision: number
  /** The snapshot is as of this number. */
  readonly head: number
  /** Everything up to this number has been applied. */
  readonly after: number
}

/** After a number. */
export interface NumbersReading {
  readonly kind: 'numbers'
  readonly epoch: string
  readonly revision: number
  readonly after: number
}

/**
 * In the middle of a walk over pages, or before its first page.
 *
 * It relies on this and no more: an event that becomes visible is at most `overlapMs` older, by its `createdDate`, than
 * the newest one that was visible then; and of two events of a subject, the one with the greater number is at most
 * `overlapMs` older than the other. Pages may shift towards higher numbers while they are walked, in any order.
 */
export interface PagesReading {
  readonly kind: 'pages'
  /** The window's lower bound; absent while the whole feed is walked. */
  readonly from?: string
  /** The next page, from 1. */
  readonly page: number
  /** Events on a page of this walk, as the service reported; absent before its first page. */
  readonly pageSize?: number
  /** Total of the walk's last answer: a smaller one shows that events were removed and pages moved up. */
  readonly available?: number
  /**
   * Newest `createdDate` that was certainly visible when this walk began, in ms: the next window begins `overlapMs`
   * before it.
   */
  readonly startedMs?: number
  /** The newest event of all earlier walks. If it is missing from its window, the feed has been rewritten. */
  readonly newest?: NewestEvent
  readonly sawNewest: boolean
  /** The newest event of this walk. */
  readonly walkNewest?: NewestEvent
  /** The service's epoch and revision, if its headers have them. */
  readonly mark?: string
}

export interface NewestEvent {
  readonly id: string
  readonly createdMs: number
}

export const firstWalk: PagesReading = { kind: 'pages', page: 1, sawNewest: false }

/**
 * The beginning of the read of the whole feed that has come to `reading`, together with the feed's identity: if the
 * epoch is another one or the feed is rewritten by the time the read begins again, that will be noticed.
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

/** Whether reading on from here, or from its beginning, would notice that the feed is another one. */
export function isTied(reading: Reading): boolean {
  if (reading.kind === 'pages') return (reading.newest ?? reading.walkNewest ?? reading.mark) !== undefined
  return reading.kind !== 'start'
}
