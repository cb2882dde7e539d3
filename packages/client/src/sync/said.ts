import type { Applied } from '../acknowledge.ts'

/** What a client has said. One for each client, so that it lasts from one sync to the next. */
export interface Said {
  /** The service does not take it: not asked again. */
  isRefused: boolean
  isUnderWay: boolean
  last: Applied | undefined
  lastMs: number
  /** How often the last one was said. */
  times: number
  /** Not before: after a failure. */
  notBeforeMs: number
}

export function nothingSaid(): Said {
  return { isRefused: false, isUnderWay: false, last: undefined, lastMs: 0, times: 0, notBeforeMs: 0 }
}
