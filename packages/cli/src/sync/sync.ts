import type { SyncResult } from '@property-events/client'
import { checkName, keepTables, openTables, readTableTarget } from '@property-events/tables'
import type { CopyKeeper, TableTarget } from '@property-events/tables'
import type { Command } from 'commander'
import { addAction, flagFeed, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { Refusal } from '../refusal.ts'
import { readerFromSettings } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { interruptedExitCode, stopSignal } from '../stop-signal.ts'
import { keepCopy, openCopy } from './disk-copy.ts'
import { isTenantName, nameRule } from './keys-file.ts'
import { openResults, resultsText, withResults } from './results/with-results.ts'
import type { ResultsReport } from './results/with-results.ts'
import { readAgainSentence, runSync } from './run-sync.ts'
import { syncTenants } from './tenants.ts'
import { refuseOtherFiles } from './unsupported-targets.ts'
import { verifyCopy } from './verify.ts'

export function addSync(program: Command, context: CommandContext): void {
  const command = program
    .command('sync')
    .description('keep a copy of a feed: a folder, one NDJSON file, or tables in SQLite or PostgreSQL')
    .argument(
      '<target>',
      'a folder, a file whose name ends with .ndjson, sqlite:FILE or postgres://user@host/database',
    )
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'only one category: salesproperty or lettingsproperty')
    .option('--follow', 'keep following the feed; stop with Ctrl+C')
    .option(
      '--results <file>',
      'first report to the service the results of your site for each property; - for standard input',
    )
    .option('--verify', 'compare the copy with the feed afterwards, and list what differs')
    .option(
      '--allow-mass-removal',
      'allow removals once, even if a quarter of the copy or more would be gone',
    )
    .option('--prefix <text>', 'tables: how their names begin, such as feed_')
    .option('--schema <name>', 'PostgreSQL: schema of the tables (default: the first of the search path)')
    .option('--tenant <name>', 'tables: the name under which the listings are kept (default: main)')
    .option('--keys <file>', 'tables: a file with a line for each of many tenants: its name and its key')
    .option('--concurrency <number>', 'with --keys: how many tenants are read at a time (default: 8)')
  addNote(
    command,
    'Run it again to bring the copy up to date; after a crash it continues where it was. It works with any server that ' +
      'speaks the contract.\n\nTables hold listings as a page shows them: names for codes, prices as text, safe descriptions ' +
      '(docs/tables.md).\n\nThe copy tells the service how far it has got. --results takes lines such as {"agentRef": "…", "sequenceNumber": 7, ' +
      '"outcome": "live", "url": "https://…"} with live, held or refused (code, message), so that `why` can tell publishers. With ' +
      '--follow and - they are sent as they come.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant, settings.consumer])
  addAction(command, context, async (invocation, [target = '']) => {
    const tables = readTableTarget(target)
    refuseOptions(invocation.flags, tables)
    refuseVerifying(invocation.flags)
    refuseResults(invocation.flags)
    if (tables !== undefined && flagText(invocation.flags, 'keys') !== undefined) {
      return syncMany(invocation, tables, context)
    }
    if (tables === undefined) refuseOtherFiles(target)
    return syncOne(invocation, target, tables, context)
  })
}

async function syncOne(
  invocation: Invocation,
  target: string,
  tables: TableTarget | undefined,
  context: CommandContext,
): Promise<void> {
  const { output, flags } = invocation
  const feed = flagFeed(flags)
  if (tables !== undefined) refuseContacts(feed)
  const address = readerFromSettings(invocation.settings)
  const resultsFile = flagText(flags, 'results')
  const source = resultsFile === undefined ? undefined : openResults(resultsFile)
  const sayReadAgain = (reason: string) => output.say(readAgainSentence(reason))
  const keeper =
    tables === undefined
      ? keepCopy(target, await openCopy(target, () => sayReadAgain('nothing is left of the copy')))
      : await openKeeper(invocation, tables, sayReadAgain)
  const type = flagText(flags, 'type')
  const follow = flags['follow'] === true
  const allowMassRemoval = flags['allowMassRemoval'] === true
  const stop = stopSignal()
  const run = { address, feed, type, follow, allowMassRemoval, keeper, output, signal: stop } as const
  const both = { address, follow, output, stop } as const
  try {
    const { result, report: results } =
      source === undefined
        ? { result: await runSync(run) }
        : await withResults({ ...both, source }, (signal) => runSync({ ...run, signal }))
    if ((results?.totals.refused ?? 0) > 0) context.failed()
    // With --follow a signal is the normal end; otherwise a script must not take half a copy for a whole one.
    if (result.ended !== 'caughtUp' && !follow) {
      context.failed(interruptedExitCode)
      output.say(
        'Stopped before the copy was up to date. Its contents stay. Run the command again to continue.',
      )
    }
    const isVerified = flags['verify'] === true && result.ended === 'caughtUp'
    // One line of JSON is the answer of a command.
    if (!isVerified || !output.json) await report(invocation, result, keeper, results)
    if (isVerified && !(await verifyCopy(run))) context.failed()
  } finally {
    await keeper.close()
  }
}

async function openKeeper(
  { output, flags }: Invocation,
  target: TableTarget,
  onReadAgain: (reason: string) => void,
): Promise<CopyKeeper> {
  const tenant = tenantFlag(flags) ?? 'main'
  const tables = await openTables(target, tablesOptions(flags))
  let skipped = 0
  return keepTables({
    tables,
    tenant,
    category: categoryOf(flagText(flags, 'type')),
    onReadAgain,
    onSkipped(count) {
      if (skipped === 0) {
        output.say('Some listings have references of more than 200 characters; they are not in the tables.')
      }
      skipped += count
    },
  })
}

/** Many tenants, with the keys in a file. */
async function syncMany(invocation: Invocation, target: TableTarget, context: CommandContext): Promise<void> {
  const { flags, settings: reader } = invocation
  refuseContacts(String(flags['feed']))
  if (flagText(flags, 'key') !== undefined) throw new Refusal('Use --key or --keys, not both.')
  const concurrency = flagNumber(invocation, '--concurrency', { from: 1, to: 64 }) ?? 8
  const baseUrl = reader.value(settings.url)
  const consumer = reader.value(settings.consumer)
  const only = tenantFlag(flags)
  reader.finish()
  const isWhole = await syncTenants({
    output: invocation.output,
    baseUrl,
    consumer,
    keysFile: flagText(flags, 'keys') ?? '',
    only,
    target,
    tables: tablesOptions(flags),
    type: flagText(flags, 'type'),
    category: categoryOf(flagText(flags, 'type')),
    follow: flags['follow'] === true,
    allowMassRemoval: flags['allowMassRemoval'] === true,
    concurrency,
  })
  if (!isWhole) context.failed()
}

function tablesOptions(flags: Invocation['flags']) {
  const prefix = flagText(flags, 'prefix')
  const schema = flagText(flags, 'schema')
  return {
    prefix: prefix === undefined ? '' : checkName('--prefix', prefix),
    schema: schema === undefined ? undefined : checkName('--schema', schema),
  }
}

function tenantFlag(flags: Invocation['flags']): string | undefined {
  const tenant = flagText(flags, 'tenant')
  if (tenant === undefined || isTenantName(tenant)) return tenant
  throw new Refusal(`--tenant: ${nameRule}`)
}

function categoryOf(type: string | undefined): 'sales' | 'lettings' | undefined {
  if (type === 'salesproperty') return 'sales'
  return type === 'lettingsproperty' ? 'lettings' : undefined
}

function refuseContacts(feed: string): void {
  if (feed === 'property') return
  throw new Refusal(
    'Tables hold listings, for a website to read. Contacts are people: keep them in a folder or an NDJSON file of their own, which only you can read.',
  )
}

const tableOptions = ['prefix', 'schema', 'tenant', 'keys', 'concurrency']

/** Options that this target does not have. */
function refuseOptions(flags: Invocation['flags'], tables: TableTarget | undefined): void {
  const given = tableOptions.find((option) => flags[option] !== undefined)
  if (tables === undefined && given !== undefined) {
    throw new Refusal(
      `--${given} is for tables: the target is then sqlite:FILE or postgres://user@host/database.`,
    )
  }
  if (tables?.kind === 'sqlite' && flags['schema'] !== undefined) {
    throw new Refusal('--schema is for PostgreSQL. In SQLite --prefix sets the tables apart.')
  }
  if (flags['concurrency'] !== undefined && flags['keys'] === undefined) {
    throw new Refusal('--concurrency is for --keys.')
  }
}

/** Results are about the properties of one tenant. */
function refuseResults(flags: Invocation['flags']): void {
  if (flags['results'] === undefined) return
  if (flags['feed'] === 'contact')
    throw new Refusal('--results is about properties; leave out --feed contact.')
  if (flags['keys'] !== undefined)
    throw new Refusal('--results are those of one tenant: use --tenant and --key in place of --keys.')
}

/** A copy is compared when it is up to date, and one at a time. */
function refuseVerifying(flags: Invocation['flags']): void {
  if (flags['verify'] !== true) return
  if (flags['follow'] === true)
    throw new Refusal('Use --verify or --follow, not both: a copy is compared when it is up to date.')
  if (flags['keys'] !== undefined)
    throw new Refusal(
      '--verify compares the listings of one tenant: use --tenant and --key in place of --keys.',
    )
}

async function report(
  { output }: Pick<Invocation, 'output'>,
  result: SyncResult,
  { copy, counts }: CopyKeeper,
  results: ResultsReport | undefined,
): Promise<void> {
  const held = await copy.count()
  if (output.json) {
    const sent = results && { ...results.totals, refusedLines: results.badLines }
    return output.writeJson({ ...result, held, ...(sent === undefined ? {} : { results: sent }) })
  }
  if (results !== undefined) await output.write(`${resultsText(results.totals)}\n`)
  const number = (value: number) => value.toLocaleString('en-GB')
  const { events, changes, removals } = result
  const put = changes - removals
  // What was never in the copy was not removed from it: in a first sync that is every removal in the feed.
  const done = [
    `${number(events)} events read`,
    ...(put === 0 ? [] : [`${number(put)} written`]),
    ...(counts.removed === 0 ? [] : [`${number(counts.removed)} removed`]),
  ]
  return output.write(`${done.join(', ')}; the copy holds ${number(held)}\n`)
}
