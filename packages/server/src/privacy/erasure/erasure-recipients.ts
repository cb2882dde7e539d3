/** Who had been sent what was erased, who has been told, and who reports that it is done: computed when a receipt is read (D17, D28). */
import type { StorageEngine } from '../../store/storage.ts'
import { createdMsOf, parseEventJson } from '../../events/event-json.ts'
import { runSilenceMs, isDisclosure } from '../disclosure/disclosure.ts'
import type { Erasure, EarlierDisclosures } from './erasure.ts'
import type { KeyRecord } from '../../keys/key.ts'
import type { EventPosition } from '../../events/event-log.ts'
import { acknowledgedBy } from './erasure-acknowledged.ts'
import type { AcknowledgedConsumer } from './erasure-acknowledged.ts'
import type { TimeSpan } from '../disclosure/disclosures.ts'
import { describeKeys, gatherDisclosures, piecesOf, placesOf } from '../disclosure/recipients.ts'
import type { GatheredDisclosures, Recipient } from '../disclosure/recipients.ts'
import { hourMs } from '../disclosure/disclosure-log.ts'

export interface ErasureRecipient extends Pick<Recipient, 'keyId' | 'label'> {
  /** `possibly`: it could read the feed while a node had not reported what it sent (`unknownTimes`). */
  readonly certainty: 'sent' | 'possibly'
  /** What it was sent; `undefined` for `possibly`. */
  readonly sent: Pick<Recipient, 'events' | 'firstMs' | 'lastMs'> | undefined
  /** The time by which it was sent the event that closed the subject. `undefined`: not so far, or nothing was closed. */
  readonly toldByMs: number | undefined
  /** Its consumers, by name, with the time of each one's acknowledgement of the closing event. Empty: none is known. */
  readonly consumers: readonly AcknowledgedConsumer[]
}

export interface ErasureRecipients {
  /** First those that were sent it, then those that possibly were; each in the order of the keys' creation. */
  readonly recipients: readonly ErasureRecipient[]
  /** Times for which it is unknown what was sent, because a node crashed. */
  readonly unknownTimes: readonly TimeSpan[]
}

type RecipientStore = Pick<StorageEngine, 'consumers' | 'erasures' | 'events' | 'keys' | 'ledger'>

/**
 * `undefined`: reads of this feed are not noted. Complete from `unreachable` on, because each node has added what it had sent before.
 * What is sent later has no payload, so only `toldByMs` and `consumers` change.
 */
export async function erasureRecipients(
  store: RecipientStore,
  erasure: Erasure,
  nowMs: number,
): Promise<ErasureRecipients | undefined> {
  if (!isDisclosure(erasure.key.feed)) return undefined
  const { erased, closing } = await eventsOf(store, erasure)
  const before = await store.erasures.sentBefore(erasure.erasureId)
  const sent = await sentOf(store, erasure, erased, before)
  const closings = gatherDisclosures(closing)
  const fromHour = Math.floor(erasure.begunMs / hourMs) - 1
  for await (const piece of piecesOf(store.ledger, erasure.key, closing, { fromHour })) closings.add(piece)
  const toldBy = (keyId: string): number | undefined => {
    const hour = closings.byKey.get(keyId)?.firstHour
    return hour === undefined ? undefined : Math.min((hour + 1) * hourMs, nowMs)
  }
  const consumers = await acknowledgedBy(store, erasure)
  const whatOf = (keyId: string) => ({ toldByMs: toldBy(keyId), consumers: consumers.get(keyId) ?? [] })
  const unknownTimes = await timesUnknown(store, erasure, await firstSentMs(store, erasure), before, nowMs)
  const recipients = (await describeKeys(store, sent.byKey)).map(({ keyId, label, ...what }) => {
    return { keyId, label, certainty: 'sent', sent: what, ...whatOf(keyId) } as const
  })
  const others = unknownTimes.length === 0 ? [] : await readersWithin(store, erasure, unknownTimes)
  const possibly = others
    .filter(({ keyId }) => !sent.byKey.has(keyId))
    .map(({ keyId, label }) => {
      return { keyId, label, certainty: 'possibly', sent: undefined, ...whatOf(keyId) } as const
    })
  return { recipients: [...recipients, ...possibly], unknownTimes }
}

