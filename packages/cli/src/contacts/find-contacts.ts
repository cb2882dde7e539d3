/** Looks through the latest payloads of one tenant's contacts. No index of personal data is kept for it. */
import type { StorageEngine } from '@property-events/server'
import { memberText } from '../members.ts'
import type { ContactMatch } from './contact-match.ts'

export interface FoundContact {
  readonly contactRef: string
  /** Of its latest event. */
  readonly sequenceNumber: number
  readonly createdDate: string
}

export interface ContactSearch {
  readonly found: readonly FoundContact[]
  /** How many contacts were looked at. */
  readonly searched: number
}

/** About 1 MB; publishers and readers have their turn in between. */
const contactsPerPiece = 250

export async function findContacts(
  { events }: Pick<StorageEngine, 'events'>,
  tenantId: string,
  matches: ContactMatch,
  onProgress: (searched: number) => void,
): Promise<ContactSearch> {
  const key = { tenantId, feed: 'contact' } as const
  const query = { key, view: 'all', limit: contactsPerPiece, latestOnly: true } as const
  const found: FoundContact[] = []
  let searched = 0
  for (let after = 0; ;) {
    const piece = await events.readAfter({ ...query, after })
    for (const { sequenceNumber, json } of piece) {
      const event: unknown = JSON.parse(Buffer.from(json).toString())
      const payload = payloadOf(event)
      if (!matches(payload)) continue
      const createdDate = memberText(event, 'createdDate') ?? ''
      found.push({ contactRef: memberText(payload, 'contact_ref') ?? '', sequenceNumber, createdDate })
    }
    searched += piece.length
    onProgress(searched)
    const last = piece.at(-1)
    if (last === undefined || piece.length < contactsPerPiece) return { found, searched }
    after = last.sequenceNumber
  }
}

export function payloadOf(event: unknown): unknown {
  const text = memberText(event, 'payload')
  return text === undefined ? undefined : JSON.parse(text)
}
