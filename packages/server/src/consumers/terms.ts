/** On which terms a property was advertised at a moment, and what is recorded of where (PROTOCOL §14.8). */
import { advertised, meaningOf, termsConsumerSentence, termsSentence } from '@property-events/protocol'
import type { FeedEvent, TermsRecord, TermsSending, Ticks } from '@property-events/protocol'
import type { LivePeriod as ShownPeriod, PropertyTerms, TermsConsumer } from '@property-events/protocol/wire'
import { isErasedPayload, isReducedPayload } from '../events/append/reduced-event.ts'
import { createdMsOf } from '../events/event-json.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { timeOf } from '../http/time-of.ts'
import type { ConsumerResult, ReadPart, ResultChange, SentRange } from './consumer.ts'
import { consumersOf } from './consumers-of-feed.ts'
import type { ConsumersQuery, ConsumersStore } from './consumers-of-feed.ts'
import { eventInForce } from './event-in-force.ts'
import type { EventInForce } from './event-in-force.ts'
import { categories, firstSentTo, includes, placesOf } from './event-places.ts'

/** `branches`: only a property in them exists. */
export interface TermsQuery extends ConsumersQuery {
  readonly subjectId: string
  /** The first moment after the one that is asked for; `undefined`: now. */
  readonly before: Ticks | undefined
  /** What consumers were sent, or reported, before this is not recorded. */
  readonly recordedFromMs: number
}

/** `undefined`: the feed has no event of the property. */
export async function propertyTerms(
  store: ConsumersStore,
  query: TermsQuery,
): Promise<PropertyTerms | undefined> {
  const { key, subjectId, before, nowMs, recordedFromMs } = query
  const found = await eventInForce(store.events, query)
  if (found === undefined) return undefined
  const { event, next } = found
  // The stamp of the last event may be some minutes ahead of the clock.
  const nowOrLater = Math.max(nowMs, next === undefined && event !== undefined ? createdMsOf(event) : 0)
  const atMs = Math.min(nowOrLater, before === undefined ? Infinity : Number((before - 1n) / 10_000n))
  const stated = await statedBy(store, key, event)
  const said = {
    agentRef: subjectId,
    at: new Date(atMs).toISOString(),
    supersededBy:
      event === undefined || next === undefined
        ? null
        : { sequenceNumber: next.sequenceNumber, createdDate: next.createdDate },
    recordedFrom: new Date(recordedFromMs).toISOString(),
    ...stated,
  }
  const consumers =
    event === undefined ? [] : await consumersAt(store, query, { ...found, event }, stated.record)
  return { ...said, consumers, sentence: termsSentence(said) }
}

type Stated = Pick<PropertyTerms, 'event' | 'published' | 'terms' | 'material'> & {
  readonly record: TermsRecord
}

async function statedBy(store: ConsumersStore, key: FeedKey, event: FeedEvent | undefined): Promise<Stated> {
  if (event === undefined)
    return { record: 'none', event: null, published: null, terms: null, material: null }
  const { id, sequenceNumber, eventTypeShortCode, createdDate, payload } = event
  const { places } = await placesOf(store, key, event, [])
  const category = categories.find((one) => places.has(one)) ?? null
  const shown = { id, sequenceNumber, eventTypeShortCode, createdDate, category }
  // The type says it also where the payload is gone.
  const published = meaningOf('property', eventTypeShortCode) !== 'gone'
  if (isReducedPayload(payload)) {
    const record = isErasedPayload(payload) ? 'erased' : 'retention'
    return { record, event: shown, published, terms: null, material: null }
  }
  return {
    record: 'kept',
    event: shown,
    published,
    ...advertised(JSON.parse(payload), category ?? undefined),
  }
}

type KnownEvent = EventInForce & { readonly event: FeedEvent }

