/** Everything the store holds about one contact. */
import { placesOf, recipientsOf } from '@property-events/server'
import type { AuditRow, Erasure, Recipient, StorageEngine } from '@property-events/server'
import { memberText } from '../members.ts'

export interface ContactRecord {
  /** As they stand in the feed, in the order of their numbers. */
  readonly events: readonly unknown[]
  /** Keys that were sent any of them. */
  readonly recipients: readonly Recipient[]
  /** Of the contact, or of one of its events. */
  readonly erasures: readonly Erasure[]
  /** Rows of the audit about it and its erasures: searches are not among them, because they name nobody. */
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
  for (let after = 0; ;) {
    const query = { key, subjectId: contactRef, after, limit: eventsPerPiece }
    const piece = await storage.events.readSubject(query)
    for (const { json } of piece) events.push(JSON.parse(Buffer.from(json).toString()))
    after = piece.at(-1)?.sequenceNumber ?? after
    if (piece.length < eventsPerPiece) break
  }
  if (events.length === 0) return undefined
  const ids = new Set(events.map((event) => memberText(event, 'id')))
  const erasures = await erasuresOf(storage, tenantId, contactRef, ids)
  return {
    events,
    recipients: await recipientsOf(storage, key, await placesOf(storage, key, contactRef)),
    erasures,
    audit: await rowsAbout(storage, tenantId, [contactRef, ...erasures.map((one) => one.erasureId)]),
  }
}

async function erasuresOf(
  { erasures }: StorageEngine,
  tenantId: string,
  contactRef: string,
  eventIds: ReadonlySet<string | undefined>,
): Promise<readonly Erasure[]> {
  const about: Erasure[] = []
  for (let after: string | undefined; ;) {
    const piece = await erasures.list(tenantId, after, rowsPerPiece)
    for (const erasure of piece) {
      const { key, target } = erasure
      const isAbout =
        target.kind === 'subject' ? target.subjectId === contactRef : eventIds.has(target.eventId)
      if (key.feed === 'contact' && isAbout) about.push(erasure)
    }
    after = piece.at(-1)?.erasureId
    if (piece.length < rowsPerPiece) return about
  }
}

/** In the order of their commits. */
async function rowsAbout(
  { audit }: StorageEngine,
  tenant: string,
  targets: readonly string[],
): Promise<readonly AuditRow[]> {
  const about: AuditRow[] = []
  for (const target of targets) {
    for (let after: string | undefined; ;) {
      const rows = await audit.read({ first: 'oldest', tenant, target, after, limit: rowsPerPiece })
      if (rows === 'unknownRow') break
      about.push(...rows)
      after = rows.at(-1)?.id
      if (rows.length < rowsPerPiece) break
    }
  }
  return about.toSorted((one, other) => one.atMs - other.atMs)
}
