/** Everything the store holds about one contact. */
import { memberOf, memberText, parseUuid } from '@property-events/protocol'
import { placesOf, recipientsOf } from '@property-events/server'
import type { AuditRow, Erasure, Hold, Recipient, Restriction, StorageEngine } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'
import { hoursText, timestampJson, timestampText, timeText } from '../timestamp-option.ts'
import { payloadOf, readKeptEvents } from './find.ts'

interface ContactRecord {
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
async function readContactRecord(
  storage: StorageEngine,
  tenantId: string,
  contactRef: string,
): Promise<ContactRecord | undefined> {
  const key = { tenantId, feed: 'contact' } as const
  const events: unknown[] = []
  const kept = await readKeptEvents(storage, tenantId, contactRef)
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

export function addExport(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('export')
    .description(
      'print everything stored about one contact: its events, who received them, and its audit rows',
    )
    .argument('<contact-ref>', 'reference of the contact, a UUID')
    .requiredOption('--tenant <tenant>', 'id or name of its tenant')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [given = '']) => {
    const contactRef = parseUuid(given)
    // Not shown: people paste names.
    if (contactRef === undefined)
      reader.fault('The argument is not the reference of a contact, which is a UUID.')
    return withStore(reader, flags, async (store) => {
      const { storage, actor } = store
      const tenant = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const { tenantId } = tenant
      const record = await readContactRecord(storage, tenantId, contactRef ?? '')
      if (record === undefined) {
        throw new Refusal(`The tenant "${plainText(tenant.name)}" has no contact ${contactRef}.`)
      }
      const target = contactRef ?? null
      await storage.audit.note({ action: 'contacts.exported', tenant: tenantId, target, detail: {} }, actor)
      if (output.json) return output.writeJson({ tenantId, contactRef, ...jsonOf(record) })
      return output.write(recordText(contactRef ?? '', plainText(tenant.name), record))
    })
  })
}

function jsonOf({ events, recipients, erasures, holds, restrictions, audit }: ContactRecord) {
  return {
    events: events.map((event) => ({ ...objectOf(event), payload: payloadOf(event) })),
    recipients: recipients.map(({ firstMs, lastMs, ...recipient }) => {
      return { ...recipient, first: timestampJson(firstMs), last: timestampJson(lastMs) }
    }),
    erasures: erasures.map(({ erasureId, state, reason, begunMs }) => {
      return { erasureId, state, reason, begun: timestampJson(begunMs) }
    }),
    holds: holds.map(({ holdId, ground, addedMs, untilMs, endedMs }) => {
      return {
        holdId,
        ground,
        added: timestampJson(addedMs),
        until: timestampJson(untilMs),
        ended: endedJson(endedMs),
      }
    }),
    restrictions: restrictions.map(({ restrictionId, state, reason, begunMs, endedMs }) => {
      return { restrictionId, state, reason, begun: timestampJson(begunMs), ended: endedJson(endedMs) }
    }),
    audit: audit.map(({ atMs, ...row }) => ({ ...row, at: timestampJson(atMs) })),
  }
}

function endedJson(ms: number | undefined): string | null {
  return ms === undefined ? null : timestampJson(ms)
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function recordText(contactRef: string, tenant: string, record: ContactRecord): string {
  const { events, recipients, erasures, holds, restrictions, audit } = record
  const versions = events.map((event) => {
    const when = timeText(memberText(event, 'createdDate') ?? '')
    const title = `${String(memberOf(event, 'sequenceNumber'))}  ${when} UTC  ${memberText(event, 'eventTypeShortCode') ?? ''}`
    return `${plainText(title)}\n${jsonText(payloadOf(event), 2)}\n`
  })
  const sent = recipients.map(({ keyId, label, events: count, firstMs, lastMs }) => {
    return [keyId, label, String(count), hoursText(timestampText(firstMs), timestampText(lastMs))]
  })
  const erased = erasures.map(({ erasureId, state, reason, begunMs }) => {
    return [timestampText(begunMs), erasureId, reason, state]
  })
  const held = holds.map(({ holdId, ground, addedMs, untilMs, endedMs }) => {
    return [timestampText(addedMs), holdId, ground, timestampText(endedMs ?? untilMs)]
  })
  const restricted = restrictions.map(({ restrictionId, state, reason, begunMs }) => {
    return [timestampText(begunMs), restrictionId, reason, state]
  })
  const rows = audit.map(({ atMs, actor, action }) => [timestampText(atMs), actor, action])
  return [
    `Contact ${contactRef} of ${tenant}\n`,
    `Events: ${events.length}\n`,
    ...versions,
    sent.length === 0
      ? 'No key is on record as having received it.\n'
      : `Sent to:\n${tableText(['key', 'label', 'events', 'sent between (UTC)'], sent)}`,
    erased.length === 0
      ? 'No erasures.\n'
      : `Erasures:\n${tableText(['started (UTC)', 'receipt', 'reason', 'state'], erased)}`,
    ...(held.length === 0 ? [] : [`Holds:\n${tableText(['added (UTC)', 'hold', 'ground', 'until'], held)}`]),
    ...(restricted.length === 0
      ? []
      : [`Restrictions:\n${tableText(['started (UTC)', 'restriction', 'reason', 'state'], restricted)}`]),
    rows.length === 0 ? 'No audit rows.\n' : `Audit:\n${tableText(['at (UTC)', 'actor', 'action'], rows)}`,
  ].join('\n')
}
