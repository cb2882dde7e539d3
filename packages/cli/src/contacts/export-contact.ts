/** Everything the store holds about one contact. */
import { recipientsOf } from '@property-events/server'
import type { AuditRow, PlacedEvent, Recipient, StorageEngine } from '@property-events/server'
import { memberText } from '../members.ts'

export interface ContactRecord {
  /** As they stand in the feed, in the order of their numbers. */
  readonly events: readonly unknown[]
  /** Keys that were sent any of them. */
  readonly recipients: readonly (Recipient & { readonly label: string })[]
  /** Rows of the audit about it: searches are not among them, because they name nobody. */
  readonly audit: readonly AuditRow[]
}

const eventsPerPiece = 250
const rowsPerPiece = 500

/** `undefined`: the tenant has no event of this contact. */
export async function readContactRecord(
  storage: StorageEngine,
  tenantId: string,
  contactRef: string,
): Promise<ContactRecord | undefined> {
  const key = { tenantId, feed: 'contact' } as const
  const events: unknown[] = []
  const placed: PlacedEvent[] = []
  for (let after = 0; ;) {
    const query = { key, subjectId: contactRef, after, limit: eventsPerPiece }
    const piece = await storage.events.readSubject(query)
    for (const { sequenceNumber, json } of piece) {
      const event: unknown = JSON.parse(Buffer.from(json).toString())
      events.push(event)
      const position = await storage.events.positionOf(key, memberText(event, 'id') ?? '')
      if (position !== undefined) placed.push({ position, sequenceNumber })
    }
    after = piece.at(-1)?.sequenceNumber ?? after
    if (piece.length < eventsPerPiece) break
  }
  if (events.length === 0) return undefined
  const labels = new Map((await storage.keys.keys()).map(({ keyId, label }) => [keyId, label]))
  const recipients = await recipientsOf(storage, key, placed)
  return {
    events,
    recipients: recipients.map((one) => ({ ...one, label: labels.get(one.keyId) ?? '' })),
    audit: await rowsAbout(storage, tenantId, contactRef),
  }
}

async function rowsAbout(
  { audit }: StorageEngine,
  tenant: string,
  target: string,
): Promise<readonly AuditRow[]> {
  const about: AuditRow[] = []
  for (;;) {
    const after = about.at(-1)?.id
    const rows = await audit.read({ first: 'oldest', tenant, target, after, limit: rowsPerPiece })
    if (rows === 'unknownRow') return about
    about.push(...rows)
    if (rows.length < rowsPerPiece) return about
  }
}
