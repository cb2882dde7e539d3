/**
 * Sends to one endpoint while this node has its lease. The plan says what is due; this reads for it, posts, and gathers what has to be
 * written, which the node writes for all its endpoints together (progress-writer.ts).
 */
import type { TaskReport } from '../runtime/background-task.ts'
import { pause } from '../runtime/worker-loop.ts'
import type { Lease } from './endpoint.ts'
import { GatheredProgress } from './gathered-progress.ts'
import type { Unwritten } from './gathered-progress.ts'
import { EpochAnnouncement } from './epoch-announcement.ts'
import type { Message } from './message.ts'
import type { MessageSource } from './message-source.ts'
import { EndpointPlan } from './plan.ts'
import type { DueEvent, TryOutcome } from './plan.ts'
import type { TakeTurn } from './sender-turns.ts'
import { tryOnce } from './try-once.ts'
import type { TryParts } from './try-once.ts'
import type { ViewEvent } from './waiting-rows.ts'

/** A try begins only with as much of the lease left beside its own time, so it ends with the lease (W5). */
const leaseReserveMs = 5_000
/** After the store has failed, or while a lease waits for its renewal. */
const storeRetryMs = 1_000
const tellFailingMs = 3_600_000
const disableFailingMs = 5 * 86_400_000
/** Half a window of tries is written at once, and everything else soon. */
const writtenAtOnce = 32
const goneStatus = 410

export interface SenderParts extends TryParts {
  readonly lease: Lease
  readonly source: MessageSource
  readonly report: TaskReport
  /** With which number a property was acknowledged last; asked only for endpoints that want changes. */
  readonly version: (subjectId: string) => Promise<number | undefined>
  /** There is something to write: now, or soon. */
  readonly want: (sender: EndpointSender, when: 'now' | 'soon') => void
  /** Calls the function when its turn comes. */
  readonly turn: TakeTurn
  /** `waitedMs`: from the commit of an event until it was posted for the first time. */
  readonly onTry: (outcome: TryOutcome['kind'], waitedMs: number | undefined) => void
}

type Make = (event: ViewEvent) => Promise<Message | undefined>

export class EndpointSender {
  readonly endpointId: string
  readonly leaseNo: number
  readonly #parts: SenderParts
  readonly #plan: EndpointPlan
  readonly #timeoutMs: number
  readonly #ending = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #announcement: EpochAnnouncement | undefined
  #leaseEndsMs = 0
  #isAllowed = false
  #isReading = false
  #isTold: boolean
  #timer: NodeJS.Timeout | undefined
  readonly #gathered: GatheredProgress

  constructor(parts: SenderParts) {
    const { lease, clock } = parts
    const { endpoint, waiting } = lease
    const { settings, progress } = endpoint
    const { failingSinceMs } = progress
    this.#parts = parts
    this.endpointId = endpoint.endpointId
    this.leaseNo = lease.leaseNo
    this.#plan = new EndpointPlan({ settled: progress.settled, waiting, failingSinceMs }, settings)
    this.#gathered = new GatheredProgress(lease, this.#plan)
    this.#timeoutMs = settings.timeoutSeconds * 1_000
    this.#isTold = failingSinceMs !== undefined && clock() - failingSinceMs >= tellFailingMs
    parts.source.onChange(this.go)
  }

  /** `leaseEndsMs`: on the clock of `performance.now()`. `isAllowed`: the feed can be sent from. */
  renewed(leaseEndsMs: number, isAllowed: boolean): void {
    this.#leaseEndsMs = leaseEndsMs
    this.#isAllowed = isAllowed
    this.go()
  }

  /** Its key has lost the right. Nothing is sent any more. */
  revoke(): void {
    this.#gathered.disable('key_revoked')
    this.#end()
    this.#parts.want(this, 'now')
  }

