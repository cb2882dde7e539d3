/** Searches the latest payloads of one tenant's contacts. There is no index of personal data for this. */
import type { StorageEngine } from '@property-events/server'
import { memberText } from '@property-events/protocol'
import type { ContactMatch } from './match.ts'
import { readKept, restrictedContacts } from './kept-events.ts'

export interface FoundContact {
  readonly contactRef: string
  /** The number of its latest event. */
  readonly sequenceNumber: number
  readonly createdDate: string
}

export interface ContactSearch {
  readonly found: readonly FoundContact[]
  /** How many contacts were looked at. */
  readonly searched: number
}

/** About 1 MB; publishers and readers get their turn in between. */
const contactsPerPiece = 250

export async function findContacts(
  storage: Pick<StorageEngine, 'events' | 'restrictions'>,
  tenantId: string,
  matches: ContactMatch,
  onProgress: (searched: number) => void,
): Promise<ContactSearch> {
  const key = { tenantId, feed: 'contact' } as const
  const query = { key, view: 'all', limit: contactsPerPiece, latestOnly: true } as const
  const found: FoundContact[] = []
  let searched = 0
  for (let after = 0; ;) {
    const piece = await storage.events.readAfter({ ...query, after })
    for (const { sequenceNumber, json } of piece) {
      found.push(...match(sequenceNumber, JSON.parse(Buffer.from(json).toString()), matches))
    }
    searched += piece.length
    onProgress(searched)
    const last = piece.at(-1)
    if (last === undefined || piece.length < contactsPerPiece) break
    after = last.sequenceNumber
  }
  // What is shown of restricted contacts is nothing, so their kept payloads are searched.
  for (const contactRef of await restrictedContacts(storage, tenantId)) {
    const latest = [...(await readKept(storage, tenantId, contactRef))].at(-1)
    if (latest !== undefined) found.push(...match(...latest, matches))
  }
  return { found, searched }
}

function match(sequenceNumber: number, event: unknown, matches: ContactMatch): readonly FoundContact[] {
  const payload = payloadOf(event)
  if (!matches(payload)) return []
  const createdDate = memberText(event, 'createdDate') ?? ''
  return [{ contactRef: memberText(payload, 'contact_ref') ?? '', sequenceNumber, createdDate }]
}

export function payloadOf(event: unknown): unknown {
  const text = memberText(event, 'payload')
  return text === undefined ? undefined : JSON.parse(text)
}