async function consumersAt(
  store: ConsumersStore,
  query: TermsQuery,
  found: KnownEvent,
  record: TermsRecord,
): Promise<TermsConsumer[]> {
  const { key, subjectId, recordedFromMs } = query
  const { event, next } = found
  const { epoch } = (await store.events.head(key)) ?? { epoch: '' }
  const results = await store.consumers.results(key.tenantId, subjectId)
  const changes = await store.consumers.resultChanges(key.tenantId, subjectId)
  const numbers = [...new Set([...results, ...changes].map(({ sequenceNumber }) => sequenceNumber))]
  const removals = await store.consumers.removalsAmong(key.tenantId, subjectId, numbers)
  const consumers = await consumersOf(store, query, [...results, ...changes])
  const { places } = await placesOf(store, key, event, consumers)
  const counts = (part: ReadPart, sent: SentRange) => isCertain(part, sent, found, epoch)
  const first = await firstSentTo(store.consumers, {
    key,
    event,
    epoch: undefined,
    places,
    consumers,
    counts,
  })
  const force = { ...event, fromMs: createdMsOf(event), untilMs: next && createdMsOf(next) }
  const isOlder = force.fromMs < recordedFromMs
  const words = { record, recordedFrom: new Date(recordedFromMs).toISOString(), isOlder }
  return consumers.map((consumer) => {
    const { keyId, name, label, readings, acknowledgement } = consumer
    const isHere = (one: ConsumerResult | ResultChange) => one.keyId === keyId && one.name === name
    const reported = { changes: changes.filter(isHere), latest: results.find(isHere), removals }
    const sent = first.get(consumer)
    const whole = readings.filter((reading) => !isLatestOnly(reading))
    const isSent = includes(whole, event.sequenceNumber, epoch, places)
    const applied =
      acknowledgement !== undefined &&
      acknowledgement.epoch === epoch &&
      acknowledgement.sequenceNumber >= event.sequenceNumber
        ? { at: timeOf(acknowledgement.acknowledgedMs), sequenceNumber: acknowledgement.sequenceNumber }
        : null
    const known = {
      keyId,
      name,
      label,
      sent: sendingOf(sent, isSent, isOlder),
      sentAt: timeOf(sent && sent.minute * minuteMs),
      route: sent?.route ?? null,
      applied,
      live: livePeriods(reported)
        .filter((period) => isOfEvent(period, force))
        .map(shownPeriod),
    }
    return { ...known, sentence: termsConsumerSentence(known, words) }
  })
}

const minuteMs = 60_000

function sendingOf(sent: SentRange | undefined, isSent: boolean, isOlder: boolean): TermsSending {
  if (sent !== undefined) return 'first'
  if (isSent) return 'time_not_recorded'
  return isOlder ? 'not_recorded' : 'no_record'
}

/** Of this part only events were sent that were their subject's latest. */
function isLatestOnly({ view, space }: Pick<SentRange, 'view' | 'space'>): boolean {
  return space === 'latest' || (space === 'positions' && view !== 'single')
}

/**
 * Whether a sending is certainly of this event. Where only latest events are sent, it has to be before the event was superseded. Ordinals of
 * an epoch that has ended meant the same event if it existed then: if it was sent after it was published.
 */
function isCertain(
  part: ReadPart,
  { minute }: SentRange,
  { event, next }: KnownEvent,
  epoch: string,
): boolean {
  const isSuperseded = next !== undefined && createdMsOf(next) < (minute + 1) * minuteMs
  if (isLatestOnly(part) && isSuperseded) return false
  const isPast = part.epoch !== '' && part.epoch !== epoch
  return !isPast || minute * minuteMs >= createdMsOf(event)
}

function shownPeriod({ fromMs, untilMs, url, sequenceNumber }: LivePeriod): ShownPeriod {
  return { from: timeOf(fromMs), until: timeOf(untilMs), url: url ?? null, sequenceNumber }
}

interface LivePeriod {
  /** Milliseconds since 1970; `undefined`: earlier than is recorded. */
  readonly fromMs: number | undefined
  /** `undefined`: nothing else has been reported. */
  readonly untilMs: number | undefined
  readonly url: string | undefined
  /** Of the event that the report was about. */
  readonly sequenceNumber: number
}

/** What one consumer has reported of a property. */
interface Reported {
  /** The log, in its order. */
  readonly changes: readonly ResultChange[]
  /** The last report. */
  readonly latest: ConsumerResult | undefined
  /** Numbers of reports that are about a removal: `live` then says that the property was taken down. */
  readonly removals: ReadonlySet<number>
}

/** When a site showed a property, by what its consumer has reported. */
function livePeriods({ changes, latest, removals }: Reported): readonly LivePeriod[] {
  const periods: LivePeriod[] = []
  for (const [at, { outcome, url, resultMs, sequenceNumber }] of changes.entries()) {
    if (outcome !== 'live' || removals.has(sequenceNumber)) continue
    periods.push({ fromMs: resultMs, untilMs: changes[at + 1]?.resultMs, url, sequenceNumber })
  }
  // Its change is older than the log is kept.
  if (changes.length === 0 && latest?.outcome === 'live' && !removals.has(latest.sequenceNumber)) {
    const { url, sequenceNumber } = latest
    periods.push({ fromMs: undefined, untilMs: undefined, url, sequenceNumber })
  }
  return periods
}

/** Whether a period says something of the terms of an event: it is about this event, or it lasts at some time at which the event was in force. */
function isOfEvent(
  { fromMs = -Infinity, untilMs = Infinity, sequenceNumber }: LivePeriod,
  event: { readonly sequenceNumber: number; readonly fromMs: number; readonly untilMs: number | undefined },
): boolean {
  return (
    sequenceNumber === event.sequenceNumber ||
    (fromMs < (event.untilMs ?? Infinity) && untilMs > event.fromMs)
  )
}
