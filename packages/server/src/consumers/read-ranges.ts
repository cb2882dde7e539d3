/** What consumers were sent, in memory: a part for each consumer, view and kind of number. */
import { numberRanges } from '../runtime/number-ranges.ts'
import type { NumberRange, NumberRanges } from '../runtime/number-ranges.ts'
import { keptRanges, defaultConsumer, namedConsumersPerFeed } from './consumer.ts'
import { consumerText } from './consumer-rows.ts'
import type { ConsumerName, NewRead, ReadPart, ReadRoute } from './consumer.ts'
import type { FeedKey } from '../events/feed-key.ts'

/** What an answer delivers to its reader. Equal answers share one object wherever possible. */
export interface Delivered extends ReadPart {
  readonly key: FeedKey
  readonly route: ReadRoute
  /** Ascending; everything of the view in them was sent. Empty: nothing. */
  readonly ranges: readonly NumberRange[]
  /** The reader has everything so far. */
  readonly isQuiet: boolean
}

declare module '../http/exchange.ts' {
  interface AnswerRecords {
    /** What the reader has been sent once the last byte is taken; `undefined` if no feed was read, or it is counted as it is sent. */
    readonly delivered?: Delivered | undefined
  }
}

export const minuteMs = 60_000
/** Beyond these, nothing more is added until the next flush: some 20 MB. */
const mostParts = 50_000
const mostRangesInMemory = 200_000
/** For one minute and route. A reader that jumps about more than that has shown it. */
const mostRangesPerMinute = 500

/** A part of a consumer, since the last addition. */
interface UnsavedRead {
  readonly consumer: ConsumerName
  readonly part: ReadPart
  readonly minutes: Map<string, SentMinute>
  askedMs: number
  status: number
  route: ReadRoute
  quietMs: number | undefined
  /** The minute and route of the last answer, nearly always those of the next one too. */
  lastSent: SentMinute | undefined
  /** The ranges that were added last. The answers with one cached page share one array, so the next ranges are often the same object. */
  lastRanges: readonly NumberRange[] | undefined
}

/** What was sent by a route within a minute. */
interface SentMinute {
  readonly minute: number
  readonly route: ReadRoute
  readonly ranges: NumberRanges
}

interface ReadRanges {
  note(keyId: string, name: string, delivered: Delivered, status: number, nowMs: number): void
  /** Returns everything and forgets it. */
  take(): readonly UnsavedRead[]
  giveBack(parts: readonly UnsavedRead[]): void
  /** How often something was left out. */
  dropped(): number
}

interface State {
  parts: Map<string, UnsavedRead>
  /** The part that each key has read last: most keys read one. */
  lastOfKey: Map<string, UnsavedRead>
  /** The names of each key: a key that gives another name with each request takes no place from others. */
  namesOfKey: Map<string, Set<string>>
  ranges: number
  dropped: number
}

export function readRanges(): ReadRanges {
  const state: State = { ...nothing(), dropped: 0 }
  return {
    note(keyId, name, delivered, status, nowMs) {
      const one = find(state, keyId, name, delivered)
      if (one === undefined) {
        state.dropped += 1
        return
      }
      one.askedMs = nowMs
      one.status = status
      one.route = delivered.route
      if (delivered.isQuiet) one.quietMs = nowMs
      if (delivered.ranges.length > 0) {
        addRanges(state, one, {
          route: delivered.route,
          minute: Math.floor(nowMs / minuteMs),
          ranges: delivered.ranges,
        })
      }
    },
    take() {
      const parts = [...state.parts.values()]
      Object.assign(state, nothing())
      return parts
    },
    giveBack(given) {
      for (const one of given) giveBackOne(state, one)
    },
    dropped: () => state.dropped,
  }
}

function nothing(): Omit<State, 'dropped'> {
  return { parts: new Map(), lastOfKey: new Map(), namesOfKey: new Map(), ranges: 0 }
}

function find(state: State, keyId: string, name: string, delivered: Delivered): UnsavedRead | undefined {
  const { parts, lastOfKey } = state
  const last = lastOfKey.get(keyId)
  if (last !== undefined && isOf(last, name, delivered)) return last
  const { key, view, space, epoch } = delivered
  const consumer = { key, keyId, name }
  const text = `${consumerText(consumer)} ${view} ${space} ${epoch}`
  let found = parts.get(text)
  if (found === undefined) {
    if (parts.size >= mostParts || isNameTooMany(state, keyId, name)) return undefined
    const part = { view, space, epoch }
    const unasked = { askedMs: 0, status: 0, route: delivered.route, quietMs: undefined }
    found = { consumer, part, minutes: new Map(), lastSent: undefined, lastRanges: undefined, ...unasked }
    parts.set(text, found)
  }
  lastOfKey.set(keyId, found)
  return found
}

function isNameTooMany({ namesOfKey }: State, keyId: string, name: string): boolean {
  if (name === defaultConsumer) return false
  const known = namesOfKey.get(keyId) ?? new Set()
  namesOfKey.set(keyId, known)
  if (known.size < namedConsumersPerFeed) known.add(name)
  return !known.has(name)
}

interface Added {
  readonly minute: number
  readonly route: ReadRoute
  readonly ranges: readonly NumberRange[]
}

function addRanges(state: State, one: UnsavedRead, added: Added): void {
  const sent = sentMinute(one, added)
  const { ranges } = added
  if (sent === one.lastSent && ranges === one.lastRanges) return
  one.lastSent = sent
  one.lastRanges = ranges
  const before = sent.ranges.size
  for (const [first, last] of ranges) {
    if (sent.ranges.size >= mostRangesPerMinute || state.ranges >= mostRangesInMemory) state.dropped += 1
    else sent.ranges.add(first, last)
  }
  state.ranges += sent.ranges.size - before
}

function sentMinute({ minutes, lastSent }: UnsavedRead, { minute, route }: Added): SentMinute {
  if (lastSent?.minute === minute && lastSent.route === route) return lastSent
  const text = `${minute} ${route}`
  let sent = minutes.get(text)
  if (sent === undefined) minutes.set(text, (sent = { minute, route, ranges: numberRanges() }))
  return sent
}

/** For what could not be stored: what was added meanwhile stays. */
function giveBackOne(
  state: State,
  { consumer, part, minutes, askedMs, status, route, quietMs }: UnsavedRead,
): void {
  const delivered = { ...part, key: consumer.key, route, ranges: [], isQuiet: false }
  const one = find(state, consumer.keyId, consumer.name, delivered)
  if (one === undefined) return
  if (askedMs > one.askedMs) Object.assign(one, { askedMs, status, route })
  one.quietMs = Math.max(one.quietMs ?? 0, quietMs ?? 0) || undefined
  for (const { ranges, ...sent } of minutes.values())
    addRanges(state, one, { ...sent, ranges: ranges.ranges() })
}

function isOf({ consumer, part }: UnsavedRead, name: string, delivered: Delivered): boolean {
  return (
    consumer.name === name &&
    part.view === delivered.view &&
    part.space === delivered.space &&
    part.epoch === delivered.epoch &&
    consumer.key.tenantId === delivered.key.tenantId &&
    consumer.key.feed === delivered.key.feed
  )
}

/** In the form that the store takes. */
export function newReadOf({
  consumer,
  part,
  minutes,
  askedMs,
  status,
  route,
  quietMs,
}: UnsavedRead): NewRead {
  const sent = Array.from(minutes.values(), ({ ranges, ...row }) => {
    return { ...row, ranges: keptRanges(ranges.ranges()) }
  })
  return { ...consumer, ...part, askedMs, status, route, quietMs, minutes: sent }
}
