/** Sends the events of a feed on to one receiver, in the order and with the retries that the service has for webhooks. */
import { EndpointPlan, eventMessage, messageHeaders, outcomeOf } from '@property-events/server/webhooks'
import type { DeliveredEvent, DeliveryMode, Receiver, ReceiverAnswer } from '@property-events/server/webhooks'

/** What became of one try, for whoever watches. */
export interface ForwardedTry {
  readonly sequenceNumber: number
  readonly subjectId: string
  readonly answer: ReceiverAnswer
  readonly tookMs: number
  readonly isAcknowledged: boolean
}

export interface ForwardOptions {
  readonly receiver: Receiver
  readonly secrets: readonly string[]
  readonly mode: DeliveryMode
  readonly concurrency: number
  readonly timeoutMs: number
  readonly report: (one: ForwardedTry) => void
}

/** As endpoints have it that choose nothing. */
const form = { payload: 'full', format: 'event', changesSince: undefined } as const

/** A person at the terminal starts the receiver again, and should not wait for a quarter of an hour. */
const longestProbeMs = 5_000

export class Forwarder {
  readonly #options: ForwardOptions
  readonly #plan: EndpointPlan
  /** Events that may be sent still, by number: where nothing is stored, those of properties that wait are kept here. */
  readonly #held = new Map<number, DeliveredEvent>()
  #timer: NodeJS.Timeout | undefined
  #room: (() => void) | undefined
  #isClosed = false

  constructor(options: ForwardOptions, after: number) {
    this.#options = options
    const { mode, concurrency } = options
    const stored = { settled: after, waiting: [], failingSinceMs: undefined }
    this.#plan = new EndpointPlan(stored, { mode, concurrency, maxPerSecond: undefined, longestProbeMs })
  }

  /** Resolves when there is room for the next one. */
  async add(event: DeliveredEvent): Promise<void> {
    const { sequenceNumber, subjectId } = event
    if (this.#options.mode === 'latest') this.#drop(subjectId)
    this.#held.set(sequenceNumber, event)
    this.#plan.add([{ sequenceNumber, subjectId }], sequenceNumber)
    this.#go()
    if (this.#plan.room > 0) return
    await new Promise<void>((resolve) => (this.#room = resolve))
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#room?.()
    this.#options.receiver.close()
  }

  /** Begins everything that is due. */
  #go(): void {
    clearTimeout(this.#timer)
    while (!this.#isClosed) {
      const step = this.#plan.next(Date.now())
      if (step.kind === 'send') void this.#send(step.event.sequenceNumber)
      else if (step.kind === 'find')
        this.#plan.found(step.subjectId, this.#nextOf(step.subjectId, step.after))
      else {
        if (step.untilMs !== Infinity) this.#timer = setTimeout(() => this.#go(), step.untilMs - Date.now())
        break
      }
    }
    const change = this.#plan.unwritten()
    if (change !== undefined) this.#plan.written(change)
    for (const { sequenceNumber } of change?.rows?.givenUp ?? []) this.#held.delete(sequenceNumber)
    if (this.#plan.room > 0) this.#room?.()
  }

  #drop(subjectId: string): void {
    for (const [number, held] of this.#held) if (held.subjectId === subjectId) this.#held.delete(number)
  }

  #nextOf(subjectId: string, after: number): number | undefined {
    for (const [number, held] of this.#held) if (held.subjectId === subjectId && number > after) return number
    return undefined
  }

  async #send(number: number): Promise<void> {
    const event = this.#held.get(number)
    if (event === undefined) throw new Error(`the event ${number} is to be sent and was not kept`)
    const { subjectId } = event
    const { receiver, secrets, timeoutMs, report } = this.#options
    const nowMs = Date.now()
    const message = eventMessage(event, form, nowMs)
    const beganMs = performance.now()
    const answer = await receiver.post({
      headers: messageHeaders(message, secrets, nowMs),
      body: message.body,
      timeoutMs,
    })
    if (this.#isClosed) return
    const outcome = outcomeOf(answer)
    const isAcknowledged = outcome.kind === 'acknowledged'
    report({ sequenceNumber: number, subjectId, answer, tookMs: performance.now() - beganMs, isAcknowledged })
    if (isAcknowledged) this.#held.delete(number)
    this.#plan.end({ sequenceNumber: number, subjectId }, outcome, Date.now())
    this.#go()
  }
}
