/** Who has seen the latest event of a property: assembles what is stored about each consumer that may read it (D28). */
import { catalogues, millisecondsOfTicks, parseCreatedDate } from '@property-events/protocol'
import type { ConsumerDelivery, FeedEvent, Ticks } from '@property-events/protocol'
import type { DeliveredEvent } from '@property-events/protocol/wire'
import { parseEventJson } from '../events/event-json.ts'
import { branchViewName } from '../events/branches/branch-view.ts'
import type { Acknowledgement } from './consumer.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { Head } from '../events/event-log.ts'
import { consumerKey, consumersOf } from './consumers-of-feed.ts'
import type { ConsumersQuery, ConsumersStore, FeedConsumer } from './consumers-of-feed.ts'
import { deliveryOf } from './delivery.ts'
import type { EndpointFacts } from './delivery.ts'
import { timeToLiveAnswer } from './time-to-live.ts'
import type { TimesQuery, TimesToLive } from './time-to-live.ts'
import { categories, firstSentTo, includes, isInBranches, placesOf } from './event-places.ts'
import type { Places } from './event-places.ts'
import { minuteMs } from './read-ranges.ts'
import { notMade, orIfNotMade } from './lag.ts'

export interface Seen {
  readonly event: DeliveredEvent
  readonly head: Head
  /** The time of the last event of the feed, or of the branches; `undefined`: there is none, or their view is being made. */
  readonly lastCreated: Ticks | undefined
  /** Since when the feed's publisher has been silent for too long; `undefined`: it has not, or that is not for this reader. */
  readonly publisherSilentMs: number | undefined
  /** By key in the order of creation, then by name. */
  readonly consumers: readonly ConsumerDelivery[]
}

/** `branches`: only a property in them exists, and nothing is said of the feed's other events. */
export interface SeenQuery extends ConsumersQuery {
  readonly subjectId: string
  /** Only operators see the silence of a key that opens other tenants (PROTOCOL §14.7). */
  readonly isOperator: boolean
}

/** `undefined`: the feed has no event of it. */
export async function whoHasSeen(
  store: ConsumersStore,
  timesToLive: (query: TimesQuery) => Promise<TimesToLive>,
  query: SeenQuery,
): Promise<Seen | undefined> {
  const { key, subjectId, branches } = query
  const head = await store.events.head(key)
  const stored = await store.events.readLatest(key, subjectId, branches)
  if (head === undefined || stored === undefined) return undefined
  const event = parseEventJson(Buffer.from(stored.json).toString())
  const results = await store.consumers.results(key.tenantId, subjectId)
  const consumers = await consumersOf(store, query, results)
  const { places, unknown } = await placesOf(store, key, event, consumers)
  const first = await firstSentTo(store.consumers, { key, event, epoch: head.epoch, places, consumers })
  const times = await timesToLive({ key, branches })
  const endpoints = await endpointFacts(store, consumers, subjectId, event)
  const decided = consumers.map((consumer) => {
    const isHere = ({ keyId, name }: { keyId: string; name: string }) =>
      keyId === consumer.keyId && name === consumer.name
    const firstSent = first.get(consumer)
    return deliveryOf({
      ...consumer,
      silentMs: query.isOperator || !consumer.opensOthers ? consumer.presence?.silentMs : undefined,
      sequenceNumber: event.sequenceNumber,
      viewsOfEvent: new Set([...places.keys(), ...unknown]),
      isInBranches: isInBranches(consumer, places, unknown),
      firstSent,
      isSent:
        firstSent !== undefined || includes(consumer.readings, event.sequenceNumber, head.epoch, places),
      acknowledged: ofEpoch(consumer.acknowledgement, head),
      result: results.find(isHere),
      eventType: eventTypeOf(store, consumer, event),
      timeToLive: timeToLiveAnswer(times.get(consumerKey(consumer))),
      webhook: endpoints.get(consumer.endpoint?.endpointId ?? ''),
    })
  })
  const isOfAll = query.keyId === undefined && branches === undefined
  const publisherSilentMs = isOfAll ? await silenceOfPublisher(store, key, head) : undefined
  const lastCreated = branches === undefined ? head.created : await lastOf(store, key, branches)
  return { event: describe(event, places), head, lastCreated, publisherSilentMs, consumers: decided }
}

/** What is written of the property at each endpoint. */
async function endpointFacts(
  { webhooks }: ConsumersStore,
  consumers: readonly FeedConsumer[],
  subjectId: string,
  { sequenceNumber }: FeedEvent,
): Promise<ReadonlyMap<string, EndpointFacts>> {
  const facts = new Map<string, EndpointFacts>()
  for (const { endpoint } of consumers) {
    if (endpoint === undefined) continue
    const { endpointId } = endpoint
    const [waiting] = await webhooks.waiting(endpointId, 1, subjectId)
    const [givenUp] = await webhooks.givenUp(endpointId, sequenceNumber - 1, 1, subjectId)
    const [last] = await webhooks.deliveries({ endpointId, subjectId, before: undefined, limit: 1 })
    facts.set(endpointId, { endpoint, waiting, givenUp, last })
  }
  return facts
}

async function lastOf(
  { events }: ConsumersStore,
  key: FeedKey,
  branches: readonly string[],
): Promise<Ticks | undefined> {
  const located = await orIfNotMade(events.locate({ key, view: branchViewName(branches, 'all') }))
  const last = located === notMade ? 0 : (located?.range.count ?? 0)
  if (located === notMade || located === undefined || last === 0) return undefined
  const pieces = await events.readRange({ ...located.range, first: last, count: 1 })
  return parseCreatedDate(parseEventJson(Buffer.concat(pieces).toString()).createdDate)
}

/** What came after the last look of the nodes has ended the silence, though nobody has told of that yet. */
async function silenceOfPublisher(
  { silence }: ConsumersStore,
  { tenantId, feed }: FeedKey,
  { created = 0n }: Head,
): Promise<number | undefined> {
  const [presence] = await silence.find([{ kind: 'publisher', tenantId, feed }])
  const silentMs = presence?.silentMs
  // A presence is noted to some minutes.
  return silentMs !== undefined && millisecondsOfTicks(created) > silentMs + minuteMs ? undefined : silentMs
}

function ofEpoch(
  acknowledgement: Acknowledgement | undefined,
  { epoch }: Head,
): { readonly sequenceNumber: number; readonly ms: number } | undefined {
  if (acknowledgement === undefined || acknowledgement.epoch !== epoch) return undefined
  return { sequenceNumber: acknowledgement.sequenceNumber, ms: acknowledgement.acknowledgedMs }
}

function eventTypeOf(
  { settings }: ConsumersStore,
  { reading }: FeedConsumer,
  { eventTypeShortCode }: FeedEvent,
): ConsumerDelivery['eventType'] {
  const catalogue = reading?.eventTypes
  if (catalogue === undefined) return null
  const number = catalogues[catalogue].property[eventTypeShortCode]
  const isOther = number !== undefined && settings.catalogue.property[eventTypeShortCode] !== number
  return isOther ? { catalogue, number } : null
}

function describe(event: FeedEvent, places: Places): DeliveredEvent {
  const { sequenceNumber, eventTypeShortCode } = event
  const category = categories.find((one) => places.has(one)) ?? null
  return { sequenceNumber, eventTypeShortCode, publishedAt: publishedAt(event), category }
}

function publishedAt({ createdDate }: FeedEvent): string {
  return `${createdDate.slice(0, 23)}Z`
}
