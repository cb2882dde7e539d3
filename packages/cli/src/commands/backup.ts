import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { partialPathOf, pepperFileName, storeFileOf } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { changeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import type { Output } from '../output.ts'
import { commandLine, epochCommand, epochNumber } from '../program-name.ts'
import { whileWorking } from '../progress.ts'
import type { Measure } from '../progress.ts'
import { addSettings } from '../read-settings.ts'
import { shellWord } from '../terminal-text.ts'

export function addBackup(program: Command, context: CommandContext): void {
  const command = program
    .command('backup')
    .description('copy the store to a new file, while the service runs')
    .argument('<file>', 'the file to write; it must not exist')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [file = '']) =>
    withStore(reader, flags, async (store) => {
      const { storage, folder, database } = store
      const path = resolve(file)
      // Missing or not a folder: the machine's own error says which.
      statSync(`${dirname(path)}/.`)
      removeWhenStopped(partialPathOf(path))
      await noteBackup(store, output)
      const partial = partialPathOf(path)
      const measure = () => measureOf(partial, database === undefined ? folder : undefined)
      await whileWorking(output, 'MB', measure, storage.backup(path))
      const { size: bytes } = statSync(path)
      if (output.json) return output.writeJson({ file: path, bytes })
      return output.write(
        `${path} holds the whole store (${(bytes / 1e6).toFixed(1)} MB).\n` +
          `Keep a copy of the key pepper too, in another place (${pepperPlace(folder, database)}): without it no key works.\n` +
          (database === undefined
            ? `To restore: put it into an empty data folder as property-events.db. Before you serve it:\n` +
              `${epochCommand(' --data FOLDER')}\n`
            : `To restore, with the address of an empty database, before you serve it:\n` +
              `${commandLine(`restore ${shellWord(path)} --database ADDRESS`)}\n` +
              `${epochCommand(' --database ADDRESS')}\n`) +
          `There ${epochNumber}.\n`,
      )
    }),
  )
}

/**
 * The receipt of an erasure names the backups that still hold what it removed. Recorded before the copy is begun, because what is reduced
 * after that may be in it. A role that may only read can still make backups.
 */
async function noteBackup({ storage, actor }: OpenedStore, output: Output): Promise<void> {
  const target = storage.settings.storeId
  try {
    await storage.audit.note({ action: 'backup.begun', tenant: null, target, detail: {} }, actor)
  } catch {
    output.say('This backup could not be recorded in the store, so receipts of erasures will not name it.')
  }
}

/** How much is written. The file of a store is as long as its copy, or longer; the length of a database's copy is unknown. */
function measureOf(partial: string, folder: string | undefined): Measure {
  const { size } = statSync(partial)
  const whole = folder === undefined ? undefined : statSync(storeFileOf(folder)).size
  return { done: Math.floor(size / 1e6), part: whole === undefined ? undefined : size / whole }
}

/** A signal ends the program as always; the unfinished file, large and with contacts in it, is removed first. */
function removeWhenStopped(partial: string): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      rmSync(partial, { force: true })
      process.kill(process.pid, signal)
    })
  }
}

/** The folder if it exists: this command needs none, and it need not run in the folder of a node of the database. */
function pepperPlace(folder: string, database: string | undefined): string {
  const variable = 'PROPERTY_EVENTS_KEY_PEPPER'
  if (database !== undefined)
    return `the file "${pepperFileName}" in the data folder of a node, or ${variable}`
  const file = join(folder, pepperFileName)
  return existsSync(file) ? file : variable
}
