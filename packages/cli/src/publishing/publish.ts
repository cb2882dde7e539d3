import { join } from 'node:path'
import { parseKeyText } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { Option } from 'commander'
import type { Command } from 'commander'
import { addAction, flagFeed } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { createProgress } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import type { ServiceAddress } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { listenForStop } from '../stop-signal.ts'
import type { StopListener } from '../stop-signal.ts'
import { plainText } from '../terminal-text.ts'
import { addTotals, noTotals, stateFolder, sumOf, totalsText } from './journal.ts'
import type { Totals } from './journal.ts'
import { epochOf, publishClient, publishRefusalOf } from './publish-client.ts'
import type { PublishClient } from './publish-client.ts'
import { publishFile } from './publish-file.ts'
import type { RefusedEntry } from './read-entry.ts'
import { adviceList, entryText, reportRun } from './report.ts'
import { openRun, supersedeInterrupted, unrecordedRun } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { openSource } from './source.ts'
import type { Format, Source } from './source.ts'

const keySaysTenant =
  'publish takes no --tenant: events go to the tenant of the key, in PROPERTY_EVENTS_KEY or --key. Leave --tenant out, and make sure ' +
  'that the key belongs to that tenant.'
const restored =
  'The feed started a new epoch while the file was being published, as after a restore from a backup: it may have lost the first part ' +
  'of the file. Run the same command again; it starts a new run.'
const stoppedEarly = 'stopped before anything was sent; the same command starts again.'
/** More refused lines than this are counted and not listed: a wrong file has millions. */
const maxListed = 1000

