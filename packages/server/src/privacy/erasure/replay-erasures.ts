/** Repeats erasures whose payloads an older state of the store has brought back (D17, docs/decisions/0030). */
import type { StorageEngine } from '../../store/storage.ts'
import { setTimeout as delay } from 'node:timers/promises'
import {
  feeds,
  millisecondsOfTicks,
  parseCreatedDate,
  replayedReason,
  uuidV7,
} from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { isFeedRefusal } from '../../events/feed.ts'
import { StorageFailure } from '../../sql/storage-errors.ts'
import { parseEventJson } from '../../events/event-json.ts'
import { isErasedPayload } from '../../events/append/reduced-event.ts'
import { payloadMember } from '../../events/append/subject-identity.ts'
import type { Actor } from '../../audit/actor.ts'
import type { BeginErasureOutcome, ErasureTarget } from './erasure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { StoredEvent } from '../../events/event-log.ts'
import type { ListedErasure } from './journal.ts'

type Store = Pick<StorageEngine, 'erasures' | 'events' | 'holds'>

export interface Replay {
  /** Erased again, under the ids of their old receipts. */
  readonly begun: number
  /** Of these, the erasures of an event that is here the latest of its property or contact, so that the whole subject was erased. */
  readonly widened: readonly string[]
  /** Holds that stood in the way. They had ended before the erasure, or it would not have begun then, and were ended again. */
  readonly endedHolds: readonly string[]
  /** The store had them, and knows their outcome. */
  readonly known: number
  /** The store has nothing left of what they erased: it never had it, or is a copy of a store that has carried them out. */
  readonly absent: number
  /** Their tenants are now at home in another store, or on the way there: they have to be erased there. */
  readonly moved: number
}

/** How many erasures of the list the store has not carried out, although it has something left of them. */
export async function countMissing(store: Store, listed: readonly ListedErasure[]): Promise<number> {
  let missing = 0
  for (const one of listed) {
    const { key, erasureId } = one
    if ((await store.erasures.find(key.tenantId, erasureId)) !== undefined) continue
    if (await isLeft(store, one)) missing += 1
  }
  return missing
}

/**
 * Begins each erasure of the list that the store does not know, and removes every payload of these, and of all others under way in it. It
 * skips tenants that are being moved to another store, or have been: their erasures are carried out there, or when the tenant is back. It
 * works with or without nodes that serve the store. Rejects with a `StorageFailure` if the store does not allow it.
 */
export async function replayErasures(
  store: Store,
  listed: readonly ListedErasure[],
  actor: Actor,
): Promise<Replay> {
  let [begun, known, absent, moved] = [0, 0, 0, 0]
  const widened: string[] = []
  const endedHolds: string[] = []
  for (const one of listed) {
    const { erasureId, key, target } = one
    if ((await store.erasures.find(key.tenantId, erasureId)) !== undefined) {
      known += 1
      continue
    }
    if (!(await isLeft(store, one))) {
      absent += 1
      continue
    }
    let outcome = await begin(store, one, target, actor, endedHolds)
    if (outcome.kind === 'eventIsLatest' && target.kind === 'event') {
      // What came after it is lost. The remaining state of the subject is what should be gone.
      const subjectId = await subjectOf(store, key, target.eventId)
      outcome = await begin(store, one, { kind: 'subject', subjectId }, actor, endedHolds)
      widened.push(subjectId)
    }
    if (outcome.kind === 'begun') begun += 1
    else if (outcome.kind === 'tenantMoving') moved += 1
    else
      throw new StorageFailure('storage_unavailable', new Error(`an erasure cannot begin: ${outcome.kind}`))
  }
  await reduceOpen(store)
  return { begun, widened, endedHolds, known, absent, moved }
}

/** Stamps can be ahead of the clock by this much (PROTOCOL §5.6). */
const stampsAheadMs = 10_000
const eventsPerPiece = 100

/** Whether an event from before the erasure still has its payload. Anything published about the subject later is new data. */
async function isLeft({ events }: Store, { key, target, begunMs }: ListedErasure): Promise<boolean> {
  if (target.kind === 'event') {
    const event = await events.readEvent(key, target.eventId)
    return event !== undefined && !isErasedPayload(parsed(event).payload)
  }
  const { subjectId } = target
  for (let after = 0; ;) {
    const piece = await events.readSubject({ key, subjectId, after, limit: eventsPerPiece })
    for (const event of piece) {
      const { createdDate, payload } = parsed(event)
      if (millisecondsOf(createdDate) > begunMs + stampsAheadMs) return false
      if (!isErasedPayload(payload)) return true
    }
    after = piece.at(-1)?.sequenceNumber ?? after
    if (piece.length < eventsPerPiece) return false
  }
}

/** For a `createdDate`, which is in UTC without saying so: `Date.parse` would take it for local time. */
function millisecondsOf(createdDate: string): number {
  const ticks = parseCreatedDate(createdDate)
  if (ticks === undefined) throw new Error(`the store holds an event of ${createdDate}, which is no time`)
  return millisecondsOfTicks(ticks)
}

function parsed({ json }: StoredEvent): FeedEvent {
  return parseEventJson(new TextDecoder().decode(json))
}

async function begin(
  { erasures, holds }: Store,
  { erasureId, key }: ListedErasure,
  target: ErasureTarget,
  actor: Actor,
  endedHolds: string[],
): Promise<Exclude<BeginErasureOutcome, { kind: 'onHold' }>> {
  const request = {
    erasureId,
    key,
    target,
    reason: replayedReason,
    caseRef: undefined,
    receivedOn: undefined,
  } as const
  for (;;) {
    const outcome = await erasures.begin({ ...request, actor, closingEventId: uuidV7(Date.now()) })
    if (outcome.kind !== 'onHold') return outcome
    const ended = await holds.end(key.tenantId, outcome.holdId, actor)
    if (isFeedRefusal(ended)) return ended
    endedHolds.push(outcome.holdId)
  }
}

async function subjectOf({ events }: Store, key: FeedKey, eventId: string): Promise<string> {
  const event = await events.readEvent(key, eventId)
  const subjectId = event && payloadMember(parsed(event).payload, feeds[key.feed].subjectField)?.toLowerCase()
  if (subjectId === undefined) throw new Error(`the event ${eventId} names nobody`)
  return subjectId
}

const eventsPerStep = 200
const checkEveryMs = 100

/** Until no row has a payload any more. A node that serves the store may be working on the same ones. */
async function reduceOpen({ erasures }: Store): Promise<void> {
  for (const { erasureId, state } of await erasures.open()) {
    for (let isReduced = state !== 'reducing'; !isReduced;) {
      const outcome = await erasures.reduce(erasureId, eventsPerStep)
      if (isFeedRefusal(outcome)) break
      isReduced = outcome.kind === 'finished'
      if (outcome.kind === 'busy') {
        // Another node is doing it, which does not take long.
        await delay(checkEveryMs)
        const open = await erasures.open()
        isReduced = !open.some((one) => one.erasureId === erasureId && one.state === 'reducing')
      }
    }
    // If no node lives, none holds anything from before.
    await erasures.acknowledge(erasureId, undefined)
  }
}
