import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { backUpStore, partialPathOf, pepperFileName, storeFileOf } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { changeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import type { Output } from '../output.ts'
import { epochCommand, epochNumber } from '../program-name.ts'
import { withProgress } from '../progress.ts'
import type { Measure } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { settings } from '../settings/settings.ts'
import { shellWord } from '../terminal-text.ts'

export function addBackup(program: Command, context: CommandContext): void {
  const command = program
    .command('backup')
    .description('copy the store to a new file, while the service runs')
    .argument('<file>', 'the file to write; it must not exist')
  addSettings(command, changeSettings)
  addAction(command, context, async ({ output, settings: reader, flags }, [file = '']) => {
    const path = resolve(file)
    if (reader.value(settings.database) !== undefined) throw databaseRefusal(path)
    await withStore(reader, flags, async (store) => {
      const { folder } = store
      // Missing or not a folder: the machine's own error says which.
      statSync(`${dirname(path)}/.`)
      removeWhenStopped(partialPathOf(path))
      await recordBackup(store, output)
      const partial = partialPathOf(path)
      await withProgress(output, 'MB', () => measureOf(partial, folder), backUpStore(folder, path))
      const { size: bytes } = statSync(path)
      if (output.json) return output.writeJson({ file: path, bytes })
      return output.write(
        `Backed up the whole store to ${path} (${(bytes / 1e6).toFixed(1)} MB).\n` +
          `Keep a copy of the key pepper as well, somewhere else (${pepperSource(folder)}): without it no key works.\n` +
          'To restore it, copy it into an empty data folder as property-events.db. Before you serve that folder, run:\n' +
          `${epochCommand(' --data FOLDER')}\n` +
          `${epochNumber}.\n`,
      )
    })
  })
}

/** A database's own programs copy it faster, and without limits. */
function databaseRefusal(path: string): Refusal {
  return new Refusal(
    '`backup` copies a store in a data folder. PostgreSQL copies a database itself, as the role that owns the store:\n' +
      `pg_dump --format=custom --file=${shellWord(path)} ADDRESS\n` +
      'To restore it, with the address of an empty database, before you serve it:\n' +
      `pg_restore --no-owner --dbname=ADDRESS ${shellWord(path)}\n` +
      `${epochCommand(' --database ADDRESS')}\n` +
      `${epochNumber}.`,
  )
}

/**
 * The receipt of an erasure names the backups that still hold what it removed. Recorded before the copy is begun, because what is reduced
 * after that may be in it. A store on a full disk can still be copied to another one.
 */
async function recordBackup({ storage, actor }: OpenedStore, output: Output): Promise<void> {
  const target = storage.settings.storeId
  try {
    await storage.audit.note({ action: 'backup.begun', tenant: null, target, detail: {} }, actor)
  } catch {
    output.say('This backup could not be recorded in the store, so receipts of erasures will not name it.')
  }
}

/** How much is written. The file of a store is as long as its copy, or longer. */
function measureOf(partial: string, folder: string): Measure {
  const { size } = statSync(partial)
  return { done: Math.floor(size / 1e6), part: size / statSync(storeFileOf(folder)).size }
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

function pepperSource(folder: string): string {
  const file = join(folder, pepperFileName)
  return existsSync(file) ? file : 'PROPERTY_EVENTS_KEY_PEPPER'
}
