/** Settings as an operator sees them: each with its value and where it was set, and no secret. */
import type { ShownSetting } from '@property-events/server'
import type { SettingReader } from './read-settings.ts'
import { serveSettings } from './serve-settings.ts'
import { variableOf } from './setting.ts'
import type { Setting } from './setting.ts'
import { withoutSecrets } from '../without-secrets.ts'

/** All settings of `serve`, or only these. The reader keeps the faults it finds. */
export function shownSettings(
  reader: SettingReader,
  settings: readonly Setting<unknown>[] = serveSettings,
): readonly ShownSetting[] {
  return settings.map((setting) => shownSetting(reader, setting))
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
