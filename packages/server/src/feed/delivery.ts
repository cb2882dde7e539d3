/** What became of an event at one consumer, decided from what is known (D28). Asks nobody; `deliverySentence` says it in words. */
import type { ConsumerDelivery, DeliveryState } from '@property-events/protocol'
import { partsOfView } from '../storage/storage.ts'
import type { ConsumerRefusal, ConsumerResult, FeedView, FirstSent, KeptReading } from '../storage/storage.ts'

/** A key's end, if it has ended. */
export interface KeyEnd {
  readonly code: 'key_revoked' | 'key_expired' | 'key_disabled'
  /** Milliseconds since 1970; `undefined`: not known. */
  readonly sinceMs: number | undefined
}

/** Everything that is known of a consumer and an event. */
export interface DeliveryFacts {
  readonly keyId: string
  readonly name: string
  readonly label: string
  readonly sequenceNumber: number
  /** Views that the event stands in, and those of which that is not known. */
  readonly viewsOfEvent: ReadonlySet<string>
  /** False: the key reads other branches alone. */
  readonly isInBranches: boolean
  readonly keyEnd: KeyEnd | undefined
  /** What it was sent, and how its last requests went. */
  readonly readings: readonly KeptReading[]
  /** It has been silent for too long, since then; `undefined`: it is not, or that is not for everybody to see. */
  readonly silentMs: number | undefined
  /** The event is in what it was sent. */
  readonly isSent: boolean
  /** When it was first sent, if that minute is kept. */
  readonly firstSent: FirstSent | undefined
  readonly acknowledged: { readonly sequenceNumber: number; readonly ms: number } | undefined
  /** What it said of the property last. */
  readonly result: ConsumerResult | undefined
  /** Refusals that are not about other tenants. */
  readonly refusals: readonly ConsumerRefusal[]
  readonly eventType: ConsumerDelivery['eventType']
}

const minuteMs = 60_000

export function deliveryOf(facts: DeliveryFacts): ConsumerDelivery {
  const { keyId, name, label, readings, acknowledged, result, sequenceNumber } = facts
  const askedMs = latest(readings.map((reading) => reading.askedMs))
  // It can be back before anybody has looked.
  const isBack = (askedMs ?? 0) > (facts.silentMs ?? 0)
  const said = {
    keyId,
    name,
    label,
    at: null,
    route: null,
    code: null,
    message: null,
    url: null,
    refusals: null,
    lastAskedAt: timeOf(askedMs),
    lastNothingNewAt: timeOf(latest(readings.map(({ quietMs = 0 }) => quietMs))),
    silentSince: isBack ? null : timeOf(facts.silentMs),
    acknowledged: acknowledged?.sequenceNumber ?? null,
    earlier:
      result === undefined || result.sequenceNumber >= sequenceNumber
        ? null
        : { outcome: result.outcome, sequenceNumber: result.sequenceNumber },
    views: viewsRead(readings),
    eventType: facts.eventType,
  }
  return { ...said, ...decided(facts, askedMs) }
}

type Decided = { readonly state: DeliveryState } & Partial<
  Pick<ConsumerDelivery, 'at' | 'route' | 'code' | 'message' | 'url' | 'refusals'>
>

/** What the consumer says counts before what was sent to it, and both before why it may not have been. */
function decided(facts: DeliveryFacts, askedMs: number | undefined): Decided {
  const { result, acknowledged, sequenceNumber, firstSent, isSent } = facts
  if (result !== undefined && result.sequenceNumber >= sequenceNumber) {
    const { outcome, code = null, message = null, url = null, resultMs } = result
    return { state: outcome, at: timeOf(resultMs), code, message, url }
  }
  if (!facts.isInBranches) return { state: 'other_branch' }
  if (!isSent && readsOthers(facts)) return { state: 'other_category' }
  if (acknowledged !== undefined && acknowledged.sequenceNumber >= sequenceNumber) {
    return { state: 'applied', at: timeOf(acknowledged.ms) }
  }
  if (isSent) {
    return {
      state: 'sent',
      at: timeOf(firstSent && firstSent.minute * minuteMs),
      route: firstSent?.route ?? null,
    }
  }
  const refusal = refusalOf(facts, askedMs)
  if (refusal !== undefined) return refusal
  return { state: askedMs === undefined && acknowledged === undefined ? 'never_asked' : 'pending' }
}

/** It reads whole views, and the event is in none of them. */
function readsOthers({ readings, viewsOfEvent }: DeliveryFacts): boolean {
  const views = rawViews(readings)
  return views.length > 0 && !views.some((view) => viewsOfEvent.has(view))
}

function rawViews(readings: readonly KeptReading[]): readonly FeedView[] {
  return readings.map(({ view }) => view).filter((view) => view !== 'single')
}

/** Of a set of branches as of all: a key reads its own. */
export function nameOfView(view: FeedView): string {
  return partsOfView(view).category ?? 'all'
}

function viewsRead(readings: readonly KeptReading[]): readonly string[] {
  return [...new Set(rawViews(readings).map(nameOfView))]
}

/** Why its requests are refused: its key has ended, or the last of them was refused. */
function refusalOf({ keyEnd, refusals }: DeliveryFacts, askedMs: number | undefined): Decided | undefined {
  if (keyEnd !== undefined) {
    const { code, sinceMs } = keyEnd
    const refused = refusals.find((refusal) => refusal.code === code)
    return { state: 'refused_by_us', at: timeOf(sinceMs), code, refusals: refused?.count ?? null }
  }
  const last = refusals.toSorted((a, b) => b.lastMs - a.lastMs)[0]
  if (last === undefined || last.lastMs <= (askedMs ?? 0)) return undefined
  const sinceMs = Math.max(last.sinceMs, askedMs ?? 0)
  return { state: 'refused_by_us', at: timeOf(sinceMs), code: last.code, refusals: last.count }
}

function latest(times: readonly number[]): number | undefined {
  return Math.max(0, ...times) || undefined
}

export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
