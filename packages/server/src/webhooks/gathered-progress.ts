/** What has become of one endpoint's messages and is not written yet. */
import type { Delivery, DisableReason, Lease, NoticeKind, ProgressWrite } from './endpoint.ts'
import type { EndpointPlan } from './plan.ts'
import type { ViewEvent } from './waiting-rows.ts'

/** What is to be written, and what to call once it is. */
export interface Unwritten {
  readonly write: ProgressWrite
  readonly written: () => void
}

export class GatheredProgress {
  /** Of which the receiver was told last. */
  epoch: string
  #writtenEpoch: string
  readonly #lease: Lease
  readonly #plan: EndpointPlan
  #deliveries: readonly Delivery[] = []
  #taken = 0
  #writes: number
  #versions: readonly ViewEvent[] = []
  #acknowledged: ProgressWrite['acknowledged']
  #notices: readonly NoticeKind[] = []
  #disable: DisableReason | undefined

  constructor(lease: Lease, plan: EndpointPlan) {
    this.epoch = this.#writtenEpoch = lease.endpoint.progress.epoch
    this.#lease = lease
    this.#writes = lease.writes
    this.#plan = plan
  }

  get isDisabled(): boolean {
    return this.#disable !== undefined
  }

  /** Tries whose end is not being written. */
  get tries(): number {
    return this.#deliveries.length - this.#taken
  }

  get isEmpty(): boolean {
    return (
      this.#deliveries.length === 0 &&
      this.#notices.length === 0 &&
      this.epoch === this.#writtenEpoch &&
      !this.isDisabled &&
      this.#plan.unwritten() === undefined
    )
  }

  log(delivery: Delivery): void {
    this.#deliveries = [...this.#deliveries, delivery]
  }

  acknowledge(event: ViewEvent, atMs: number): void {
    const { sequenceNumber } = event
    if (sequenceNumber >= (this.#acknowledged?.sequenceNumber ?? 0))
      this.#acknowledged = { sequenceNumber, atMs }
    if (this.#lease.endpoint.settings.changes) this.#versions = [...this.#versions, event]
  }

  /** With which number the property was acknowledged last, if that is not written yet. */
  version(subject: string): number | undefined {
    return this.#versions.findLast(({ subjectId }) => subjectId === subject)?.sequenceNumber
  }

  tell(notice: NoticeKind): void {
    this.#notices = [...this.#notices, notice]
  }

  disable(reason: DisableReason): void {
    this.#disable ??= reason
  }

  /** `undefined`: everything is written. */
  take(): Unwritten | undefined {
    if (this.isEmpty) return undefined
    const change = this.#plan.unwritten()
    const [deliveries, versions, acknowledged] = [this.#deliveries, this.#versions, this.#acknowledged]
    const [notice] = this.#notices
    const { epoch } = this
    this.#taken = deliveries.length
    const { leaseNo } = this.#lease
    const { endpointId } = this.#lease.endpoint
    const writes = this.#writes
    const written = (): void => {
      this.#writes = writes + 1
      if (change !== undefined) this.#plan.written(change)
      this.#deliveries = this.#deliveries.slice(deliveries.length)
      this.#taken = 0
      this.#versions = this.#versions.slice(versions.length)
      if (notice !== undefined) this.#notices = this.#notices.slice(1)
      if (this.#acknowledged === acknowledged) this.#acknowledged = undefined
      this.#writtenEpoch = epoch
    }
    const disable = this.#disable
    return {
      write: {
        endpointId,
        leaseNo,
        writes,
        epoch,
        change,
        acknowledged,
        deliveries,
        versions,
        disable,
        notice,
      },
      written,
    }
  }
}
