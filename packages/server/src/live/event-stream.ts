/**
 * A stream of events as `text/event-stream` (PROTOCOL §13): events in order, with marks between them. The stream keeps only its place in the
 * feed. It sends when the feed changes, when a mark is due, and when the connection has taken the piece before.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { EndSignal } from '../runtime/end-signal.ts'
import type { FeedFollower } from './tail.ts'
import { yieldForStep } from '../runtime/yield-in-steps.ts'
import type { Head, StoredEvent } from '../events/event-log.ts'
import type { LiveOut, LivePiece } from '../http/live-piece.ts'
import { beginningPiece, markPiece, resetPiece } from './stream-pieces.ts'

/** The next events of a stream, ready to be sent. */
export interface StreamReading {
  readonly events: readonly StoredEvent[]
  /** When the oldest of them was committed, in milliseconds since 1970; `undefined` if there are none. */
  readonly committedMs: number | undefined
  /** The bytes of the events; `undefined` if there are none. */
  readonly piece: LivePiece | undefined
  /** Once the piece is sent, the reader has everything up to this number. */
  readonly through: number
}

export interface StreamParts {
  readonly follower: FeedFollower
  /** The feed's head when the stream was requested. */
  readonly head: Head
  readonly after: number
  readonly markEveryMs: number
  /** When the stream ends and its reader has to begin the next one, on the clock of `performance.now()`. */
  readonly endsMs: number
  /** Aborted when the reader has gone, the service stops, or the key ended. */
  readonly over: EndSignal
  /** Reads the events after a number; they are noted as sent before they are handed out. */
  readonly read: (after: number) => StreamReading | Promise<StreamReading>
  /** Called when events that came after this reader had caught up are with the kernel; the oldest was committed then. */
  readonly onDelivered: (committedMs: number) => void
  /** Called when everything between the numbers has been taken, including these events; equal numbers mean that there was nothing new. */
  readonly onTaken: (after: number, through: number, events: readonly StoredEvent[]) => void
}

/**
 * The pause between the head of the answer and the first mark. Some proxies that buffer, such as nginx, pass on what comes together with
 * the head: only a mark that comes by itself shows a reader that later data gets through too.
 */
const apartMs = 20

/**
 * Sends the starting place at once, then every event of the view after it, and a mark now and then, whose id is a place to continue from
 * even in a quiet view. Ends after a `reset` if numbers have changed their meaning. The returned function stops it.
 */
export function sendEventStream(parts: StreamParts, out: LiveOut): () => void {
  const stream = new EventStream(parts, out)
  stream.begin()
  return () => stream.stop()
}

class EventStream {
  readonly #parts: StreamParts
  readonly #out: LiveOut
  #head: Head
  #after: number
  #nextMarkMs: number
  #hasCaughtUp = false
  /** A read or a write is under way. What changes meanwhile is looked at after it. */
  #isBusy = true
  #isOver = false
  /** Runs until the next mark or the end of the stream. */
  #timer: NodeJS.Timeout | undefined
  /** The piece that the kernel has not taken yet. */
  #untaken: { readonly from: number; readonly reading: StreamReading } | undefined

  constructor(parts: StreamParts, out: LiveOut) {
    this.#parts = parts
    this.#out = out
    this.#head = parts.head
    this.#after = parts.after
    this.#nextMarkMs = performance.now() + parts.markEveryMs
  }

  begin(): void {
    const { follower, over } = this.#parts
    follower.onChange(this.#goOn)
    over.addEventListener('abort', this.#goOn)
    this.#open().then(this.#onFree, this.#fail)
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#parts.over.removeEventListener('abort', this.#goOn)
  }

  async #open(): Promise<void> {
    await this.#written(beginningPiece)
    await delay(apartMs)
    if (!this.#isOver) await this.#written(markPiece(this.#head, this.#after))
    await this.#parts.follower.head()
  }

  #written(piece: LivePiece): Promise<void> {
    return new Promise((resolve) => {
      if (this.#out.write(piece, resolve)) resolve()
    })
  }

  #onFree = (): void => {
    this.#isBusy = false
    this.#goOn()
  }

  #onTimer = (): void => {
    this.#timer = undefined
    this.#goOn()
  }

