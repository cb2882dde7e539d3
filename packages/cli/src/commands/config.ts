/** `config print`: the settings that a service would start with here, and where each comes from. */
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addSettings } from '../read-settings.ts'
import type { SettingReader } from '../read-settings.ts'
import { variableOf } from '../setting.ts'
import type { Setting } from '../setting.ts'
import { serveSettings } from '../start-service.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'
import { withoutSecrets } from '../without-secrets.ts'

export function addConfig(program: Command, context: CommandContext): void {
  const config = program.command('config').description('show what serve would start with')
  const command = config
    .command('print')
    .description('show each setting, its value and where that stands; secrets are not shown')
  addSettings(command, serveSettings)
  addAction(command, context, ({ output, settings: reader }) => {
    const shown = serveSettings.map((setting) => shownSetting(reader, setting))
    reader.finish()
    if (output.json) return output.writeJson(shown)
    const rows = shown.map(({ name, value, source }) => [name, plainText(wordsOf(value)), source])
    return output.write(tableText(['setting', 'value', 'from'], rows))
  })
}

interface ShownSetting {
  readonly name: string
  /** As `PROPERTY_EVENTS_` variables name it. */
  readonly variable: string
  readonly value: unknown
  readonly source: string
}

function shownSetting(reader: SettingReader, setting: Setting<unknown>): ShownSetting {
  const { name, secret, fallbackWords } = setting
  const place = reader.place(setting)
  const value = reader.value(setting)
  const words = place === undefined && fallbackWords !== undefined ? fallbackWords : value
  return {
    name,
    variable: variableOf(setting),
    value: secret && place !== undefined ? '(not shown)' : shownValue(words),
    source: place ?? 'default',
  }
}

/** A database's address may have a password in it. */
function shownValue(value: unknown): unknown {
  if (value === undefined) return null
  return typeof value === 'string' ? withoutSecrets(value) : value
}

function wordsOf(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : jsonText(value)
}
