import type { Applied } from '../acknowledge.ts'

/** What a client has acknowledged. There is one for each client, so that it lasts from one sync to the next. */
export interface Said {
  /** The service takes no acknowledgements, so it is not asked again. */
  isRefused: boolean
  isUnderWay: boolean
  last: Applied | undefined
  lastMs: number
  /** How often the last one was sent. */
  times: number
  /** The earliest time for the next one after a failure. */
  notBeforeMs: number
}

export function nothingSaid(): Said {
  return { isRefused: false, isUnderWay: false, last: undefined, lastMs: 0, times: 0, notBeforeMs: 0 }
}
