/** Everything the store holds about one contact. */
import { placesOf, recipientsOf } from '@property-events/server'
import type { AuditRow, Erasure, Hold, Recipient, Restriction, StorageEngine } from '@property-events/server'
import { memberText } from '@property-events/protocol'
import { readKept } from './kept-events.ts'

export interface ContactRecord {
  /** As they are in the feed, in the order of their numbers; what is kept of a restricted contact is in its published form. */
  readonly events: readonly unknown[]
  /** Keys that were sent any of them. */
  readonly recipients: readonly Recipient[]
  /** Of the contact, or of one of its events. */
  readonly erasures: readonly Erasure[]
  readonly holds: readonly Hold[]
  readonly restrictions: readonly Restriction[]
  /** Rows of the audit about the contact and its erasures. Searches are not among them, because they name nobody. */
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
  const kept = await readKept(storage, tenantId, contactRef)
  for (let after = 0; ;) {
    const query = { key, subjectId: contactRef, after, limit: eventsPerPiece }
    const piece = await storage.events.readSubject(query)
    for (const { sequenceNumber, json } of piece)
      events.push(kept.get(sequenceNumber) ?? JSON.parse(Buffer.from(json).toString()))
    after = piece.at(-1)?.sequenceNumber ?? after
    if (piece.length < eventsPerPiece) break
  }
  if (events.length === 0) return undefined
  const ids = new Set(events.map((event) => memberText(event, 'id')))
  const erasures = await erasuresOf(storage, tenantId, contactRef, ids)
  const holds = await allAbout(
    contactRef,
    ({ holdId }: Hold) => holdId,
    (after) => storage.holds.list(tenantId, after, rowsPerPiece),
  )
  const restrictions = await allAbout(
    contactRef,
    ({ restrictionId }: Restriction) => restrictionId,
    (after) => storage.restrictions.list(tenantId, after, rowsPerPiece),
  )
  const targets = [
    ...erasures.map((one) => one.erasureId),
    ...holds.map((one) => one.holdId),
    ...restrictions.map((one) => one.restrictionId),
  ]
  return {
    events,
    recipients: await recipientsOf(storage, key, await placesOf(storage, key, contactRef)),
    erasures,
    holds,
    restrictions,
    audit: await rowsAbout(storage, tenantId, [contactRef, ...targets]),
  }
}

/** From a list that is read piece by piece, the items about the contact. */
async function allAbout<T extends { readonly key: { readonly feed: string }; readonly subjectId: string }>(
  contactRef: string,
  idOf: (one: T) => string,
  list: (after: string | undefined) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const about: T[] = []
  for (let after: string | undefined; ;) {
    const piece = await list(after)
    about.push(...piece.filter(({ key, subjectId }) => key.feed === 'contact' && subjectId === contactRef))
    const last = piece.at(-1)
    if (last === undefined || piece.length < rowsPerPiece) return about
    after = idOf(last)
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
