/** Which keys were sent given events, as far as it is noted: for a receipt, and for whoever asks what is held about them (D28). */
import type { FeedKey, SentPiece, StorageEngine } from '../storage/storage.ts'
import { hourMs } from './sent-ledger.ts'

export interface PlacedEvent {
  readonly position: number
  readonly sequenceNumber: number
}

export interface Recipient {
  readonly keyId: string
  /** Start of the first and end of the last hour in which one of the events was sent to it. */
  readonly firstMs: number
  readonly lastMs: number
  /** How many of the events it was sent. */
  readonly events: number
}

const piecesAtOnce = 500
const lastHour = 2 ** 31 - 1

/** In the order in which the keys were made. */
export async function recipientsOf(
  { keys, ledger }: Pick<StorageEngine, 'keys' | 'ledger'>,
  feed: FeedKey,
  events: readonly PlacedEvent[],
): Promise<readonly Recipient[]> {
  const recipients: Recipient[] = []
  for (const { keyId } of await keys.keys()) {
    const sent = new Set<PlacedEvent>()
    const hours: number[] = []
    let after: SentPiece | undefined
    do {
      const query = { keyId, fromHour: 0, toHour: lastHour, after, limit: piecesAtOnce }
      const pieces = await ledger.sent(query)
      for (const piece of pieces) {
        if (piece.key.tenantId !== feed.tenantId || piece.key.feed !== feed.feed) continue
        const held = events.filter((event) => holds(piece, event))
        for (const event of held) sent.add(event)
        if (held.length > 0) hours.push(piece.hour)
      }
      after = pieces.length < piecesAtOnce ? undefined : pieces.at(-1)
    } while (after !== undefined)
    if (sent.size === 0) continue
    const [first, last] = [Math.min(...hours), Math.max(...hours)]
    recipients.push({ keyId, firstMs: first * hourMs, lastMs: (last + 1) * hourMs, events: sent.size })
  }
  return recipients
}

function holds({ view, ranges }: SentPiece, { position, sequenceNumber }: PlacedEvent): boolean {
  const number = view === 'numbers' ? sequenceNumber : view === 'all' ? position : undefined
  return number !== undefined && ranges.some(([first, last]) => number >= first && number <= last)
}
