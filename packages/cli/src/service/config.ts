/** `config print`: the settings that a service would start with here, and where each comes from. */
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addSettings } from '../settings/read-settings.ts'
import { serveSettings } from '../settings/serve-settings.ts'
import { shownSettings } from '../settings/shown-settings.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'

export function addConfig(program: Command, context: CommandContext): void {
  const config = program.command('config').description('show the settings that serve would start with')
  const command = config
    .command('print')
    .description('show each setting, its value and where the value comes from; secrets are not shown')
  addSettings(command, serveSettings)
  addAction(command, context, ({ output, settings: reader }) => {
    const shown = shownSettings(reader)
    reader.finish()
    if (output.json) return output.writeJson(shown)
    const rows = shown.map(({ name, value, source }) => [name, plainText(wordsOf(value)), source])
    return output.write(tableText(['setting', 'value', 'from'], rows))
  })
}

function wordsOf(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : jsonText(value)
}
