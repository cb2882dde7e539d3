import type { Command } from 'commander'
import { createClient, MassRemovalError } from '@property-events/client'
import type { SyncOptions, SyncResult } from '@property-events/client'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { keepCopy } from '../copy/keep-copy.ts'
import type { LocalCopy } from '../copy/local-copy.ts'
import { openCopy } from '../copy/open-copy.ts'
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
    .option('--follow', 'keep following the feed; end with Ctrl+C')
    .option('--allow-mass-removal', 'remove even if a quarter of the copy or more goes at once')
    .addHelpText(
      'after',
      '\nRun it again to bring the copy up to date; after a crash it continues where it was. It works with any server that speaks the contract.',
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
        'Stopped before the copy was up to date. Its contents stay. Run the command again to continue.',
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
  const open = await openCopy(target, () => sayReadAgain('nothing is left of the copy'))
  const keeper = keepCopy(target, open)
  const progress = createProgress(output, 'events')
  const type = flagText(flags, 'type')
  /** Of all runs together, and of those that have ended. */
  const read = { events: 0, eventsBefore: 0 }
  const options: SyncOptions = {
    checkpoint: keeper.checkpoint,
    copy: open.copy,
    ...(type === undefined ? {} : { apiEventType: type }),
    follow,
    allowMassRemoval: flags['allowMassRemoval'] === true,
    signal: outage.signal,
    onProgress: ({ done, total, events }) => {
      read.events = read.eventsBefore + events
      progress.update(read.events, total === 0 ? undefined : done / total)
    },
    onResync: sayReadAgain,
    onTrouble: (error) => output.say(error instanceof Error ? error.message : String(error)),
    apply: (batch) => keeper.apply(batch),
    // A postponed write must not wait for the next change, which may take hours.
    onCaughtUp: () => keeper.keep(false),
  }
  /** However the run ends, copy and checkpoint are on disk and agree: the next run begins there. */
  const syncOnce = async (): Promise<SyncResult> => {
    try {
      const result = await client.sync(options)
      read.events = read.eventsBefore + result.events
      return result
    } finally {
      read.eventsBefore = read.events
      await keeper.keep(true)
    }
  }
  try {
    const ended = await (follow ? outlastOutages(syncOnce, outage) : syncOnce())
    return { result: { ...ended, events: read.events, ...keeper.counts }, copy: open.copy }
  } catch (error) {
    throw error instanceof MassRemovalError ? removalRefusal(error) : error
  } finally {
    progress.end()
  }
}

function removalRefusal({ removals, held, removedBefore }: MassRemovalError): Refusal {
  const before = removedBefore === 0 ? '' : `, after ${removedBefore} removals before`
  return new Refusal(
    `The feed would remove ${removals} of ${held} in the copy${before}, so none of them was made. ` +
      'If it is right, run the command once with --allow-mass-removal.',
  )
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
