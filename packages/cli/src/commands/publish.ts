import type { Command } from 'commander'
import { parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import type { Output } from '../output.ts'
import { createProgress } from '../progress.ts'
import { openSource } from '../publish/open-source.ts'
import type { Format } from '../publish/open-source.ts'
import { publishFile } from '../publish/publish-file.ts'
import type { RefusedEntry } from '../publish/read-entry.ts'
import { addSettings } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { clientFromSettings } from '../service-client.ts'
import { settings } from '../settings.ts'
import { plainText } from '../terminal-text.ts'

/**
 * Namespace of derived ids where `--tenant` is not given. A key that may only publish cannot ask which tenant it is for,
 * and ids are unique per tenant and feed (D14), so one namespace for all does: it must only never change.
 */
const namespaceWithoutTenant = 'c9b6b1de-2f5f-5a0c-9d53-7d9b3f5f6c21'

/** More refused lines than this are counted and not listed: a wrong file has millions. */
const maxListed = 1000
/** Advice is for a first look at a new source. */
const maxAdviceShown = 20

export function addPublish(program: Command, context: CommandContext): void {
  const command = program
    .command('publish')
    .description('publish the events of a file, NDJSON or JSON, or of standard input')
    .argument('[file]', 'the file; - for standard input', '-')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--unchanged <skip|store>', "what to do with a payload equal to its subject's latest", 'skip')
    .option('--dry-run', 'say what would be refused; store nothing')
    .option('--format <ndjson|json>', 'what the file is (default: as it looks)')
    .option(
      '--tenant <id>',
      'tenant id from which ids of lines without one are derived (default: one namespace for all)',
    )
    .addHelpText(
      'after',
      '\nA line without an id gets one made of the file and the line number, so publishing the same file again repeats nothing.',
    )
  addSettings(command, [settings.url, settings.key])
  addAction(command, context, async (invocation, [file = '-']) => {
    if (!(await publish(invocation, file))) context.failed()
  })
}

/** True when nothing was refused. */
async function publish({ output, settings: reader, flags }: Invocation, file: string): Promise<boolean> {
  const feed = choice<FeedName>(flags, 'feed', ['property', 'contact'])
  const unchanged = choice(flags, 'unchanged', ['skip', 'store'])
  const format =
    flags['format'] === undefined ? undefined : choice<Format>(flags, 'format', ['ndjson', 'json'])
  const tenant = flagText(flags, 'tenant')
  const tenantId = tenant === undefined ? undefined : parseUuid(tenant)
  if (tenant !== undefined && tenantId === undefined)
    reader.fault('--tenant must be the id of a tenant, a UUID.')
  const client = clientFromSettings(reader)
  const dryRun = flags['dryRun'] === true
  const source = await openSource(file, format)

  const totals = { published: 0, repeated: 0, unchanged: 0, refused: 0 }
  const refusedLines: RefusedEntry[] = []
  let adviceShown = 0
  const progress = createProgress(output, 'events')
  const summary = () => summaryText(totals, dryRun)
  try {
    await publishFile({
      client,
      source,
      feed,
      namespace: tenantId ?? namespaceWithoutTenant,
      unchanged,
      dryRun,
      onBatch(result, fileOffset) {
        totals.published += result.published
        totals.repeated += result.repeated
        totals.unchanged += result.unchanged
        totals.refused += result.refused.length
        for (const refused of result.refused) {
          if (refusedLines.length < maxListed) refusedLines.push(refused)
          if (!output.json && totals.refused <= maxListed) output.say(`refused: ${entryText(refused)}`)
        }
        for (const advice of result.advice.slice(0, maxAdviceShown - adviceShown)) {
          adviceShown += 1
          if (!output.json) output.say(`advice: ${entryText(advice)}`)
        }
        const done = totals.published + totals.repeated + totals.unchanged + totals.refused
        progress.update(done, fileOffset / Math.max(1, source.bytes))
      },
      onWait: (sentence, waitMs) =>
        output.say(`${sentence} Trying again in ${(waitMs / 1000).toFixed(1)} s.`),
    })
  } catch (error) {
    if (!(error instanceof Refusal) || Object.values(totals).every((total) => total === 0)) throw error
    progress.end()
    throw new Refusal(
      `${error.message}\nStopped at: ${summary()}. What was published stays; the same file again repeats nothing.`,
    )
  } finally {
    progress.end()
    source.close()
  }
  await report(output, totals, refusedLines, summary())
  return totals.refused === 0
}

type Totals = Readonly<Record<'published' | 'repeated' | 'unchanged' | 'refused', number>>

async function report(
  output: Output,
  totals: Totals,
  refusedLines: readonly RefusedEntry[],
  summary: string,
): Promise<void> {
  if (!output.json) return output.write(`${summary}\n`)
  const lines = refusedLines.map(({ line, item, code, pointer, message }) => ({
    line,
    item,
    code,
    pointer,
    message,
  }))
  return output.writeJson({ ...totals, ...(lines.length > 0 ? { refusedLines: lines } : {}) })
}

function summaryText(totals: Totals, dryRun: boolean): string {
  const { published, repeated, unchanged, refused } = totals
  const number = (value: number) => value.toLocaleString('en-GB')
  const verb = dryRun ? 'would be published' : 'published'
  return `${number(published)} ${verb}, ${number(repeated)} repeated, ${number(unchanged)} unchanged, ${number(refused)} refused`
}

function entryText({ line, item, code, pointer, message }: RefusedEntry): string {
  const place = item === undefined ? `line ${line}` : `item ${item} (line ${line})`
  const at = pointer === undefined || pointer === '' ? '' : ` at ${plainText(pointer)}`
  return `${place}${at}: ${plainText(message)} (${plainText(code)})`
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
