/** Which keys were sent given events, as far as it is recorded: for receipts of erasures, and for what is held about a contact (D28). */
import type { KeyStore } from '../../keys/key.ts'
import { firstIndex } from '../../runtime/first-index.ts'
import { numberRanges } from '../../runtime/number-ranges.ts'
import type { NumberRanges } from '../../runtime/number-ranges.ts'
import { numbersPerBlock } from './disclosure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { EventPosition, EventStore } from '../../events/event-log.ts'
import type { DisclosurePiece, DisclosureStore } from './disclosure.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import { hourMs } from './disclosure-log.ts'

export interface Recipient {
  readonly keyId: string
  /** The label of the key. */
  readonly label: string
  /** Start of the first and end of the last hour in which it was sent one of the events. */
  readonly firstMs: number
  readonly lastMs: number
  /** How many of the events it was sent. */
  readonly events: number
}

const piecesAtOnce = 500
const placesAtOnce = 10_000
const lastHour = 2 ** 31 - 1

/**
 * In the order of the keys' creation, including keys that have ended. `events`: in the order of their positions. The cost depends on what
 * the ledger holds for the blocks of the events, however many keys there are.
 */
export async function recipientsOf(
  { keys, ledger }: { readonly keys: KeyStore; readonly ledger: DisclosureStore },
  feed: FeedKey,
  events: readonly EventPosition[],
): Promise<readonly Recipient[]> {
  const gathered = gatherDisclosures(events)
  for await (const piece of piecesOf(ledger, feed, events)) gathered.add(piece)
  return describeKeys({ keys }, gathered.byKey)
}

/** The places of all events of a subject. Gives others a turn after each piece, because the SQLite engine answers without one. */
export async function placesOf(
  { events }: { readonly events: Pick<EventStore, 'subjectPositions'> },
  key: FeedKey,
  subjectId: string,
): Promise<readonly EventPosition[]> {
  const places: EventPosition[] = []
  for (;;) {
    const after = places.at(-1)?.position ?? 0
    const found = await events.subjectPositions({ key, subjectId, after, limit: placesAtOnce })
    for (const place of found) places.push(place)
    if (found.length < placesAtOnce) return places
    await yieldForStep()
  }
}

export interface Hours {
  readonly fromHour?: number
  /** Included. */
  readonly toHour?: number
}

/** What all keys were sent from the blocks that contain the events. Gives others a turn after each piece, as `placesOf` does. */
export async function* piecesOf(
  ledger: Pick<DisclosureStore, 'sentOf'>,
  key: FeedKey,
  events: readonly EventPosition[],
  { fromHour = 0, toHour = lastHour }: Hours = {},
): AsyncGenerator<DisclosurePiece> {
  const blocks = new Set<number>()
  for (const { position, sequenceNumber } of events) {
    for (const number of [position, sequenceNumber]) blocks.add(Math.floor(number / numbersPerBlock))
  }
  for (const block of blocks) {
    let after: DisclosurePiece | undefined
    do {
      const query = { key, block, fromHour, toHour, after, limit: piecesAtOnce }
      const pieces = await ledger.sentOf(query)
      yield* pieces
      await yieldForStep()
      after = pieces.length < piecesAtOnce ? undefined : pieces.at(-1)
    } while (after !== undefined)
  }
}

interface DisclosedToKey {
  firstHour: number
  lastHour: number
  /** Which of the events, by their indexes. */
  readonly events: NumberRanges
}

export interface GatheredDisclosures {
  add(piece: DisclosurePiece): void
  /** The keys that were sent any of the events. */
  readonly byKey: ReadonlyMap<string, DisclosedToKey>
}

/** `events`: in the order of their positions, which is that of their numbers. */
export function gatherDisclosures(events: readonly EventPosition[]): GatheredDisclosures {
  const positions = events.map(({ position }) => position)
  const sequenceNumbers = events.map(({ sequenceNumber }) => sequenceNumber)
  const byKey = new Map<string, DisclosedToKey>()

  function note({ keyId, hour }: DisclosurePiece, first: number, last: number): void {
    const known = byKey.get(keyId) ?? { firstHour: hour, lastHour: hour, events: numberRanges() }
    known.firstHour = Math.min(known.firstHour, hour)
    known.lastHour = Math.max(known.lastHour, hour)
    known.events.add(first, last)
    byKey.set(keyId, known)
  }

  return {
    byKey,
    add(piece) {
      const numbers =
        piece.view === 'numbers' ? sequenceNumbers : piece.view === 'all' ? positions : undefined
      if (numbers === undefined) return
      for (const [first, last] of piece.ranges) {
        const from = firstIndex(numbers, (number) => number < first)
        const end = firstIndex(numbers, (number) => number <= last)
        if (from < end) note(piece, from, end - 1)
      }
    },
  }
}

/** In the order of the keys' creation. */
export async function describeKeys(
  { keys }: { readonly keys: KeyStore },
  byKey: ReadonlyMap<string, DisclosedToKey>,
): Promise<readonly Recipient[]> {
  const found: { readonly createdMs: number; readonly recipient: Recipient }[] = []
  for (const [keyId, { firstHour, lastHour: last, events }] of byKey) {
    const record = (await keys.findKey(keyId))?.record
    const count = events.ranges().reduce((sum, [from, to]) => sum + to - from + 1, 0)
    const [firstMs, lastMs] = [firstHour * hourMs, (last + 1) * hourMs]
    const { label = '', createdMs = 0 } = record ?? {}
    found.push({ createdMs, recipient: { keyId, label, firstMs, lastMs, events: count } })
  }
  const inOrder = found.toSorted(
    (a, b) => a.createdMs - b.createdMs || (a.recipient.keyId < b.recipient.keyId ? -1 : 1),
  )
  return inOrder.map(({ recipient }) => recipient)
}
