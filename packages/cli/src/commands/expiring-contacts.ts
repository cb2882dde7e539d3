/** Contacts that have not changed for a long time: the list of those that will be erased, and keeping one (D17). */
import type { Command } from 'commander'
import { parseUuid } from '@property-events/protocol'
import { expiryDayMs, listedContacts, tenantRules } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import { addSettings } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { readRetention } from '../retention-settings.ts'
import { settings } from '../settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { addNote } from '../help/help-text.ts'

export function addExpiring(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('expiring')
    .description('list the contacts that will be erased because they have not changed, with the day')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant')
  addNote(
    command,
    'Name the rule that `serve` was started with; one that the tenant has of its own stands in the store. A contact is on the list for 30 days before its day. Whatever is published of it takes it off, and so does `contacts keep`.',
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
      if (days === 0) return output.write('No contacts of this tenant expire: no rule says so.\n')
      if (rows.length === 0) return output.write('No contact will be erased within 30 days.\n')
      const cells = rows.map(({ contactRef, day, unchangedSince }) => [contactRef, day, unchangedSince])
      return output.write(tableText(['contact', 'erased on', 'unchanged since'], cells))
    })
  })
}

export function addKeep(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('keep')
    .description('take a contact off the list of those that will be erased, as if it had changed today')
    .argument('<contact-ref>', 'reference of the contact, a UUID')
    .requiredOption('--tenant <tenant>', 'id or name of its tenant')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [given = '']) => {
    const contactRef = parseUuid(given)
    // Not shown: people paste names.
    if (contactRef === undefined) reader.fault('What was given is not the reference of a contact, a UUID.')
    return withStore(reader, flags, async (store) => {
      const { tenantId, name } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      if ((await store.storage.maintenance()) !== undefined) {
        throw new Refusal(
          'The store is under maintenance: a copy that is being made of it would not know that the contact is kept. Nothing was changed. Run this again when it is over.',
        )
      }
      const outcome = await store.storage.expiry.keep(tenantId, contactRef ?? '', store.actor)
      if (outcome === 'unknownContact') {
        throw new Refusal(
          `The tenant "${plainText(name)}" has no contact ${contactRef}, or it was erased. Nothing was changed.`,
        )
      }
      if (outcome === 'tenantMoving') {
        throw new Refusal(
          `The tenant "${plainText(name)}" is being moved to another store, or was. Keep the contact there. Nothing was changed.`,
        )
      }
      if (output.json) return output.writeJson({ tenantId, contactRef, kept: true })
      return output.write(`Contact ${contactRef} is kept, for as long as if it had changed today.\n`)
    })
  })
}
