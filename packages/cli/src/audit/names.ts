/** `audit name` and `audit forget`: the names with which actors of the audit are shown, apart from its rows (docs/decisions/0039). */
import type { Command } from 'commander'
import { isNamedActor, isTenantName, tenantNameWords } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, withStore } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import type { SettingReader } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

const actorWords = 'an actor as `audit list` shows it: key: or cli: and its id'

export function addNames(audit: Command, context: CommandContext): void {
  addName(audit, context)
  addForget(audit, context)
}

function addName(audit: Command, context: CommandContext): void {
  const command = audit
    .command('name')
    .description('say who an actor is: `audit list` then shows the name')
    .argument('<actor>', actorWords)
    .argument('<name>', 'for people')
  addNote(command, 'The name is kept apart from the rows, which never change; `audit forget` erases it.')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [actor = '', name = '']) => {
    checkActor(reader, actor)
    if (!isTenantName(name)) reader.fault(`The name has ${tenantNameWords}.`)
    return withStore(reader, flags, async ({ storage, actor: by }) => {
      await storage.names.set({ actor, name }, by)
      if (output.json) return output.writeJson({ actor, name })
      return output.write(`${actor} is shown as "${name}".\n`)
    })
  })
}

function addForget(audit: Command, context: CommandContext): void {
  const command = audit
    .command('forget')
    .description('erase the name of an actor; what it did stays on record')
    .argument('<actor>', actorWords)
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [actor = '']) => {
    checkActor(reader, actor)
    return withStore(reader, flags, async ({ storage, actor: by }) => {
      if ((await storage.names.erase(actor, by)) === 'unknown') throw new Refusal(`${actor} has no name.`)
      if (output.json) return output.writeJson({ actor, name: null })
      return output.write(`The name of ${actor} is erased. Earlier backups still have it.\n`)
    })
  })
}

function checkActor(reader: SettingReader, actor: string): void {
  if (!isNamedActor(actor)) reader.fault(`"${plainText(actor)}" is not ${actorWords}.`)
}
