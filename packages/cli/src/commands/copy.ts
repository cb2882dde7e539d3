import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openStorage } from '@property-events/server'
import type { StorageEngine } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { copyStore } from '../copy-store.ts'
import { createProgress } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import { stopSignal } from '../stop-signal.ts'
import { tableText } from '../terminal-text.ts'

const place = 'data folder, or postgres:// address of a database'

export function addCopy(program: Command, context: CommandContext): void {
  const command = program
    .command('copy')
    .description('copy a store into another one, with every id, number, time and byte')
    .requiredOption('--from <store>', `${place}; it may be in use`)
    .requiredOption('--to <store>', `${place}; made if there is none`)
    .addHelpText(
      'after',
      '\nRun again it goes on where it stopped, and takes in what has come since. To move for good: stop publishing, run it\n' +
        'a last time, and serve the new store with the old key pepper.',
    )
  addAction(command, context, async ({ output, settings, flags }) => {
    const [source, target] = [flagText(flags, 'from') ?? '', flagText(flags, 'to') ?? '']
    if (source === '' || target === '' || source === target) {
      settings.fault(
        '--from and --to are two different stores: a data folder or the address of a database each.',
      )
    }
    settings.finish()
    await using from = await openStorage({ ...placeOf(source), create: false })
    await using to = await openTarget(target, from)
    if (to.settings.storeId === from.settings.storeId) {
      throw new Refusal(
        '--from and --to are one store under two names, or a backup of it. Copy into an empty store of its own.',
      )
    }
    const progress = createProgress(output, 'events copied')
    const feeds = await copyStore({
      from,
      to,
      onProgress: (events) => progress.update(events, undefined),
      signal: stopSignal(),
    })
    progress.end()
    if (output.json) {
      return output.writeJson(feeds.map(({ key, events, checksum }) => ({ ...key, events, checksum })))
    }
    const rows = feeds.map(({ key, events, checksum }) => [
      key.tenantId,
      key.feed,
      String(events),
      checksum.slice(0, 16),
    ])
    return output.write(tableText(['tenant', 'feed', 'events', 'checksum'], rows))
  })
}

function placeOf(store: string) {
  return /^postgres(ql)?:\/\//.test(store)
    ? ({ kind: 'postgres', url: store, readConnections: 2 } as const)
    : ({ kind: 'sqlite', folder: resolve(store) } as const)
}

/** With the source's event types and start: their numbers stand in the events. */
function openTarget(store: string, { settings }: StorageEngine): Promise<StorageEngine> {
  const { catalogue, startSequence } = settings
  return openStorage({ ...placeOf(store), catalogue, startSequence, create: true })
}
