/** The message that begins an epoch for an endpoint: a feed of one event, which is tried, waits and fails as others do. */
import type { EndpointRecord } from './endpoint.ts'
import { epochMessage } from './message.ts'
import type { EpochChange, Message } from './message.ts'
import { EndpointPlan } from './plan.ts'
import type { TryOutcome } from './plan.ts'

const announced = { sequenceNumber: 1, subjectId: 'epoch' } as const

export class EpochAnnouncement {
  readonly epoch: string
  plan: EndpointPlan
  readonly #endpoint: EndpointRecord
  readonly #from: Pick<EpochChange, 'previousEpoch' | 'after'>

  constructor(endpoint: EndpointRecord, epoch: string, from: Pick<EpochChange, 'previousEpoch' | 'after'>) {
    this.epoch = epoch
    this.#endpoint = endpoint
    this.#from = from
    this.plan = planFor(endpoint)
  }

  message(atMs: number): Message {
    const { tenantId, settings } = this.#endpoint
    const { feed, format } = settings
    return epochMessage({ tenantId, feed, epoch: this.epoch, ...this.#from }, format, atMs)
  }

  /** The end of a try. True: it was acknowledged. It is never given up: nothing else is sent before. */
  isOver(outcome: TryOutcome, nowMs: number): boolean {
    const { failingSinceMs } = this.plan
    this.plan.end(announced, outcome, nowMs)
    const change = this.plan.unwritten()
    // Of its progress nothing is stored: a node that begins anew announces anew.
    if (change !== undefined) this.plan.written(change)
    if ((change?.rows?.givenUp.length ?? 0) > 0) this.plan = planFor(this.#endpoint, failingSinceMs)
    return outcome.kind === 'acknowledged'
  }
}

function planFor({ settings }: EndpointRecord, failingSinceMs?: number): EndpointPlan {
  const plan = new EndpointPlan({ settled: 0, waiting: [], failingSinceMs }, settings)
  plan.add([announced], announced.sequenceNumber)
  return plan
}