  /** Begins no try any more, and resolves when those under way have ended. What is unwritten can be written still. */
  async finish(): Promise<void> {
    this.#end()
    await Promise.all(this.#underWay)
    this.#parts.receiver.close()
  }

  /** The lease is another's: nothing is begun, and nothing that ends is written. */
  abandon(): void {
    this.#end()
    this.#parts.receiver.close()
  }

  /** Resolves when what was read before the call is sent, or forgotten (D17). */
  async forget(): Promise<void> {
    this.#parts.source.forget()
    await Promise.all(this.#underWay)
    // A read that was under way may have been kept, and a try begun with it.
    this.#parts.source.forget()
    await Promise.all(this.#underWay)
  }

  get counts(): { readonly underWay: number; readonly isFailing: boolean } {
    return { underWay: this.#underWay.size, isFailing: this.#failingSinceMs() !== undefined }
  }

  /** Something has changed, so there may be something to do. */
  go = (): void => this.#parts.turn(this.#goOn)

  #goOn = (): void => {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#timer)
    this.#watchHealth()
    const { epoch } = this.#parts.source
    if (!this.#gathered.isDisabled && this.#isAllowed && epoch !== undefined) {
      if (epoch !== this.#gathered.epoch) this.#announce(epoch)
      else {
        this.#read()
        this.#steps(this.#plan, (event) => this.#eventMessage(event))
      }
    }
    if (this.#gathered.tries >= writtenAtOnce) this.#parts.want(this, 'now')
    else if (!this.#gathered.isEmpty) this.#parts.want(this, 'soon')
  }

  /** What is to be written, and what to call once it is. */
  unwritten(): Unwritten | undefined {
    const taken = this.#gathered.take()
    if (taken === undefined) return undefined
    return {
      write: taken.write,
      written: () => {
        taken.written()
        if (taken.write.disable !== undefined) this.abandon()
        this.go()
      },
    }
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#ending.abort()
    this.#parts.source.stop()
  }

  #hasTime(): boolean {
    return this.#leaseEndsMs - performance.now() >= this.#timeoutMs + leaseReserveMs
  }

  #watchHealth(): void {
    const sinceMs = this.#failingSinceMs()
    const failingMs = sinceMs === undefined ? 0 : this.#parts.clock() - sinceMs
    if (failingMs >= disableFailingMs) this.#gathered.disable('failing')
    if (!this.#isTold && failingMs >= tellFailingMs) {
      this.#isTold = true
      this.#gathered.tell('webhook.failing')
    } else if (this.#isTold && sinceMs === undefined) {
      this.#isTold = false
      this.#gathered.tell('webhook.recovered')
    }
  }

  #failingSinceMs(): number | undefined {
    return (this.#announcement?.plan ?? this.#plan).failingSinceMs
  }

  /** Once no event of the epoch before is under way; until it is acknowledged, the cursor stands. */
  #announce(epoch: string): void {
    if (this.#announcement?.epoch !== epoch) {
      if (this.#underWay.size > 0) return
      const from = { previousEpoch: this.#gathered.epoch, after: this.#plan.through }
      this.#announcement = new EpochAnnouncement(this.#parts.lease.endpoint, epoch, from)
    }
    const announcement = this.#announcement
    this.#steps(announcement.plan, async () => announcement.message(this.#parts.clock()))
  }

  #read(): void {
    const { room, through } = this.#plan
    const { source } = this.#parts
    if (this.#isReading || !this.#plan.lacks || !source.hasAfter(through)) return
    this.#isReading = true
    this.#run(async () => {
      const read = await this.#fromStore(() => source.read(through, room))
      this.#isReading = false
      // Numbers of another epoch begin after its announcement.
      if (read !== undefined && source.epoch === this.#gathered.epoch)
        this.#plan.add(read.events, read.through)
    })
  }

  #steps(plan: EndpointPlan, make: Make): void {
    while (this.#hasTime()) {
      const step = plan.next(this.#parts.clock())
      if (step.kind === 'wait') {
        const waitMs = step.untilMs - this.#parts.clock()
        if (step.untilMs !== Infinity) this.#timer = setTimeout(this.go, Math.max(1, waitMs)).unref()
        return
      }
      if (step.kind === 'send') this.#run(() => this.#try(plan, step.event, make))
      else {
        const { subjectId, after, through } = step
        this.#run(async () => {
          const find = () => this.#parts.source.find(subjectId, after, through)
          const found = await this.#fromStore(async () => ({ number: await find() }))
          if (found !== undefined) plan.found(subjectId, found.number)
        })
      }
    }
  }

  async #try(plan: EndpointPlan, event: DueEvent, make: Make): Promise<void> {
    const made = await this.#fromStore(async () => ({ message: await make(event) }))
    if (made === undefined || !(await this.#mayPost())) return
    const nowMs = () => this.#parts.clock()
    // Its number may be of a new epoch by now, which has to be announced first.
    if (plan === this.#plan && this.#parts.source.epoch !== this.#gathered.epoch)
      plan.end(event, { kind: 'unsent' }, nowMs())
    // Nothing is left of it for this endpoint.
    else if (made.message === undefined) plan.end(event, { kind: 'acknowledged' }, nowMs())
    else if (plan === this.#plan) await this.#post(made.message, event)
    else await this.#postAnnouncement(made.message)
  }

  /** Reading may have outlasted the lease, as when the store was away: then with the next renewal. False: the sender has ended. */
  async #mayPost(): Promise<boolean> {
    const { signal } = this.#ending
    if (signal.aborted || (this.#isAllowed && this.#hasTime())) return !signal.aborted
    await pause(storeRetryMs, signal)
    return this.#mayPost()
  }

  /** What ends after the lease is no longer this node's is refused by the store. */
  async #post(message: Message, event: DueEvent): Promise<void> {
    const { outcome, delivery } = await this.#tried(message, event)
    this.#plan.end(event, outcome, this.#parts.clock())
    if (outcome.kind === 'acknowledged') this.#gathered.acknowledge(event, this.#parts.clock())
    const givenUp = this.#plan.unwritten()?.rows?.givenUp ?? []
    const isGivenUp = givenUp.some(({ sequenceNumber }) => sequenceNumber === event.sequenceNumber)
    this.#gathered.log(isGivenUp ? { ...delivery, outcome: 'givenUp' } : delivery)
  }

  async #tried(message: Message, event: DueEvent | undefined): ReturnType<typeof tryOnce> {
    const tried = await tryOnce(this.#parts, message, event)
    const isTimed = event?.isFirst === true && message.committedMs !== undefined
    this.#parts.onTry(tried.outcome.kind, isTimed ? tried.delivery.atMs - message.committedMs : undefined)
    if (tried.delivery.status === goneStatus) this.#gathered.disable('gone')
    return tried
  }

  async #postAnnouncement(message: Message): Promise<void> {
    const announcement = this.#announcement
    const { outcome, delivery } = await this.#tried(message, undefined)
    this.#gathered.log(delivery)
    if (announcement?.isOver(outcome, this.#parts.clock()) !== true) return
    this.#gathered.epoch = announcement.epoch
    this.#announcement = undefined
  }

  async #eventMessage(event: ViewEvent): Promise<Message | undefined> {
    const { source, version, clock, lease } = this.#parts
    const known = () => this.#gathered.version(event.subjectId) ?? version(event.subjectId)
    return source.message(event, lease.endpoint.settings.changes ? await known() : undefined, clock())
  }

  /** Asks the store until it answers, or the sender has ended (`undefined`). */
  async #fromStore<T>(ask: () => Promise<T>): Promise<T | undefined> {
    if (this.#ending.signal.aborted) return undefined
    try {
      return await ask()
    } catch (error) {
      this.#failed(error)
    }
    await pause(storeRetryMs, this.#ending.signal)
    return this.#fromStore(ask)
  }

  #failed = (error: unknown): void =>
    this.#parts.report.failed('send_webhooks', error, { endpoint: this.endpointId })

  #run(work: () => Promise<void>): void {
    const running = work()
      .catch(this.#failed)
      .finally(() => {
        this.#underWay.delete(running)
        this.go()
      })
    this.#underWay.add(running)
  }
}
