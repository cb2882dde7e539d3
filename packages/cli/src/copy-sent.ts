/** What keys were sent, for a copy of a store or of one tenant: it is kept as long as the events are. */
import type { SentPiece, StorageEngine } from '@property-events/server'

const piecesAtOnce = 500
const lastHour = 2 ** 31 - 1

/** Pieces that already exist are joined. What a node of the source has not added yet is not copied. */
export async function copySent(from: StorageEngine, to: StorageEngine, tenantId?: string): Promise<void> {
  for (const { keyId } of await from.keys.keys()) {
    let after: SentPiece | undefined
    do {
      const query = { keyId, fromHour: 0, toHour: lastHour, after, limit: piecesAtOnce }
      const pieces = await from.ledger.sent(query)
      const wanted = pieces.filter(({ key }) => tenantId === undefined || key.tenantId === tenantId)
      if (wanted.length > 0) await to.ledger.add(wanted)
      after = pieces.length < piecesAtOnce ? undefined : pieces.at(-1)
    } while (after !== undefined)
  }
}
