/** Contacts of a tenant: the group of commands, and those that will be erased because they have not changed for a long time (D17). */
import { parseUuid } from '@property-events/protocol'
import { expiryDayMs, listedContacts, tenantRules } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import { addEraseSubject } from '../privacy/erasures.ts'
import { addRestrictionCommands } from '../privacy/restrictions.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { readRetention } from '../settings/retention-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { addExport } from './export.ts'
import { addFind } from './find.ts'

function addExpiring(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('expiring')
    .description('list the contacts that will be erased because they have not changed, and when')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant')
  addNote(
    command,
    'Pass the same rule as `serve`; a rule set for the tenant is in the store. A contact is on the list for the 30 days before it is erased. Anything published about it takes it off the list, and so does `contacts keep`.',
  )
  addSettings(command, [...changeSettings, settings.expireContacts])
  addAction(command, context, ({ output, settings: reader, flags }) => {
    const defaults = readRetention(reader)
    return withStore(reader, flags, async (store) => {
      const { storage } = store
      const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const rules = await tenantRules(storage, defaults)
      const days = rules.find((one) => one.tenantId === tenantId)?.days('expire-contacts') ?? 0
      const listed = days === 0 ? [] : await Array.fromAsync(listedContacts(storage.expiry, tenantId))
      const rows = listed
        .map((contact) => {
          const day = new Date(expiryDayMs(contact, days)).toISOString().slice(0, 10)
          const unchangedSince = new Date(contact.unchangedSinceMs).toISOString().slice(0, 10)
          return { contactRef: contact.subjectId, day, unchangedSince }
        })
        .toSorted((a, b) => (a.day < b.day ? -1 : 1))
      if (output.json) return output.writeJson(rows)
      if (days === 0) return output.write('No contacts of this tenant expire: no rule is set.\n')
      if (rows.length === 0) return output.write('No contact will be erased within 30 days.\n')
      const cells = rows.map(({ contactRef, day, unchangedSince }) => [contactRef, day, unchangedSince])
      return output.write(tableText(['contact', 'erased on', 'unchanged since'], cells))
    })
  })
}

function addKeep(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('keep')
    .description('keep a contact that would be erased, as if it had changed today')
    .argument('<contact-ref>', 'reference of the contact, a UUID')
    .requiredOption('--tenant <tenant>', 'id or name of its tenant')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [given = '']) => {
    const contactRef = parseUuid(given)
    // Not shown: people paste names.
    if (contactRef === undefined)
      reader.fault('The argument is not the reference of a contact, which is a UUID.')
    return withStore(reader, flags, async (store) => {
      const { tenantId, name } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      if ((await store.storage.maintenance()) !== undefined) {
        throw new Refusal(
          'The store is under maintenance, and a copy made of it now might not know that the contact is kept. Nothing was changed. Run this again when maintenance is over.',
        )
      }
      const outcome = await store.storage.expiry.keep(tenantId, contactRef ?? '', store.actor)
      if (outcome.kind === 'unknownContact') {
        throw new Refusal(
          `The tenant "${plainText(name)}" has no contact ${contactRef}, or it was erased. Nothing was changed.`,
        )
      }
      if (outcome.kind !== 'kept') {
        throw new Refusal(
          `The tenant "${plainText(name)}" is being moved to another store, or has been. Nothing was changed. Keep the contact there.`,
        )
      }
      if (output.json) return output.writeJson({ tenantId, contactRef, kept: true })
      return output.write(`Contact ${contactRef} is kept, as if it had changed today.\n`)
    })
  })
}

export function addContacts(program: Command, context: CommandContext): void {
  const contacts = program
    .command('contacts')
    .description('find contacts of a tenant, export everything stored about one, restrict or erase it')
  addFind(contacts, context)
  addExport(contacts, context)
  addEraseSubject(contacts, context, 'contact')
  addRestrictionCommands(contacts, context)
  addExpiring(contacts, context)
  addKeep(contacts, context)
}
