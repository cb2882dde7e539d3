/**
 * What an endpoint is sent next, without any input or output: the number up to which all is settled, a window of events beyond it, and one
 * row for each property whose oldest event was refused. Later events of such a property wait behind its row and are found in the feed
 * again, so what waits needs no queue (D30).
 *
 * - W1: `settled` passes an event only when it is acknowledged, superseded, or stands in or behind a row.
 * - W2: an event is due only when nothing of its property is under way or waits in front of it.
 * - W3: at most `windowEvents` tries are begun beyond what was last written, so a crash repeats no more.
 */
import { endpointHealth } from './health.ts'
import type { EndpointHealth, HealthSettings } from './health.ts'
import { WaitingRows } from './waiting-rows.ts'
import type { DeliveryMode, Row, ViewEvent, WaitingChange, WaitingSubject } from './waiting-rows.ts'

/** The tries that may be begun, and the events that may be held, beyond the progress that was last written. */
export const windowEvents = 64

/** With so many properties waiting nothing new is begun: the receiver is broken, and the cursor stands. */
const waitingAtMost = 1_000

/** `refused`: answered without 2xx, or not in time. `unreachable`: there was no connection. `postponed`: asked to wait. */
export type TryOutcome =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'postponed'; readonly waitMs: number }

/** `unsent`: it was not tried after all. */
export type TryEnd = TryOutcome | { readonly kind: 'unsent' }

export interface PlanSettings extends HealthSettings {
  readonly mode: DeliveryMode
}

/** What is stored of an endpoint's progress. */
export interface EndpointProgress {
  /** Nothing up to this number is left, but for what waits. */
  readonly settled: number
  readonly waiting: readonly WaitingSubject[]
  readonly failingSinceMs: number | undefined
}

/** What has changed since it was last written; all of it goes into one commit. */
export interface ProgressChange {
  readonly settled: number
  readonly failingSinceMs: number | undefined
  readonly rows: WaitingChange | undefined
  /** For `written`. */
  readonly settledTries: number
}

export interface DueEvent extends ViewEvent {
  /** It was not sent before, as far as this plan knows. */
  readonly isFirst: boolean
}

export type PlanStep =
  | { readonly kind: 'send'; readonly event: DueEvent }
  /** Find the property's next event after a number, up to `through`, and call `found`. */
  | { readonly kind: 'find'; readonly subjectId: string; readonly after: number; readonly through: number }
  /** Nothing is due before this moment, or before something else happens. */
  | { readonly kind: 'wait'; readonly untilMs: number }

interface OpenEvent extends ViewEvent {
  state: 'queued' | 'sending' | 'done'
  isBegun: boolean
  isTried: boolean
}

/** The progress of one endpoint, from what is stored of it. Its user reads the feed into it, sends what it says, and stores what changes. */
export class EndpointPlan {
  readonly #mode: DeliveryMode
  readonly #readAhead: number
  readonly #health: EndpointHealth
  /** Events after `#settled`, ascending. */
  readonly #open = new Map<number, OpenEvent>()
  readonly #rows: WaitingRows
  /** Properties of which a try is under way. */
  readonly #sending = new Set<string>()
  #settled: number
  #through: number
  /** Tries whose end is not written: of open events, of events that are settled since, and of rows by property. */
  #openTries = 0
  #settledTries = 0
  readonly #rowTries = new Set<string>()
  #writtenSettled: number
  #writtenFailingMs: number | undefined

  constructor(stored: EndpointProgress, settings: PlanSettings) {
    const { settled, waiting, failingSinceMs } = stored
    this.#mode = settings.mode
    this.#readAhead = settings.concurrency
    this.#rows = new WaitingRows(waiting, settled, settings.mode)
    this.#health = endpointHealth(failingSinceMs, settings)
    this.#settled = this.#through = this.#writtenSettled = settled
    this.#writtenFailingMs = failingSinceMs
  }

