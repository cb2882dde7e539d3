/** The events of a feed as an endpoint is sent them: in its view, in the form in which its key reads them. */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { consumerOfEndpoint } from './endpoint.ts'
import type { EndpointRecord } from './endpoint.ts'
import { deliveredEvents } from '../consumers/delivered.ts'
import type { ReadCounts } from '../consumers/read-counts.ts'
import type { EventStore, StoredEvent } from '../events/event-log.ts'
import { parseEventJson } from '../events/event-json.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { success } from '../http/problem/problem.ts'
import type { KeyReading } from '../keys/key.ts'
import { committedMs } from '../live/shared-run.ts'
import type { LiveTail } from '../live/tail.ts'
import { disclosedEvents } from '../privacy/disclosure/disclosure.ts'
import type { DisclosureLog } from '../privacy/disclosure/disclosure-log.ts'
import { feedViewOf } from '../reading/feed-view.ts'
import { representCopies } from '../reading/representation/representation.ts'
import type { RepresentationOf } from '../reading/representation/representation.ts'
import type { HeldBytes } from './held-bytes.ts'
import { eventMessage } from './message.ts'
import type { EventForm } from './message.ts'
import type { MessageSource, SourceRead } from './message-source.ts'
import { windowEvents } from './plan.ts'

export interface FeedSourceParts {
  readonly events: Pick<EventStore, 'readAfter' | 'readSubject'>
  readonly tail: LiveTail
  readonly formOf: RepresentationOf
  readonly ledger: Pick<DisclosureLog, 'note'>
  readonly readCounts: Pick<ReadCounts, 'note'>
  readonly held: HeldBytes
}

/** At 4.5 kB per event some seven: so the next events of 1,000 endpoints have room in what a node keeps, and none is read twice. */
const bytesAtOnce = 32_768

export function feedSource(
  parts: FeedSourceParts,
  endpoint: EndpointRecord,
  reading: KeyReading | undefined,
): MessageSource {
  const { events, tail, formOf, held } = parts
  const { tenantId, rights, settings } = endpoint
  const key: FeedKey = { tenantId, feed: settings.feed }
  const view = feedViewOf({ branches: rights.branches }, settings.view)
  const form = formOf({ reading, contact: rights.contact }, key.feed)
  const follower = tail.follow(key)
  const kept = keptEvents(held)
  const known = () => (follower.known === 'unread' ? undefined : follower.known)

  const readOne = async (number: number): Promise<StoredEvent | undefined> => {
    const [found] = await events.readAfter({ key, view, after: number - 1, limit: 1, latestOnly: false })
    return found?.sequenceNumber === number ? found : undefined
  }
  const shown = (event: StoredEvent): Uint8Array => representCopies([event], form)[0]?.json ?? event.json

  const changesSince = async (since: number | undefined): Promise<EventForm['changesSince']> => {
    if (!settings.changes) return undefined
    const before = since === undefined ? undefined : await readOne(since)
    return before === undefined ? 'nothing' : { sequenceNumber: before.sequenceNumber, json: shown(before) }
  }

  return {
    get epoch() {
      return known()?.epoch
    },
    hasAfter: (number) => (known()?.sequenceNumber ?? 0) > number,
    async read(after, limit): Promise<SourceRead> {
      const revision = known()?.revision
      const { events: found, through } = await follower.read(view, after, bytesAtOnce)
      const taken = found.slice(0, limit)
      kept.put(taken, revision)
      return {
        events: taken.map((event) => ({ ...event, subjectId: subjectOf(key.feed, event) })),
        through: taken.length < found.length ? (taken.at(-1)?.sequenceNumber ?? after) : through,
      }
    },
    async find(subjectId, after, through) {
      const { branches } = rights
      for (let from = after; ;) {
        const [next] = await events.readSubject({ key, subjectId, after: from, limit: 1, branches })
        if (next === undefined || next.sequenceNumber > through) return undefined
        // The subject may have been in another category then.
        if ((await readOne(next.sequenceNumber)) !== undefined) return next.sequenceNumber
        from = next.sequenceNumber
      }
    },
    async message({ sequenceNumber, subjectId }, since, atMs) {
      const event = kept.take(sequenceNumber, known()?.revision) ?? (await readOne(sequenceNumber))
      const epoch = known()?.epoch
      if (event === undefined || epoch === undefined) return undefined
      const payload = key.feed === 'contact' ? 'thin' : settings.payload
      const changes = await changesSince(since)
      noteSent(parts, endpoint, key, event)
      const one = { feed: key.feed, epoch, sequenceNumber, subjectId, json: shown(event) }
      const wanted = { payload, format: settings.format, changesSince: changes }
      return { ...eventMessage(one, wanted, atMs), committedMs: committedMs([event]) }
    },
    onChange: (listener) => follower.onChange(listener),
    forget: () => kept.clear(),
    stop() {
      kept.clear()
      follower.stop()
    },
  }
}

/** Who has seen what (D28), and whom a contact was disclosed to. */
function noteSent(
  { ledger, readCounts }: FeedSourceParts,
  { endpointId, keyId }: EndpointRecord,
  key: FeedKey,
  event: StoredEvent,
): void {
  const sent = disclosedEvents(key, [event])
  if (sent !== undefined) ledger.note(keyId, sent)
  const delivered = deliveredEvents(key, [event], 'webhook')
  readCounts.note(keyId, consumerOfEndpoint(endpointId), delivered, success.ok)
}

/** Events that were read and not sent yet: the last of them, as no other is open. None is used after the feed has erased something. */
function keptEvents(held: HeldBytes) {
  const events = new Map<number, StoredEvent>()
  let revision: number | undefined

  function take(number: number): StoredEvent | undefined {
    const event = events.get(number)
    if (event === undefined) return undefined
    events.delete(number)
    held.free(event.json.byteLength)
    return event
  }

  function clear(): void {
    for (const number of events.keys()) take(number)
  }

  function keepOf(now: number | undefined): void {
    if (now !== revision) clear()
    revision = now
  }

  return {
    put(read: readonly StoredEvent[], now: number | undefined) {
      keepOf(now)
      for (const event of read) {
        take(event.sequenceNumber)
        if (held.take(event.json.byteLength)) events.set(event.sequenceNumber, event)
        // What is superseded, or waits with its property, is never taken.
        const [oldest] = events.keys()
        if (oldest !== undefined && events.size > windowEvents) take(oldest)
      }
    },
    take(number: number, now: number | undefined): StoredEvent | undefined {
      keepOf(now)
      return take(number)
    },
    clear,
  }
}

/** Endpoints that read the same share its events. */
const subjects = new WeakMap<StoredEvent, string>()

/** The subject that a payload names; a reduced one names it, too. */
function subjectOf(feed: FeedName, event: StoredEvent): string {
  const known = subjects.get(event)
  if (known !== undefined) return known
  const { buffer, byteOffset, byteLength } = event.json
  const text = Buffer.from(buffer, byteOffset, byteLength).toString()
  const payload: unknown = JSON.parse(parseEventJson(text).payload)
  const subject = Object.entries(payload ?? {}).find(([name]) => name === feeds[feed].subjectField)?.[1]
  if (typeof subject !== 'string') throw new Error(`the event ${event.sequenceNumber} names no subject`)
  const subjectId = subject.toLowerCase()
  subjects.set(event, subjectId)
  return subjectId
}
