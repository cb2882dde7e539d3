import type { Command } from 'commander'
import { createClient, MassRemovalError } from '@property-events/client'
import type { Batch, Checkpoint, SyncProgress, SyncResult } from '@property-events/client'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import type { LocalCopy } from '../copy/local-copy.ts'
import { isFileCopy, openCopy } from '../copy/open-copy.ts'
import { refuseOtherFiles } from '../copy/other-files.ts'
import { outlastOutages, tellingOptions } from '../outage.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { settings } from '../settings.ts'
import { interruptedExitCode, stopSignal } from '../stop-signal.ts'

export function addSync(program: Command, context: CommandContext): void {
  const command = program
    .command('sync')
    .description('keep a copy of a feed: a folder with a JSON file for each property, or one NDJSON file')
    .argument('<target>', 'the folder, or a file whose name ends with .ndjson')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'only one category: salesproperty or lettingsproperty')
    .option('--follow', 'go on for ever; end with Ctrl+C')
    .option('--allow-mass-removal', 'remove even if a quarter of the copy or more goes at once')
    .addHelpText(
      'after',
      '\nRun it again to bring the copy up to date; after a crash it goes on where it was. It works with any server that speaks the contract.',
    )
  addSettings(command, [settings.url, settings.key])
  addAction(command, context, async (invocation, [target = '']) => {
    refuseOtherFiles(target)
    const { result, copy } = await syncTo(invocation, target)
    // With --follow a signal is the normal end; otherwise a script must not take half a copy for a whole one.
    const isWhole = result.ended === 'caughtUp' || invocation.flags['follow'] === true
    if (!isWhole) {
      context.failed(interruptedExitCode)
      invocation.output.say(
        'Stopped before the copy was up to date. What is in it stays. Run the command again to go on.',
      )
    }
    await report(invocation, result, copy)
  })
}

async function syncTo(
  { output, settings: reader, flags }: Invocation,
  target: string,
): Promise<{ readonly result: SyncResult; readonly copy: LocalCopy }> {
  const { feed } = flags
  if (feed !== 'property' && feed !== 'contact') throw new Refusal('--feed must be property or contact.')
  const address = addressFromSettings(reader)
  const follow = flags['follow'] === true
  const outage = { say: (line: string) => output.say(line), signal: stopSignal() }
  const client = createClient({ ...address, feed, ...tellingOptions(address.baseUrl, outage.say) })
  const sayReadAgain = (reason: string) => output.say(`The whole feed is read again (${reason}).`)
  const isFile = isFileCopy(target)
  const { copy, store } = await openCopy(target, () => sayReadAgain('nothing is left of the copy'))
  const progress = createProgress(output, 'events')
  const type = flagText(flags, 'type')
  /** The checkpoint of the copy, as long as the copy is not completely on disk. */
  let unkept: Checkpoint | undefined
  /**
   * Brings the copy to disk, and then the checkpoint of a file, so that both agree. A file may postpone it unless
   * `finished`.
   */
  const keep = async (finished: boolean): Promise<void> => {
    if (unkept === undefined || !(await copy.flush(finished))) return
    if (isFile) await store.save(unkept)
    unkept = undefined
  }
  /** Of all runs together: a run that an outage ended is followed by another. */
  const counts = { eventsBefore: 0, events: 0, changes: 0, removals: 0 }
  const options = {
    copy,
    ...(type === undefined ? {} : { apiEventType: type }),
    follow,
    allowMassRemoval: flags['allowMassRemoval'] === true,
    signal: outage.signal,
    onProgress: ({ done, total, events }: SyncProgress) => {
      counts.events = counts.eventsBefore + events
      progress.update(counts.events, total === 0 ? undefined : done / total)
    },
    onResync: sayReadAgain,
    onTrouble: (error: unknown) => output.say(error instanceof Error ? error.message : String(error)),
    apply: async (batch: Batch) => {
      await applyTo(copy, batch)
      unkept = batch.checkpoint
      counts.changes += batch.changes.length
      counts.removals += batch.changes.filter(({ kind }) => kind === 'remove').length
      await keep(false)
    },
    // A postponed write must not wait for the next change, which may take hours.
    onCaughtUp: () => keep(false),
  }
  // A file is written from time to time, so its checkpoint is kept only when the file is.
  const checkpoint = isFile ? { load: () => store.load() } : store
  /** However the run ends, copy and checkpoint are on disk and agree: the next run begins there. */
  const syncOnce = async (): Promise<SyncResult> => {
    try {
      const result = await client.sync({ ...options, checkpoint })
      counts.events = counts.eventsBefore + result.events
      return result
    } finally {
      counts.eventsBefore = counts.events
      await keep(true)
    }
  }
  try {
    const ended = await (follow ? outlastOutages(syncOnce, outage) : syncOnce())
    progress.end()
    const { events, changes, removals } = counts
    return { result: { ...ended, events, changes, removals }, copy }
  } catch (error) {
    progress.end()
    if (error instanceof MassRemovalError) {
      const { removals, held, removedBefore } = error
      const before = removedBefore === 0 ? '' : `, after ${removedBefore} that went before it`
      throw new Refusal(
        `The feed would remove ${removals} of ${held} in the copy${before}, so nothing of that was done. ` +
          'If it is right, run the command once with --allow-mass-removal.',
      )
    }
    throw error
  }
}

async function applyTo(copy: LocalCopy, { changes }: Batch): Promise<void> {
  for (const change of changes) {
    if (change.kind === 'remove') await copy.remove(change.subjectId)
    else await copy.put(change)
  }
}

async function report(
  { output }: Pick<Invocation, 'output'>,
  result: SyncResult,
  copy: LocalCopy,
): Promise<void> {
  const held = await copy.count()
  if (output.json) return output.writeJson({ ...result, held })
  const number = (value: number) => value.toLocaleString('en-GB')
  const { events, changes, removals } = result
  return output.write(
    `${number(events)} events read, ${number(changes - removals)} put, ${number(removals)} removed; the copy holds ${number(held)}\n`,
  )
}