interface ErasedEvents {
  readonly erased: readonly EventPosition[]
  /** The event that closed the subject, if there is one. */
  readonly closing: readonly EventPosition[]
}

async function eventsOf(store: RecipientStore, { key, target, closing }: Erasure): Promise<ErasedEvents> {
  if (target.kind === 'event') {
    const position = await store.events.positionOf(key, target.eventId)
    const event = await store.events.readEvent(key, target.eventId)
    if (position === undefined || event === undefined) return { erased: [], closing: [] }
    return { erased: [{ position, sequenceNumber: event.sequenceNumber }], closing: [] }
  }
  const places = await placesOf(store, key, target.subjectId)
  const closingNumber = closing?.sequenceNumber ?? Infinity
  return {
    erased: places.filter(({ sequenceNumber }) => sequenceNumber < closingNumber),
    closing: places.filter(({ sequenceNumber }) => sequenceNumber === closingNumber),
  }
}

async function sentOf(
  { ledger }: RecipientStore,
  { key, unreachableMs }: Erasure,
  erased: readonly EventPosition[],
  before: EarlierDisclosures | undefined,
): Promise<GatheredDisclosures> {
  const sent = gatherDisclosures(erased)
  // For an erasure that a version without notes carried out, the whole hour of its end counts.
  const endHour = unreachableMs === undefined ? {} : { toHour: Math.floor(unreachableMs / hourMs) }
  const hours = before === undefined ? endHour : { toHour: before.fromHour - 1 }
  for await (const piece of piecesOf(ledger, key, erased, hours)) sent.add(piece)
  for (const piece of before?.pieces ?? []) sent.add(piece)
  return sent
}

/** When the first of the events was published. */
async function firstSentMs({ events }: RecipientStore, { key, target }: Erasure): Promise<number> {
  const event =
    target.kind === 'event'
      ? await events.readEvent(key, target.eventId)
      : (await events.readSubject({ key, subjectId: target.subjectId, after: 0, limit: 1 }))[0]
  if (event === undefined) return 0
  return createdMsOf(parseEventJson(Buffer.from(event.json).toString()))
}

/** The times for which a run had not reported (or never did) what it sent, while the events still had their payloads. */
async function timesUnknown(
  { ledger }: RecipientStore,
  { unreachableMs = Infinity }: Erasure,
  firstMs: number,
  before: EarlierDisclosures | undefined,
  nowMs: number,
): Promise<readonly TimeSpan[]> {
  const endMs = Math.min(unreachableMs, nowMs)
  const spans = (await ledger.openRuns()).flatMap(({ throughMs, lostMs }) => {
    if (lostMs === undefined && nowMs - throughMs < runSilenceMs) return []
    return [{ fromMs: throughMs, toMs: lostMs ?? nowMs }]
  })
  if (before?.doubtMs !== undefined) spans.push({ fromMs: before.doubtMs, toMs: endMs })
  const within = spans
    .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, firstMs), toMs: Math.min(toMs, endMs) }))
    .filter(({ fromMs, toMs }) => fromMs < toMs)
    .toSorted((a, b) => a.fromMs - b.fromMs)
  const joined: TimeSpan[] = []
  for (const span of within) {
    const before = joined.at(-1)
    if (before === undefined || before.toMs < span.fromMs) joined.push(span)
    else joined[joined.length - 1] = { fromMs: before.fromMs, toMs: Math.max(before.toMs, span.toMs) }
  }
  return joined
}

/** Keys that could read the feed at one of these times. Reads every key, but only after a crash. */
async function readersWithin(
  { keys }: RecipientStore,
  { key }: Erasure,
  times: readonly TimeSpan[],
): Promise<readonly KeyRecord[]> {
  const lived = ({ createdMs, revokedMs = Infinity, expiresMs = Infinity }: KeyRecord): boolean =>
    times.some(({ fromMs, toMs }) => createdMs <= toMs && Math.min(revokedMs, expiresMs) >= fromMs)
  return (await keys.keys()).filter(
    (record) =>
      lived(record) &&
      record.grants.some(
        ({ tenantId, scopes }) => tenantId === key.tenantId && scopes.includes(`${key.feed}:read`),
      ),
  )
}
