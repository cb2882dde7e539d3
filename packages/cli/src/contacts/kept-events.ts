/** What is kept of a restricted contact, in place of what its events show: for those who may reveal it. */
import type { StorageEngine } from '@property-events/server'

const eventsPerPiece = 250

/** By sequence number, the events as they were published. Empty if the contact is not restricted. */
export async function readKept(
  { restrictions }: Pick<StorageEngine, 'restrictions'>,
  tenantId: string,
  contactRef: string,
): Promise<ReadonlyMap<number, unknown>> {
  const kept = new Map<number, unknown>()
  const key = { tenantId, feed: 'contact' } as const
  for (let after = 0; ;) {
    const piece = await restrictions.kept({ key, subjectId: contactRef, after, limit: eventsPerPiece })
    for (const { sequenceNumber, json } of piece)
      kept.set(sequenceNumber, JSON.parse(Buffer.from(json).toString()))
    after = piece.at(-1)?.sequenceNumber ?? after
    if (piece.length < eventsPerPiece) return kept
  }
}

/** References of the contacts that are restricted now. */
export async function restrictedContacts(
  { restrictions }: Pick<StorageEngine, 'restrictions'>,
  tenantId: string,
): Promise<readonly string[]> {
  const contacts: string[] = []
  for (let after: string | undefined; ;) {
    const piece = await restrictions.list(tenantId, after, eventsPerPiece)
    contacts.push(...piece.flatMap(({ subjectId, endedMs }) => (endedMs === undefined ? [subjectId] : [])))
    after = piece.at(-1)?.restrictionId
    if (piece.length < eventsPerPiece) return contacts
  }
}
