/**
 * What became of an event at one consumer, decided from what is known (D28). It reads nothing; `deliverySentence` puts the result into
 * words.
 */
import type { ConsumerDelivery, DeliveryState } from '@property-events/protocol'
import { timeOf } from '../http/time-of.ts'
import { partsOfView } from '../events/branches/branch-view.ts'
import type { ConsumerRefusal, ConsumerResult, SentRange, StoredRead } from './consumer.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { EndpointRecord, StoredDelivery } from '../webhooks/endpoint.ts'
import type { ViewEvent, WaitingSubject } from '../webhooks/waiting-rows.ts'

/** A key's end, if it has ended. */
export interface KeyEnd {
  readonly code: 'key_revoked' | 'key_expired' | 'key_disabled'
  /** Milliseconds since 1970; `undefined` if unknown. */
  readonly sinceMs: number | undefined
}

/** An endpoint, and what is written about the event's property there. */
export interface EndpointFacts {
  readonly endpoint: EndpointRecord
  readonly waiting: WaitingSubject | undefined
  /** The last of its events that was given up. */
  readonly givenUp: (ViewEvent & { readonly atMs: number }) | undefined
  /** The last try of one of its events. */
  readonly last: StoredDelivery | undefined
}

/** Everything that is known about a consumer and an event. */
interface DeliveryFacts {
  readonly keyId: string
  readonly name: string
  readonly label: string
  readonly sequenceNumber: number
  /** Views that contain the event, and those for which that is unknown. */
  readonly viewsOfEvent: ReadonlySet<string>
  /** False: the key reads only other branches. */
  readonly isInBranches: boolean
  readonly keyEnd: KeyEnd | undefined
  /** What it was sent, and the outcome of its last requests. */
  readonly readings: readonly StoredRead[]
  /** It has been silent for too long, since then; `undefined`: it has not, or the caller may not see that. */
  readonly silentMs: number | undefined
  /** What it was sent includes the event. */
  readonly isSent: boolean
  /** When it was first sent, if that is recorded. */
  readonly firstSent: SentRange | undefined
  readonly acknowledged: { readonly sequenceNumber: number; readonly ms: number } | undefined
  /** Its last report on the property. */
  readonly result: ConsumerResult | undefined
  /** Refusals that do not concern other tenants. */
  readonly refusals: readonly ConsumerRefusal[]
  readonly eventType: ConsumerDelivery['eventType']
  readonly timeToLive: ConsumerDelivery['timeToLive']
  /** `undefined`: it requests the feed. */
  readonly webhook: EndpointFacts | undefined
}

const minuteMs = 60_000

export function deliveryOf(facts: DeliveryFacts): ConsumerDelivery {
  const { keyId, name, label, readings, acknowledged, result, sequenceNumber } = facts
  const askedMs = latest(readings.map((reading) => reading.askedMs))
  // It may be back before a look has noticed.
  const isBack = (askedMs ?? 0) > (facts.silentMs ?? 0)
  const common = {
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
    views: facts.webhook === undefined ? viewsRead(readings) : [facts.webhook.endpoint.settings.view],
    eventType: facts.eventType,
    timeToLive: facts.timeToLive,
    webhook: facts.webhook === undefined ? null : webhookOf(facts.webhook),
  }
  return { ...common, ...decided(facts, askedMs) }
}

type Decided = { readonly state: DeliveryState } & Partial<
  Pick<ConsumerDelivery, 'at' | 'route' | 'code' | 'message' | 'url' | 'refusals'>
>

/** What the consumer reports takes precedence over what was sent to it, and both over why it may not have been sent. */
function decided(facts: DeliveryFacts, askedMs: number | undefined): Decided {
  const { result, acknowledged, sequenceNumber, firstSent, isSent } = facts
  if (result !== undefined && result.sequenceNumber >= sequenceNumber) {
    const { outcome, code = null, message = null, url = null, resultMs } = result
    return { state: outcome, at: timeOf(resultMs), code, message, url }
  }
  if (!facts.isInBranches) return { state: 'other_branch' }
  if (!isSent && readsOthers(facts)) return { state: 'other_category' }
  const byEndpoint = facts.webhook && atEndpoint(facts.webhook, facts)
  if (byEndpoint !== undefined) return byEndpoint
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
  if (facts.webhook !== undefined) return { state: 'pending' }
  const refusal = refusalOf(facts, askedMs)
  if (refusal !== undefined) return refusal
  return { state: askedMs === undefined && acknowledged === undefined ? 'never_asked' : 'pending' }
}

/** What an endpoint has done with the event; `undefined`: it has not come to it, or the try has not ended. */
function atEndpoint(
  { endpoint: { progress }, waiting, givenUp, last }: EndpointFacts,
  { sequenceNumber, isSent }: DeliveryFacts,
): Decided | undefined {
  const answer = { at: timeOf(last?.atMs), message: last?.answer ?? null }
  if (waiting !== undefined) return { state: 'waiting', ...answer }
  if (givenUp?.sequenceNumber === sequenceNumber) {
    return { state: 'given_up', ...answer, at: timeOf(givenUp.atMs) }
  }
  if (last?.outcome === 'acknowledged' && last.event?.sequenceNumber === sequenceNumber) {
    return { state: 'acknowledged', at: timeOf(last.atMs) }
  }
  if (sequenceNumber > progress.settled) return undefined
  return { state: isSent ? 'acknowledged' : 'skipped' }
}

function webhookOf({ endpoint, waiting, givenUp, last }: EndpointFacts): ConsumerDelivery['webhook'] {
  return {
    ...endpointMembers(endpoint),
    sequenceNumber: (waiting ?? givenUp)?.sequenceNumber ?? null,
    tries: waiting?.tries ?? 0,
    nextTryAt: timeOf(waiting?.nextTryMs),
    status: last?.status ?? null,
  }
}

/** How an endpoint stands as a whole. */
export function endpointMembers({ endpointId, settings, state, progress }: EndpointRecord) {
  const isEnabled = state.kind === 'enabled'
  return {
    id: endpointId,
    label: settings.label,
    state: state.kind,
    reason: isEnabled ? null : state.reason,
    since: timeOf(isEnabled ? undefined : state.sinceMs),
    failingSince: timeOf(progress.failingSinceMs),
  }
}

/** It reads whole views, and none of them contains the event. */
function readsOthers({ readings, viewsOfEvent, webhook }: DeliveryFacts): boolean {
  const views = webhook === undefined ? rawViews(readings) : [webhook.endpoint.settings.view]
  return views.length > 0 && !views.some((view) => viewsOfEvent.has(view))
}

function rawViews(readings: readonly StoredRead[]): readonly FeedView[] {
  return readings.map(({ view }) => view).filter((view) => view !== 'single')
}

/** The same name for a set of branches as for all: a key reads only its own. */
export function nameOfView(view: FeedView): string {
  return partsOfView(view).category ?? 'all'
}

function viewsRead(readings: readonly StoredRead[]): readonly string[] {
  return [...new Set(rawViews(readings).map(nameOfView))]
}

/** Why its requests are refused: its key has ended, or its last request was refused. */
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