  #fail = (error: unknown): void => {
    if (this.#isOver) return
    this.stop()
    this.#out.fail(error)
  }

  #end(): void {
    this.stop()
    this.#out.end()
  }

  /** Sends until there is nothing more to send, or until it has to wait for a read or for the connection. */
  #goOn = (): void => {
    if (this.#isBusy || this.#isOver) return
    try {
      while (this.#step());
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Sends one piece at most. Returns whether the next step can follow at once. */
  #step(): boolean {
    const {
      follower,
      over,
      markEveryMs,
      endsMs,
      head: { epoch },
    } = this.#parts
    const nowMs = performance.now()
    const now = follower.known
    // Nothing could be read for a long time: the store is away, and the reader continues elsewhere.
    if (over.aborted || nowMs >= endsMs || now === undefined || now === 'unread') {
      this.#end()
      return false
    }
    if (now.epoch !== epoch) {
      this.#isBusy = true
      this.#written(resetPiece(now.epoch)).then(() => this.#end(), this.#fail)
      return false
    }
    this.#head = now
    if (nowMs >= this.#nextMarkMs) {
      // Also while there is more to read: none of what is read may be for this reader.
      this.#nextMarkMs = nowMs + markEveryMs
      return this.#sendMark(now)
    }
    if (this.#after < now.sequenceNumber) return this.#read()
    this.#hasCaughtUp = true
    this.#timer ??= setTimeout(this.#onTimer, Math.max(1, Math.min(this.#nextMarkMs, endsMs) - nowMs))
    return false
  }

  /** A reader that has everything was told that there is nothing new, once it has the mark. */
  #sendMark(now: Head): boolean {
    const after = this.#after
    const note = (): void => {
      if (after >= now.sequenceNumber) this.#parts.onTaken(after, after, [])
    }
    const isTaken = this.#out.write(markPiece(now, after), () => {
      note()
      this.#onFree()
    })
    if (isTaken) note()
    else this.#isBusy = true
    return isTaken
  }

  #read(): boolean {
    const reading = this.#parts.read(this.#after)
    if (!(reading instanceof Promise)) return this.#send(reading)
    this.#isBusy = true
    reading.then(this.#onRead).catch(this.#fail)
    return false
  }

  #onRead = (reading: StreamReading): void => {
    if (this.#isOver) return
    this.#isBusy = false
    const { follower, head, over } = this.#parts
    const now = follower.known
    // The events may be of another epoch, if it began during the read, or no longer for this reader. The next step then ends the stream.
    const isOfIt = !over.aborted && now !== undefined && now !== 'unread' && now.epoch === head.epoch
    if (!isOfIt || this.#send(reading)) this.#goOn()
  }

  #send(reading: StreamReading): boolean {
    const { events, piece, through } = reading
    const from = this.#after
    this.#after = through
    if (piece === undefined) {
      this.#parts.onTaken(from, through, events)
      if (through >= this.#head.sequenceNumber) return true
      // None of a long feed may be for this reader: others have their turn in between.
      this.#isBusy = true
      yieldForStep().then(this.#onFree, this.#fail)
      return false
    }
    if (this.#out.write(piece, this.#onTaken)) {
      this.#note(from, reading)
      return true
    }
    this.#isBusy = true
    this.#untaken = { from, reading }
    return false
  }

  #onTaken = (): void => {
    const untaken = this.#untaken
    this.#untaken = undefined
    if (untaken !== undefined) this.#note(untaken.from, untaken.reading)
    this.#onFree()
  }

  /** Notes events that the kernel has taken. */
  #note(from: number, { events, committedMs }: StreamReading): void {
    if (this.#hasCaughtUp && committedMs !== undefined) this.#parts.onDelivered(committedMs)
    this.#hasCaughtUp &&= this.#after >= this.#head.sequenceNumber
    this.#parts.onTaken(from, this.#after, events)
  }
}
