/** How far a copy is. */
export interface AppliedPosition {
  /** Everything up to this number has been applied. */
  readonly sequenceNumber: number
  /** The epoch of the number. */
  readonly epoch: string
}

/** What a client has acknowledged. There is one for each client, so that it lasts from one sync to the next. */
export interface AcknowledgementState {
  /** The service takes no acknowledgements, so it is not asked again. */
  isRefused: boolean
  isUnderWay: boolean
  last: AppliedPosition | undefined
  lastMs: number
  /** How often the last one was sent. */
  times: number
  /** The earliest time for the next one after a failure. */
  notBeforeMs: number
}

export function noAcknowledgements(): AcknowledgementState {
  return { isRefused: false, isUnderWay: false, last: undefined, lastMs: 0, times: 0, notBeforeMs: 0 }
}
