/** Who has seen what. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { joinRanges } from '../number-ranges.ts'
import {
  addedRanges,
  inOrderOfName,
  isLater,
  joinedRefusal,
  keptRanges,
  saysLiveAnew,
} from '../join-readings.ts'
import { defaultConsumer, feedName, namedConsumersPerFeed, withoutWords } from '../storage.ts'
import type {
  ConsumerName,
  ConsumerResult,
  ConsumerStore,
  Erasure,
  FeedKey,
  FirstSent,
  KeptReading,
  NotedReading,
  PutResults,
  ReadPart,
  SentSearch,
  WentLive,
} from '../storage.ts'
import type { MemorySentMinute } from './consumers-state.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryState, MemoryStore } from './state.ts'

export function memoryConsumers(store: MemoryStore): ConsumerStore {
  return {
    async add(readings) {
      const state = openState(store)
      for (const reading of readings) if (register(state, reading)) put(state, reading)
    },
    async addRefusals(refusals) {
      const { refusals: kept } = openState(store)
      for (const refusal of refusals) {
        const name = textOf(refusal.keyId, refusal.name, refusal.tenantId ?? '', refusal.code)
        kept.set(name, joinedRefusal(kept.get(name), refusal))
      }
    },
    async acknowledge(acknowledgements) {
      const state = openState(store)
      for (const one of acknowledgements) {
        if (!register(state, one)) continue
        const before = state.acknowledgements.get(consumerText(one))
        const isForward = before?.epoch !== one.epoch || one.sequenceNumber > before.sequenceNumber
        if (isForward) state.acknowledgements.set(consumerText(one), one)
      }
    },
    putResults: async (results) => putResults(store, results),
    readings: async (key) =>
      [...openState(store).readings.values()].filter(ofFeed(key)).toSorted(inOrderOfName),
    acknowledgements: async (key) =>
      [...openState(store).acknowledgements.values()].filter(ofFeed(key)).toSorted(inOrderOfName),
    refusals: async (keyIds) =>
      [...openState(store).refusals.values()].filter(({ keyId }) => keyIds.includes(keyId)),
    results: async (tenantId, subjectId) =>
      resultsOf(store, tenantId).filter((result) => result.subjectId === subjectId),
    resultsAfter: async (tenantId, after, limit) => {
      const results = resultsOf(store, tenantId).filter(
        ({ subjectId }) => after === undefined || subjectId > after,
      )
      const [cut] = results.slice(limit)
      // The results of one property stay together.
      return results.filter(({ subjectId }, index) => index < limit || subjectId <= (cut?.subjectId ?? ''))
    },
    firstSent: async (search) => firstOf([...openState(store).sentMinutes.values()], search),
    sentMinutes: async (consumer) =>
      rowsOf(openState(store), consumer).map(({ view, space, epoch, minute, route, ranges }) => {
        return { view, space, epoch, minute, route, ranges }
      }),
    async tidy({ consumers, mostRows, beforeMinute }) {
      const state = openState(store)
      for (const [name, { minute }] of state.sentMinutes) {
        if (minute < beforeMinute) state.sentMinutes.delete(name)
      }
      for (const consumer of consumers) {
        const rows = rowsOf(state, consumer)
        for (const row of rows.slice(0, Math.max(0, rows.length - mostRows))) {
          state.sentMinutes.delete(minuteText(row))
        }
      }
    },
  }
}

function putResults(store: MemoryStore, results: readonly ConsumerResult[]): PutResults {
  const state = openState(store)
  const { results: kept } = state
  const live: WentLive[] = []
  let leftOut = 0
  for (const given of results) {
    const { tenantId, subjectId, keyId, name } = given
    if (!register(state, { key: { tenantId, feed: 'property' }, keyId, name })) {
      leftOut += 1
      continue
    }
    const text = textOf(tenantId, subjectId, keyId, name)
    const before = kept.get(text)
    const result = isLater(given, before) ? withoutErased(store, given) : undefined
    if (result === undefined) continue
    kept.set(text, result)
    const publishedMs = saysLiveAnew(result, before) ? publishedMsOf(store, result) : undefined
    if (publishedMs !== undefined) live.push({ keyId, name, afterMs: result.resultMs - publishedMs })
  }
  return { live, leftOut }
}

/** The publication time of the property's latest event, if the result is about that event. */
function publishedMsOf(
  store: MemoryStore,
  { tenantId, subjectId, sequenceNumber }: ConsumerResult,
): number | undefined {
  const feed = feedOf(store, { tenantId, feed: 'property' })
  const event = feed?.events[(feed.subjects.get(subjectId)?.position ?? 0) - 1]
  return event?.sequenceNumber === sequenceNumber ? millisecondsOfTicks(event.created) : undefined
}

/** What is kept of a result (`ConsumerStore.putResults`). */
function withoutErased(store: MemoryStore, result: ConsumerResult): ConsumerResult | undefined {
  if (isErased(store, result)) return undefined
  const { tenantId, subjectId, sequenceNumber } = result
  const version = versionAt(store, { tenantId, feed: 'property' }, subjectId, sequenceNumber)
  if (version?.event.payloadState !== 'erased') return result
  return version.isLatest ? withoutWords(result) : undefined
}

