/** `properties duties`: which properties that are shown now do not fit a duty by law (PROTOCOL §4.13). */
import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import type { DutyReport } from '@property-events/client'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { addressFromSettings } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText } from '../terminal-text.ts'

export function addDuties(properties: Command, context: CommandContext): void {
  const command = properties
    .command('duties')
    .description(
      'count the properties shown now that do not fit a duty by law, and name the first 100 of each',
    )
  addNote(
    command,
    'These are the duties that receipts warn of when a property is published. For a key that publishes or reads properties, of its branches. ' +
      'A property that does not occur is not lawful for that.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
  addAction(command, context, async ({ output, settings: reader }) => {
    const report = await createClient(addressFromSettings(reader)).duties()
    if (output.json) return output.writeJson(report)
    return output.write(dutiesText(report))
  })
}

function dutiesText({ advised, properties, duties }: DutyReport): string {
  if (!advised) return 'The operator has switched duties by law off for this tenant.\n'
  const lines = duties.flatMap(({ code, sentence, source, properties: count, refs }) => {
    if (count === 0) return []
    const more = count > refs.length ? [`  and ${count - refs.length} more`] : []
    return ['', `${count}  ${code}: ${sentence} (${source}).`, ...refs.map((ref) => `  ${ref}`), ...more]
  })
  const head = `Of ${properties} properties shown now, ${lines.length === 0 ? 'none lacks what is looked for.' : 'these do not fit a duty by law:'}`
  return `${[head, ...lines].map((line) => plainText(line)).join('\n')}\n`
}
