import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openStorage } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { storeFlags } from '../open-store.ts'
import { epochCommand, epochNumber } from '../program-name.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../read-settings.ts'
import { settings } from '../settings.ts'

export function addRestore(program: Command, context: CommandContext): void {
  const command = program
    .command('restore')
    .description('fill an empty database from a file that backup has written')
    .argument('<file>', 'the file')
  addSettings(command, [settings.database])
  addAction(command, context, async ({ output, settings: reader, flags }, [file = '']) => {
    const url = reader.value(settings.database)
    if (url === undefined) {
      reader.fault(
        'Name the empty database with --database. A backup of a data folder needs no restoring: put it into an empty ' +
          'folder as property-events.db.',
      )
    }
    reader.finish()
    const path = resolve(file)
    const { size } = statSync(path)
    const progress = createProgress(output, 'MB')
    const onFilled = (bytes: number): void => progress.update(Math.floor(bytes / 1e6), bytes / size)
    await using storage = await openStorage({
      kind: 'postgres',
      url: url ?? '',
      file: path,
      onFilled,
      create: false,
    }).finally(() => progress.end())
    const tenants = (await storage.keys.tenants()).length
    if (output.json) return output.writeJson({ file: path, tenants })
    return output.write(
      `The database now holds the contents of ${path}, with ${tenants} tenants. Before you serve it:\n` +
        `${epochCommand(storeFlags(flags, settings.data.fallback))}\n` +
        `There ${epochNumber}.\n`,
    )
  })
}