/** The subject's last event up to a number. */
function versionAt(store: MemoryStore, key: FeedKey, subjectId: string, sequenceNumber: number) {
  const feed = feedOf(store, key)
  const event = feed?.events.findLast(
    (one) => one.subjectId === subjectId && one.sequenceNumber <= sequenceNumber,
  )
  const latest = feed?.events[(feed.subjects.get(subjectId)?.position ?? 0) - 1]
  return event && { event, isLatest: event === latest }
}

/** A late report on an erased version is not kept. */
function isErased(store: MemoryStore, { tenantId, subjectId, sequenceNumber }: ConsumerResult): boolean {
  return [...openState(store).erasures.values()].some(
    ({ erasure: { key, target, closing } }) =>
      key.tenantId === tenantId &&
      key.feed === 'property' &&
      target.kind === 'subject' &&
      target.subjectId === subjectId &&
      (closing?.sequenceNumber ?? 0) > sequenceNumber,
  )
}

/** An erasure removes what consumers have reported, which may quote the payloads. */
export function takeResults(store: MemoryStore, { key, target }: Pick<Erasure, 'key' | 'target'>): void {
  const { results } = openState(store)
  const erased = feedOf(store, key)?.events.find(({ id }) => target.kind === 'event' && id === target.eventId)
  for (const [name, { tenantId, subjectId, sequenceNumber }] of results) {
    if (key.feed !== 'property' || tenantId !== key.tenantId) continue
    const isMeant =
      target.kind === 'subject'
        ? subjectId === target.subjectId
        : subjectId === erased?.subjectId &&
          versionAt(store, key, subjectId, sequenceNumber)?.event === erased
    if (isMeant) results.delete(name)
  }
}

function ofFeed({ tenantId, feed }: ConsumerName['key']) {
  return ({ key }: ConsumerName): boolean => key.tenantId === tenantId && key.feed === feed
}

function resultsOf(store: MemoryStore, tenantId: string) {
  return [...openState(store).results.values()]
    .filter((result) => result.tenantId === tenantId)
    .toSorted((a, b) =>
      textOf(a.subjectId, a.keyId, a.name) < textOf(b.subjectId, b.keyId, b.name) ? -1 : 1,
    )
}

/** False if the feed already has as many consumers as are kept. */
function register({ consumers }: MemoryState, { key, keyId, name }: ConsumerName): boolean {
  const text = consumerText({ key, keyId, name })
  if (consumers.has(text)) return true
  const named = [...consumers.values()].filter((one) => ofFeed(key)(one) && one.name !== defaultConsumer)
  if (name !== defaultConsumer && named.length >= namedConsumersPerFeed) return false
  consumers.set(text, { key, keyId, name })
  return true
}

function put(state: MemoryState, reading: NotedReading): void {
  const { key, keyId, name, view, space, epoch, minutes } = reading
  const part = { key, keyId, name, view, space, epoch }
  for (const sent of minutes) {
    const row = { ...part, ...sent }
    const before = state.sentMinutes.get(minuteText(row))
    state.sentMinutes.set(minuteText(row), { ...row, ranges: joinRanges(before?.ranges ?? [], sent.ranges) })
  }
  const text = partText(part)
  const before = state.readings.get(text)
  const last = before === undefined || reading.askedMs >= before.askedMs ? reading : before
  const kept: KeptReading = {
    ...part,
    askedMs: last.askedMs,
    status: last.status,
    route: last.route,
    quietMs: Math.max(reading.quietMs ?? 0, before?.quietMs ?? 0) || undefined,
    ranges: keptRanges(joinRanges(before?.ranges ?? [], addedRanges(reading))),
  }
  state.readings.set(text, kept)
}

function rowsOf({ sentMinutes }: MemoryState, { key, keyId, name }: ConsumerName) {
  return [...sentMinutes.values()]
    .filter((row) => ofFeed(key)(row) && row.keyId === keyId && row.name === name)
    .toSorted((a, b) => a.minute - b.minute || (minuteText(a) < minuteText(b) ? -1 : 1))
}

function firstOf(rows: readonly MemorySentMinute[], search: SentSearch): readonly FirstSent[] {
  const { key, view, space, epoch, number, fromMinute } = search
  const first = new Map<string, FirstSent>()
  const found = rows.filter(
    (row) =>
      ofFeed(key)(row) &&
      row.view === view &&
      row.space === space &&
      row.epoch === epoch &&
      row.minute >= fromMinute &&
      row.ranges.some(([from, to]) => from <= number && number <= to),
  )
  for (const row of found) {
    const { keyId, name, minute, route } = row
    const before = first.get(textOf(keyId, name))
    if (before === undefined || minute < before.minute)
      first.set(textOf(keyId, name), { keyId, name, minute, route })
  }
  return [...first.values()]
}

function textOf(...parts: readonly (string | number)[]): string {
  return parts.join(' ')
}

function consumerText({ key, keyId, name }: ConsumerName): string {
  return textOf(feedName(key), keyId, name)
}

function partText({ view, space, epoch, ...consumer }: ConsumerName & ReadPart): string {
  return textOf(consumerText(consumer), view, space, epoch)
}

function minuteText(row: MemorySentMinute): string {
  return textOf(partText(row), row.minute, row.route)
}
