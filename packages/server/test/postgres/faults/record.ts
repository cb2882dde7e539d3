/**
 * What clients of one feed wrote down while faults went on: requests, answers and when each began and ended. The checker
 * knows nothing else, so it has no part in how the service or its clients work.
 */

/** Milliseconds of the steady clock of the process in which all clients run. */
export interface Interval {
  readonly startedMs: number
  readonly endedMs: number
}

/** A line of a receipt. */
export interface ReceiptLine {
  readonly id: string
  readonly sequenceNumber: number
  readonly createdDate: string
}

/** One publication, from its first attempt to its receipt; however often it was sent, it was sent with these ids. */
export interface Publication extends Interval {
  /** Which node acknowledged it. */
  readonly node: string
  readonly events: readonly { readonly id: string; readonly payload: string }[]
  /** Undefined when the client gave up before it had an answer. */
  readonly receipt: readonly ReceiptLine[] | undefined
  /** Sent once more by a client that had its receipt already. */
  readonly again: boolean
}

export type View = 'all' | 'sales' | 'lettings'

export type Question =
  | { readonly door: 'number'; readonly after: number; readonly limit: number }
  /** All pages of the window. `asked`: the database's clock when the first of them was asked for, or somewhat earlier. */
  | { readonly door: 'window'; readonly reader: string; readonly from: string; readonly asked: string }
  | {
      readonly door: 'page'
      readonly view: View
      readonly page: number
      readonly pageSize: number
      readonly available: number
    }
  | { readonly door: 'id'; readonly id: string }

export interface Answer extends Interval {
  readonly question: Question
  readonly node: string
  /** `x-feed-min-sequence`, if it was sent. */
  readonly minimum: number | undefined
  /** The feed's last number when this was answered. */
  readonly head: number
  /** Each event as its bytes stood in the body. */
  readonly items: readonly string[]
}

/** One feed's. */
export interface FeedRecord {
  readonly publications: readonly Publication[]
  readonly answers: readonly Answer[]
  /** Answers that no client following the documents may get, in words. */
  readonly refusals: readonly string[]
  /** The whole feed in the end, ascending. */
  readonly kept: readonly string[]
}

/** What the bytes of an event say. */
export interface EventInFeed {
  readonly sequenceNumber: number
  readonly id: string
  readonly createdDate: string
  readonly payload: string
}

/**
 * The elements of the array `items` as they stand in a body. Parsing the body would lose spelling, order and space, which
 * have to be the same for ever.
 */
export function itemsIn(body: string): readonly string[] {
  const items: string[] = []
  let at = body.indexOf('"items":[') + '"items":['.length
  let depth = 0
  let begin = at
  for (let quoted = false; at < body.length; at += 1) {
    const char = body[at]
    if (quoted) {
      if (char === '\\') at += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') {
      if (depth === 0) begin = at
      depth += 1
    } else if (char === '}') {
      depth -= 1
      if (depth === 0) items.push(body.slice(begin, at + 1))
    } else if (char === ']' && depth === 0) return items
  }
  throw new Error(`no whole array of items: ${body.slice(0, 200)}`)
}
