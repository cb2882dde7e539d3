/** `config print`: the settings that a service would start with here, and where each comes from. */
import type { ShownSetting } from '@property-events/server'
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addSettings } from '../settings/read-settings.ts'
import type { SettingReader, Setting } from '../settings/setting.ts'
import { serveSettings } from '../settings/serve-settings.ts'
import { variableOf } from '../settings/setting.ts'
import { jsonText, plainText, tableText, withoutSecrets } from '../terminal-text.ts'

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

/** All settings of `serve`, or only these. The reader keeps the faults it finds. */
export function shownSettings(
  reader: SettingReader,
  settings: readonly Setting<unknown>[] = serveSettings,
): readonly ShownSetting[] {
  return settings.map((setting) => shownSetting(reader, setting))
}

function shownSetting(reader: SettingReader, setting: Setting<unknown>): ShownSetting {
  const { name, secret, fallbackWords } = setting
  const source = reader.source(setting)
  const value = reader.value(setting)
  const words = source === undefined && fallbackWords !== undefined ? fallbackWords : value
  return {
    name,
    variable: variableOf(setting),
    value: secret && source !== undefined ? '(not shown)' : shownValue(words),
    source: source ?? 'default',
  }
}

/** A database's address may have a password in it. */
function shownValue(value: unknown): unknown {
  if (value === undefined) return null
  return typeof value === 'string' ? withoutSecrets(value) : value
}