export function addPublish(program: Command, context: CommandContext): void {
  const command = program
    .command('publish')
    .description('publish the events of a file, NDJSON or JSON, or of standard input')
    .argument('[file]', 'the file; - for standard input', '-')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--unchanged <skip|store>', "what to do with a payload equal to its subject's latest", 'skip')
    .option('--dry-run', 'report what would be refused; store nothing')
    .option('--format <ndjson|json>', 'format of the file (default: recognised by its beginning)')
    // It used to affect ids: scripts that still give it get a sentence about what decides now.
    .addOption(new Option('--tenant <id>').hideHelp())
    .option('--new-run', 'start a new run, even if one of the same file was interrupted')
  addNote(
    command,
    'Every run publishes: a file equal to an earlier one is published again, and what has not changed since is skipped. If a ' +
      'run of a file is interrupted, the same command continues it within 12 hours, and says so. A run from standard input ' +
      'cannot be continued: send the input again, and what is stored already is skipped as unchanged. ' +
      'Events may carry an id of their own; then the same id with the same content counts only once, over all runs.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
  addAction(command, context, async (invocation, [file = '-']) => {
    using stop = listenForStop()
    try {
      await publish(invocation, file, context, stop)
    } catch (error) {
      if (!stop.signal.aborted) throw error
      invocation.output.say(error instanceof Stopped ? error.message : stoppedEarly)
      context.failed(stop.exitCode)
    }
  })
}

function formatOf(flags: Invocation['flags']): Format | undefined {
  return flags['format'] === undefined ? undefined : choice<Format>(flags, 'format', ['ndjson', 'json'])
}

async function publish(
  { output, settings: reader, flags }: Invocation,
  file: string,
  context: CommandContext,
  { signal }: StopListener,
): Promise<void> {
  if (flags['tenant'] !== undefined) throw new Refusal(keySaysTenant)
  const feed = flagFeed(flags)
  const unchanged = choice(flags, 'unchanged', ['skip', 'store'])
  const address = addressFromSettings(reader)
  const dryRun = flags['dryRun'] === true
  const source = await openSource(file, formatOf(flags), signal)
  const client = clientWithNotices(address, feed, output)
  const readEpoch = () => epochOf(client, feed, address, signal)
  const epoch = source.isStream || dryRun ? '' : await readEpoch()
  const run = await runOf({ file, source, address, feed, unchanged, epoch }, dryRun, {
    folder: join(stateFolder(context.environment), 'publish'),
    isNew: flags['newRun'] === true,
    say: (sentence) => output.say(sentence),
    nowMs: Date.now(),
  })

  /** Of this command, which may be a later part of the run. */
  let totals = noTotals
  const refusedLines: RefusedEntry[] = []
  const advice = adviceList()
  const progress = createProgress(output, 'events')
  let answered = run.acknowledged
  try {
    await publishFile({
      client,
      source,
      run: run.run,
      after: run.acknowledged,
      unchanged,
      dryRun,
      signal,
      async onBatch(result, batch, isLast) {
        const { refused } = result
        totals = addTotals(totals, { ...result, refused: refused.length })
        for (const one of refused) {
          if (refusedLines.length < maxListed) refusedLines.push(one)
          if (!output.json && totals.refused <= maxListed) output.say(`refused: ${entryText(one)}`)
        }
        for (const one of advice.add(result.advice)) {
          if (!output.json) output.say(`advice: ${entryText(one)}`)
        }
        progress.update(sumOf(totals), batch.endOffset / Math.max(1, source.bytes))
        // Of several requests, the first ones may have been answered before a restore, and the last ones after it.
        if (isLast && answered > run.acknowledged && run.isKept && (await readEpoch()) !== epoch)
          throw new Refusal(restored)
        if (isLast) run.end()
        else await run.acknowledge(batch.lastPosition, addTotals(run.totals, totals))
        answered = batch.lastPosition
      },
    })
    run.end()
  } catch (thrown) {
    progress.end()
    const ending = { run, answered, totals, unchanged, dryRun, baseUrl: address.baseUrl }
    throw signal.aborted ? new Stopped(ending) : endOf(thrown, ending)
  } finally {
    run.close()
    progress.end()
    source.close()
  }
  // Before the report, because its reader may have gone.
  if (run.totals.refused + totals.refused > 0) context.failed()
  await reportRun(output, { run, totals, refusedLines, advice, dryRun })
}

/** A client that says each wait. */
function clientWithNotices(
  address: ServiceAddress,
  feed: FeedName,
  output: Invocation['output'],
): PublishClient {
  return publishClient({
    address,
    feed,
    onWait: (sentence, waitMs) => output.say(`${sentence} Trying again in ${(waitMs / 1000).toFixed(1)} s.`),
  })
}

interface RunSource {
  readonly file: string
  readonly source: Source
  readonly address: ServiceAddress
  readonly feed: FeedName
  readonly unchanged: 'skip' | 'store'
  readonly epoch: string
}

/** Publishing a file is a run that can be continued; publishing standard input, or a dry run, is not. */
async function runOf(
  { file, source, address, feed, unchanged, epoch }: RunSource,
  dryRun: boolean,
  options: RunOptions,
): Promise<Run> {
  const unit = source.format === 'json' ? 'item' : 'line'
  if (dryRun) return unrecordedRun(unit)
  const service = address.baseUrl
  if (source.isStream) {
    supersedeInterrupted({ service, feed }, options)
    return unrecordedRun(unit)
  }
  // Not the key or any part of its secret: its id, which distinguishes tenants, and the one that was named.
  const keyId = parseKeyText(address.key)?.keyId ?? ''
  const particulars = [
    keyId,
    ...(address.tenant === undefined ? [] : [address.tenant]),
    unchanged,
    source.format,
  ]
  return openRun({ file, digest: source.digest, unit, service, feed, epoch, particulars }, options)
}

/** A run that did not come to its end. */
interface Ending {
  readonly run: Run
  /** The line or item up to which the service has answered. */
  readonly answered: number
  readonly totals: Totals
  readonly unchanged: 'skip' | 'store'
  readonly dryRun: boolean
  readonly baseUrl: string
}

/** A signal has stopped the run. */
class Stopped extends Error {
  override readonly name = 'Stopped'
  constructor(ending: Ending) {
    super(`stopped after ${ending.run.unit} ${ending.answered}; ${remedyOf(ending)}`)
  }
}

/** The error that ended the run, in words for the user, with what is published and how to continue. */
function endOf(thrown: unknown, ending: Ending): unknown {
  const { totals, dryRun, baseUrl } = ending
  const error = publishRefusalOf(thrown, baseUrl)
  if (!(error instanceof Refusal) || sumOf(totals) === 0) return error
  const isFinal = dryRun || error.message === restored
  const remedy = isFinal ? '' : ` Published events stay; ${remedyOf(ending)}`
  return new Refusal(`${error.message}\nStopped at: ${totalsText(totals, dryRun)}.${remedy}`)
}

function remedyOf({ run, unchanged, dryRun }: Ending): string {
  if (dryRun) return 'a dry run stores nothing.'
  if (run.isKept) return 'the same command continues from there.'
  return unchanged === 'skip'
    ? 'send the same again: stored events are skipped as unchanged.'
    : 'send only the rest again, because with --unchanged store all of it would be stored once more.'
}

function choice<Choice extends string>(
  flags: Readonly<Record<string, unknown>>,
  name: string,
  choices: readonly Choice[],
): Choice {
  const written = flags[name]
  const chosen = choices.find((one) => one === written)
  if (chosen === undefined) {
    throw new Refusal(
      `--${name} is "${plainText(String(written))}", but must be one of ${choices.join(', ')}.`,
    )
  }
  return chosen
}
