/** Erases again what an older state of the store has brought back (D17, docs/decisions/0030). */
import { setTimeout as delay } from 'node:timers/promises'
import {
  feeds,
  millisecondsOfTicks,
  parseCreatedDate,
  replayedReason,
  uuidV7,
} from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { StorageFailure } from '../storage/storage.ts'
import { parseEventJson } from '../storage/event-json.ts'
import { isErasedPayload } from '../storage/reduced-event.ts'
import { payloadMember } from '../storage/subject-identity.ts'
import type {
  Actor,
  BeginErasureOutcome,
  ErasureTarget,
  FeedKey,
  StorageEngine,
  StoredEvent,
} from '../storage/storage.ts'
import type { ListedErasure } from './erasure-list.ts'

type Store = Pick<StorageEngine, 'erasures' | 'events' | 'holds' | 'moves'>

export interface Replay {
  /** Erased again, under the ids of their old receipts. */
  readonly begun: number
  /** Of these: of an event that is the latest of its property or contact here, so that all of that one was erased. */
  readonly widened: readonly string[]
  /** Holds that stood in the way. They had ended before the erasure, or it would not have begun then, and were ended again. */
  readonly endedHolds: readonly string[]
  /** The store had them, and knows what became of them. */
  readonly known: number
  /** The store has nothing left of what they erased: it never had it, or is a copy of one that has carried them out. */
  readonly absent: number
  /** Their tenants are at home in another store now, or on the way there: they have to be erased there. */
  readonly moved: number
}

/** How many of the list the store has not carried out, and has something left of. */
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
 * Begins each of the list that the store does not know, and takes every payload of these, and of all others that are under way in
 * it, except of tenants that are being moved to another store, or were: those are carried out there, or when the tenant is back. Beside
 * nodes that serve the store, or without any. Rejects with a `StorageFailure` where the store does not let it.
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
      // What came after it is lost. What is left is how the subject was, and that is to be gone.
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

/** Stamps can be ahead of the clock by so much (PROTOCOL §5.6). */
const stampsAheadMs = 10_000
const eventsPerPiece = 100

/** Whether an event from before the erasure still has its payload. What was published about the same one later is new data. */
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

/** Of a `createdDate`, which is in UTC and does not say so: `Date.parse` would take it for local time. */
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
    const { kind } = await holds.end(key.tenantId, outcome.holdId, actor)
    if (kind === 'tenantMoving') return { kind }
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
const lookEveryMs = 100

/** Until no row has a payload any more. A node that serves the store may be at the same ones. */
async function reduceOpen({ erasures, moves }: Store): Promise<void> {
  for (const { erasureId, key, state } of await erasures.open()) {
    for (let isReduced = state !== 'reducing'; !isReduced;) {
      const { kind } = await erasures.reduce(erasureId, eventsPerStep)
      isReduced = kind === 'finished'
      if (kind === 'busy') {
        // Else by another node, which does not take long.
        if ((await moves.states()).has(key.tenantId)) break
        await delay(lookEveryMs)
        const open = await erasures.open()
        isReduced = !open.some((one) => one.erasureId === erasureId && one.state === 'reducing')
      }
    }
    // Where no node lives, none has anything of before.
    await erasures.acknowledge(erasureId, undefined)
  }
}
