/** Finding a contact, and exporting everything that is held about one, as a request for access needs it. Every use is in the audit. */
import type { Command } from 'commander'
import { parseUuid, memberOf, memberText } from '@property-events/protocol'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { contactMatch, searchKinds } from './match.ts'
import type { ContactMatch, SearchKind } from './match.ts'
import { payloadOf, findContacts } from './find.ts'
import { readContactRecord } from './export.ts'
import type { ContactRecord } from './export.ts'
import { momentJson, momentText } from '../timestamp-option.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import { createProgress } from '../progress.ts'
import { addEraseSubject } from '../privacy/erasures.ts'
import { addRestricting } from '../privacy/restrictions.ts'
import { addExpiring, addKeep } from './expiring.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'

export function addContacts(program: Command, context: CommandContext): void {
  const contacts = program
    .command('contacts')
    .description('find a contact of a tenant, export all that is held about it, restrict or erase it')
  addFind(contacts, context)
  addExport(contacts, context)
  addEraseSubject(contacts, context, 'contact')
  addRestricting(contacts, context)
  addExpiring(contacts, context)
  addKeep(contacts, context)
}

function addFind(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('find')
    .description('list the contacts that have exactly this address, number or name')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant whose contacts are searched')
    .option('--email <address>', 'an e-mail address')
    .option('--phone <number>', 'a telephone number, with or without +44')
    .option('--name <name>', 'a person’s first and last name, or the name of a company')
  addNote(
    command,
    'Reads the latest payload of every contact of the tenant, about ten thousand a second. Case, blanks and ' +
      'the way a number is written make no difference. The search is recorded, but never whom it was for.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, (invocation) => {
    const { output, settings: reader, flags } = invocation
    const wanted = readWanted(invocation)
    return withStore(reader, flags, async (store) => {
      const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const progress = createProgress(output, 'contacts searched')
      const { found, searched } = await findContacts(store.storage, tenantId, wanted.matches, (count) =>
        progress.update(count, undefined),
      )
      progress.end()
      const detail = { by: wanted.kind, found: found.length }
      await store.storage.audit.note(
        { action: 'contacts.searched', tenant: tenantId, target: null, detail },
        store.actor,
      )
      if (output.json) return output.writeJson({ found, searched })
      if (found.length === 0) return output.write(`None of ${searched} contacts matches.\n`)
      const rows = found.map(({ contactRef, sequenceNumber, createdDate }) => {
        return [contactRef, String(sequenceNumber), createdDate.slice(0, 19).replace('T', ' ')]
      })
      return output.write(tableText(['contact', 'latest event', 'of (UTC)'], rows))
    })
  })
}

function readWanted({ flags, settings: reader }: Invocation): {
  readonly kind: SearchKind
  readonly matches: ContactMatch
} {
  const given = searchKinds.filter((kind) => flagText(flags, kind) !== undefined)
  const [kind = 'email'] = given
  const matches = contactMatch(kind, flagText(flags, kind) ?? '')
  if (given.length !== 1) reader.fault('Say what to search for: one of --email, --phone and --name.')
  // The search text identifies a person, so it is not shown.
  else if (matches === undefined) {
    const looks = { email: 'an e-mail address', phone: 'a telephone number', name: 'a name' }[kind]
    reader.fault(`What was given with --${kind} is not ${looks}.`)
  }
  return { kind, matches: matches ?? (() => false) }
}

function addExport(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('export')
    .description(
      'print all that is held about one contact: its events, who was sent them, and its rows of the audit',
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
      return { ...recipient, first: momentJson(firstMs), last: momentJson(lastMs) }
    }),
    erasures: erasures.map(({ erasureId, state, reason, begunMs }) => {
      return { erasureId, state, reason, begun: momentJson(begunMs) }
    }),
    holds: holds.map(({ holdId, ground, addedMs, untilMs, endedMs }) => {
      return {
        holdId,
        ground,
        added: momentJson(addedMs),
        until: momentJson(untilMs),
        ended: endedJson(endedMs),
      }
    }),
    restrictions: restrictions.map(({ restrictionId, state, reason, begunMs, endedMs }) => {
      return { restrictionId, state, reason, begun: momentJson(begunMs), ended: endedJson(endedMs) }
    }),
    audit: audit.map(({ atMs, ...row }) => ({ ...row, at: momentJson(atMs) })),
  }
}

function endedJson(ms: number | undefined): string | null {
  return ms === undefined ? null : momentJson(ms)
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function recordText(contactRef: string, tenant: string, record: ContactRecord): string {
  const { events, recipients, erasures, holds, restrictions, audit } = record
  const versions = events.map((event) => {
    const when = (memberText(event, 'createdDate') ?? '').slice(0, 19).replace('T', ' ')
    const title = `${String(memberOf(event, 'sequenceNumber'))}  ${when} UTC  ${memberText(event, 'eventTypeShortCode') ?? ''}`
    return `${plainText(title)}\n${jsonText(payloadOf(event), 2)}\n`
  })
  const sent = recipients.map(({ keyId, label, events: count, firstMs, lastMs }) => {
    return [keyId, label, String(count), momentText(firstMs), momentText(lastMs)]
  })
  const erased = erasures.map(({ erasureId, state, reason, begunMs }) => {
    return [momentText(begunMs), erasureId, reason, state]
  })
  const held = holds.map(({ holdId, ground, addedMs, untilMs, endedMs }) => {
    return [momentText(addedMs), holdId, ground, momentText(endedMs ?? untilMs)]
  })
  const restricted = restrictions.map(({ restrictionId, state, reason, begunMs }) => {
    return [momentText(begunMs), restrictionId, reason, state]
  })
  const rows = audit.map(({ atMs, actor, action }) => [momentText(atMs), actor, action])
  return [
    `Contact ${contactRef} of ${tenant}\n`,
    `Events: ${events.length}\n`,
    ...versions,
    sent.length === 0
      ? 'There is no record that any key was sent it.\n'
      : `Sent to:\n${tableText(['key', 'label', 'events', 'from (UTC)', 'until'], sent)}`,
    erased.length === 0
      ? 'It has not been erased.\n'
      : `Erasures:\n${tableText(['begun (UTC)', 'receipt', 'reason', 'state'], erased)}`,
    ...(held.length === 0 ? [] : [`Holds:\n${tableText(['added (UTC)', 'hold', 'ground', 'until'], held)}`]),
    ...(restricted.length === 0
      ? []
      : [`Restrictions:\n${tableText(['begun (UTC)', 'restriction', 'reason', 'state'], restricted)}`]),
    rows.length === 0
      ? 'No row of the audit names it.\n'
      : `Audit:\n${tableText(['at (UTC)', 'actor', 'action'], rows)}`,
  ].join('\n')
}
