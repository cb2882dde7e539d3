/**
 * The properties of an endpoint whose oldest event was refused: one row for each. Later events of such a property stand behind its row, and
 * are found in the feed when their turn comes.
 */

const minuteMs = 60_000
const hourMs = 3_600_000
/** Before each further try, ± 20 %. After the last one the event is given up, some 3.2 days after it was first tried. */
const retryMs = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const

/** An event of the endpoint's view. */
export interface ViewEvent {
  readonly sequenceNumber: number
  readonly subjectId: string
}

/** A property whose oldest event was refused. */
export interface WaitingSubject extends ViewEvent {
  /** Tries that were refused; more than there are: the event is done with, and the property's next one is to be found. */
  readonly tries: number
  /** Milliseconds since 1970; 0: at once. */
  readonly nextTryMs: number
}

/** `latest`: an event is left out when a later one of its property, in the same view, is known. */
export type DeliveryMode = 'every' | 'latest'

/** What has changed of the rows since it was last written. */
export interface WaitingChange {
  readonly waiting: readonly WaitingSubject[]
  /** Properties that wait no longer. */
  readonly removed: readonly string[]
  readonly givenUp: readonly ViewEvent[]
  /** For `written`. */
  readonly version: number
}

export interface Row {
  readonly subjectId: string
  sequenceNumber: number
  tries: number
  nextTryMs: number
  state: 'queued' | 'sending' | 'toFind' | 'finding'
  /** No event of the property that was added has a greater number. */
  last: number
  /** The answer to `find` covers numbers up to this one. */
  soughtThrough: number
}

export class WaitingRows {
  readonly #mode: DeliveryMode
  readonly #rows = new Map<string, Row>()
  /** Rows that were added, changed or removed, each with the version of its last change. */
  readonly #changed = new Map<string, number>()
  #version = 0
  #givenUp: readonly ViewEvent[] = []

  /** `settled`: the number up to which events may stand behind a row. */
  constructor(stored: readonly WaitingSubject[], settled: number, mode: DeliveryMode) {
    this.#mode = mode
    for (const one of stored) {
      const state = one.tries > retryMs.length ? 'toFind' : 'queued'
      // A row of `latest` is moved whenever a later event is known, so nothing stands behind it.
      const last = mode === 'latest' ? one.sequenceNumber : Math.max(one.sequenceNumber, settled)
      this.#rows.set(one.subjectId, { ...one, state, last, soughtThrough: 0 })
    }
  }

  get size(): number {
    return this.#rows.size
  }

  get(subjectId: string): Row | undefined {
    return this.#rows.get(subjectId)
  }

  /** A row whose next event has to be found. */
  toFind(): Row | undefined {
    for (const row of this.#rows.values()) if (row.state === 'toFind') return row
    return undefined
  }

  /** The row that is tried again first. */
  first(): Row | undefined {
    let first: Row | undefined
    for (const row of this.#rows.values()) {
      if (row.state === 'queued' && (first === undefined || row.nextTryMs < first.nextTryMs)) first = row
    }
    return first
  }

  /** The first refusal of an event; `last`: the property's last number that is known. */
  add({ subjectId, sequenceNumber }: ViewEvent, last: number, nowMs: number): void {
    const nextTryMs = nowMs + delayMs(1)
    const row: Row = {
      subjectId,
      sequenceNumber,
      tries: 1,
      nextTryMs,
      state: 'queued',
      last,
      soughtThrough: 0,
    }
    this.#rows.set(subjectId, row)
    this.#change(row)
    this.#moveToLast(row)
  }

  /** A later event of the property was read. */
  standBehind(row: Row, sequenceNumber: number): void {
    row.last = Math.max(row.last, sequenceNumber)
    if (row.state === 'queued') this.#moveToLast(row)
    else if (this.#mode === 'latest') this.#change(row)
  }

  /** The end of a try. `doesCount`: a refusal counts against the event. */
  end(row: Row, isAcknowledged: boolean, doesCount: boolean, nowMs: number): void {
    row.state = 'queued'
    if (isAcknowledged) this.#advance(row)
    else if (!this.#moveToLast(row) && doesCount) this.#refuse(row, nowMs)
  }

  /** Answers a search for the property's next event; `undefined`: there is none. */
  found(subjectId: string, sequenceNumber: number | undefined): void {
    const row = this.#rows.get(subjectId)
    if (row === undefined) return
    if (sequenceNumber !== undefined) this.#moveTo(row, sequenceNumber)
    else if (row.last > row.soughtThrough) row.state = 'toFind'
    else this.#remove(row)
  }

  isChanged(subjectId: string): boolean {
    return this.#changed.has(subjectId)
  }

  /** What has to be written; `undefined`: nothing. */
  unwritten(): WaitingChange | undefined {
    if (this.#changed.size === 0 && this.#givenUp.length === 0) return undefined
    const subjects = [...this.#changed.keys()]
    return {
      waiting: subjects.flatMap((subjectId) => waitingOf(this.#rows.get(subjectId), this.#mode)),
      removed: subjects.filter((subjectId) => !this.#rows.has(subjectId)),
      givenUp: this.#givenUp,
      version: this.#version,
    }
  }

  /** This change is committed; others may have come meanwhile. Returns the properties of which everything is written. */
  written({ givenUp, version }: WaitingChange): readonly string[] {
    this.#givenUp = this.#givenUp.slice(givenUp.length)
    const done = [...this.#changed].filter(([, at]) => at <= version).map(([subjectId]) => subjectId)
    for (const subjectId of done) this.#changed.delete(subjectId)
    return done
  }

  #refuse(row: Row, nowMs: number): void {
    row.tries += 1
    this.#change(row)
    if (row.tries <= retryMs.length) row.nextTryMs = nowMs + delayMs(row.tries)
    else {
      const { subjectId, sequenceNumber } = row
      this.#givenUp = [...this.#givenUp, { subjectId, sequenceNumber }]
      this.#advance(row)
    }
  }

  /** The row's event is done with. */
  #advance(row: Row): void {
    if (row.last <= row.sequenceNumber) return this.#remove(row)
    if (this.#moveToLast(row)) return
    // As it is stored: so a process that starts with it neither repeats the event nor gives it up twice.
    row.tries = retryMs.length + 1
    row.state = 'toFind'
    this.#change(row)
  }

  /** Where only the latest event counts. */
  #moveToLast(row: Row): boolean {
    if (this.#mode === 'every' || row.last <= row.sequenceNumber) return false
    this.#moveTo(row, row.last)
    return true
  }

  #moveTo(row: Row, sequenceNumber: number): void {
    Object.assign(row, { sequenceNumber, tries: 0, nextTryMs: 0, state: 'queued' })
    this.#change(row)
  }

  #remove(row: Row): void {
    this.#rows.delete(row.subjectId)
    this.#change(row)
  }

  #change({ subjectId }: Row): void {
    this.#version += 1
    this.#changed.set(subjectId, this.#version)
  }
}

/** As a process that begins with it has to go on: of `latest`, with the last event, also while an earlier one is under way. */
function waitingOf(row: Row | undefined, mode: DeliveryMode): readonly WaitingSubject[] {
  if (row === undefined) return []
  const { subjectId, sequenceNumber, tries, nextTryMs, last } = row
  if (mode === 'latest' && last > sequenceNumber)
    return [{ subjectId, sequenceNumber: last, tries: 0, nextTryMs: 0 }]
  return [{ subjectId, sequenceNumber, tries, nextTryMs }]
}

function delayMs(tries: number): number {
  const waitMs = retryMs[tries - 1] ?? 0
  return waitMs * (0.8 + 0.4 * Math.random())
}