  /** The number up to which events were added. */
  get through(): number {
    return this.#through
  }

  /** How many events may be added now. */
  get room(): number {
    return windowEvents - this.#open.size
  }

  /**
   * Whether events should be added now: few are left that could be sent next. What is read long before it is sent is kept meanwhile,
   * or read again. Where only the latest event counts, each that is known may spare another.
   */
  get lacks(): boolean {
    if (this.room <= 0 || this.#mode === 'latest') return this.room > 0
    let ready = 0
    for (const { state, subjectId } of this.#open.values()) {
      if (state === 'queued' && !this.#sending.has(subjectId)) ready += 1
      if (ready === this.#readAhead) return false
    }
    return true
  }

  /** Milliseconds since 1970; `undefined`: the endpoint works. */
  get failingSinceMs(): number | undefined {
    return this.#health.failingSinceMs
  }

  /** The next events of the view, ascending, and the number up to which there are no others. */
  add(events: readonly ViewEvent[], through: number): void {
    for (const event of events) this.#addOne(event)
    this.#through = through
    this.#settle()
  }

  /** What to do now; it counts as begun. */
  next(nowMs: number): PlanStep {
    const row = this.#rows.toFind()
    if (row === undefined) return this.#sendNext(nowMs)
    row.state = 'finding'
    row.soughtThrough = this.#through
    return { kind: 'find', subjectId: row.subjectId, after: row.sequenceNumber, through: this.#through }
  }

  /** The end of a try. */
  end(event: ViewEvent, outcome: TryEnd, nowMs: number): void {
    const { subjectId, sequenceNumber } = event
    this.#sending.delete(subjectId)
    if (outcome.kind === 'acknowledged') this.#health.acknowledged()
    else if (outcome.kind === 'refused') this.#health.refused(subjectId, nowMs)
    else if (outcome.kind === 'unreachable') this.#health.unreachable(nowMs)
    else if (outcome.kind === 'postponed') this.#health.postponed(subjectId, outcome.waitMs, nowMs)
    const opened = this.#open.get(sequenceNumber)
    const row = this.#rows.get(subjectId)
    // A row that was stored may stand ahead of what is settled: then its event is open, and done with.
    if (opened?.state === 'sending') this.#endOpen(opened, outcome, nowMs)
    else if (row !== undefined) this.#endRow(row, outcome, nowMs)
    this.#settle()
  }

  /** Answers `find`; `undefined`: the property has no such event. */
  found(subjectId: string, sequenceNumber: number | undefined): void {
    this.#rows.found(subjectId, sequenceNumber)
  }

  /** What has to be written; `undefined`: nothing. */
  unwritten(): ProgressChange | undefined {
    const { failingSinceMs } = this.#health
    const rows = this.#rows.unwritten()
    const isSame = this.#settled === this.#writtenSettled && failingSinceMs === this.#writtenFailingMs
    if (isSame && rows === undefined) return undefined
    return { settled: this.#settled, failingSinceMs, rows, settledTries: this.#settledTries }
  }

  /** This change is committed. Others may have come meanwhile. */
  written({ settled, failingSinceMs, rows, settledTries }: ProgressChange): void {
    this.#writtenSettled = settled
    this.#writtenFailingMs = failingSinceMs
    this.#settledTries -= settledTries
    const done = rows === undefined ? [] : this.#rows.written(rows)
    for (const subjectId of done) if (!this.#sending.has(subjectId)) this.#rowTries.delete(subjectId)
  }

  #settle(): void {
    for (const [number, { state, isBegun }] of this.#open) {
      if (state !== 'done') return
      this.#open.delete(number)
      this.#settled = number
      if (!isBegun) continue
      this.#openTries -= 1
      this.#settledTries += 1
    }
    this.#settled = this.#through
  }

  #addOne({ sequenceNumber, subjectId }: ViewEvent): void {
    const row = this.#rows.get(subjectId)
    const state = row === undefined ? 'queued' : 'done'
    const event: OpenEvent = { sequenceNumber, subjectId, state, isBegun: false, isTried: false }
    this.#open.set(sequenceNumber, event)
    if (row === undefined) return this.#supersedeBefore(event)
    this.#rows.standBehind(row, sequenceNumber)
  }

  #supersedeBefore({ subjectId, sequenceNumber }: OpenEvent): void {
    if (this.#mode === 'every') return
    for (const earlier of this.#open.values()) {
      const isBefore = earlier.subjectId === subjectId && earlier.sequenceNumber < sequenceNumber
      if (isBefore && earlier.state === 'queued') earlier.state = 'done'
    }
  }

  #sendNext(nowMs: number): PlanStep {
    const row = this.#rows.first()
    const event = this.#firstOpen()
    // A probe may be any event: the one that is tried again first, where there is no other.
    const isDue = row !== undefined && row.nextTryMs <= nowMs
    const isProbe = this.#health.failingSinceMs !== undefined && event === undefined
    const chosen = isDue || isProbe ? row : event
    if (chosen === undefined) return { kind: 'wait', untilMs: row?.nextTryMs ?? Infinity }
    const unwritten = this.#openTries + this.#settledTries + this.#rowTries.size
    if (unwritten >= windowEvents) return { kind: 'wait', untilMs: Infinity }
    const taken = this.#health.take(this.#sending.size, nowMs)
    if (taken !== 'taken') return { kind: 'wait', untilMs: taken }
    chosen.state = 'sending'
    this.#sending.add(chosen.subjectId)
    this.#begin(chosen)
    const { subjectId, sequenceNumber } = chosen
    const isFirst = chosen === event && !event.isTried
    if (isFirst) event.isTried = true
    return { kind: 'send', event: { subjectId, sequenceNumber, isFirst } }
  }

  /** Counts what a crash would repeat. The event of a row that was stored may be open. */
  #begin({ subjectId, sequenceNumber }: ViewEvent): void {
    const opened = this.#open.get(sequenceNumber)
    if (opened === undefined) this.#rowTries.add(subjectId)
    else if (!opened.isBegun) {
      opened.isBegun = true
      this.#openTries += 1
    }
  }

  #firstOpen(): OpenEvent | undefined {
    if (this.#rows.size >= waitingAtMost) return undefined
    for (const event of this.#open.values()) {
      if (event.state === 'queued' && !this.#sending.has(event.subjectId)) return event
    }
    return undefined
  }

  #endOpen(event: OpenEvent, { kind }: TryEnd, nowMs: number): void {
    const isRefused = kind === 'refused' && this.#health.failingSinceMs === undefined
    event.state = kind === 'acknowledged' || isRefused ? 'done' : 'queued'
    if (isRefused) this.#makeWait(event, nowMs)
    if (event.state === 'done') return
    event.isBegun = false
    this.#openTries -= 1
    // A later one may have been added meanwhile.
    const later = [...this.#open.values()].findLast((one) => one.subjectId === event.subjectId)
    if (later !== undefined) this.#supersedeBefore(later)
  }

  #endRow(row: Row, { kind }: TryEnd, nowMs: number): void {
    const doesCount = kind === 'refused' && this.#health.failingSinceMs === undefined
    this.#rows.end(row, kind === 'acknowledged', doesCount, nowMs)
    if (!this.#rows.isChanged(row.subjectId)) this.#rowTries.delete(row.subjectId)
  }

  /** The property waits from here on, with what is open of it. */
  #makeWait(refused: OpenEvent, nowMs: number): void {
    let last = refused.sequenceNumber
    for (const event of this.#open.values()) {
      if (event.subjectId !== refused.subjectId || event.sequenceNumber <= last) continue
      event.state = 'done'
      last = event.sequenceNumber
    }
    this.#rows.add(refused, last, nowMs)
  }
}
