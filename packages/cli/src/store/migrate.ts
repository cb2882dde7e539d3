/** Creates a store, or brings one up to date, without serving it: as the role that owns the schema, if nodes may not change it. */
import type { Command } from 'commander'
import { catalogues } from '@property-events/protocol'
import { StorageRefusal, openStorage } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { storeSettings } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'

export function addMigrate(program: Command, context: CommandContext): void {
  const command = program
    .command('migrate')
    .description('create the store if there is none, or bring it up to date, without serving it')
  addNote(
    command,
    'Nodes do this when they start. If their database role may not change the schema, run it as the owner before a ' +
      'new version is started; nodes of the previous version keep running. Event types and the first number apply to a ' +
      'new store only.',
  )
  addSettings(command, [...storeSettings, settings.catalogue, settings.startSequence])
  addAction(command, context, async ({ output, settings: reader }) => {
    const folder = reader.value(settings.data)
    const database = reader.value(settings.database)
    const catalogue = reader.value(settings.catalogue)
    const startSequence = reader.value(settings.startSequence)
    reader.finish()
    const location =
      database === undefined
        ? ({ kind: 'sqlite', folder } as const)
        : ({ kind: 'postgres', url: database, readConnections: 1 } as const)
    const wanted = { ...location, catalogue, startSequence }
    const existing = await openStorage({ ...wanted, create: false }).catch((error: unknown) => {
      if (error instanceof StorageRefusal && error.code === 'not_a_store') return undefined
      throw error
    })
    const storage =
      existing ?? (await openStorage({ ...wanted, catalogue: catalogue ?? catalogues.default, create: true }))
    await storage.close()
    const created = existing === undefined
    if (output.json) return output.writeJson({ created })
    return output.write(created ? 'Created the store.\n' : 'The store is up to date.\n')
  })
}
