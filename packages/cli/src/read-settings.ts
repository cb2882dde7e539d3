import type { Command } from 'commander'
import { Refusal } from './refusal.ts'
import { optionNameOf, unknownVariableFaults, variableOf } from './setting.ts'
import type { Setting } from './setting.ts'
import { knownVariables } from './settings.ts'
import { plainText } from './terminal-text.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Adds the flags of these settings to a command, with their variables and defaults in the help. */
export function addSettings(command: Command, settings: readonly Setting<unknown>[]): Command {
  for (const setting of settings) {
    if (setting.variableOnly) {
      command.addHelpText('after', `\nBy variable only: ${describe(setting)}`)
      continue
    }
    const flag = setting.argument === undefined ? '' : ` <${setting.argument}>`
    command.option(`--${setting.name}${flag}`, describe(setting))
  }
  return command
}

/** Reads settings one by one and collects their faults, so that all are reported at once. */
export interface SettingReader {
  /** The flag's value, else the variable's, else the fallback; after a fault the fallback, too. */
  value<Value>(setting: Setting<Value>): Value
  /** Notes a fault of another kind. */
  fault(sentence: string): void
  /** Throws a `Refusal` with all faults, if there are any. To be called before any value is used. */
  finish(): void
}

export function readSettings(
  flags: Readonly<Record<string, unknown>>,
  environment: Environment,
): SettingReader {
  const faults = [...unknownVariableFaults(environment, knownVariables)]
  return {
    value(setting) {
      const flag = flags[optionNameOf(setting)]
      const fromFlag = flag === true ? 'on' : typeof flag === 'string' ? flag : undefined
      const written = fromFlag ?? environment[variableOf(setting)]
      // An empty variable counts as not set: compose files and units leave a variable out in that way.
      if (written === undefined || (fromFlag === undefined && written === '')) return setting.fallback
      const place = fromFlag === undefined ? variableOf(setting) : `--${setting.name}`
      try {
        const value = setting.read(written)
        if (value !== undefined) return value
        faults.push(`${place} is ${shown(setting, written)}, but must be ${setting.expected}.`)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        faults.push(error.message)
      }
      return setting.fallback
    },
    fault(sentence) {
      faults.push(sentence)
    },
    finish() {
      if (faults.length > 0) throw new Refusal(faults.join('\n'))
    },
  }
}

function shown(setting: Setting<unknown>, written: string): string {
  if (setting.secret) return `not usable (${written.length} characters, not shown)`
  return `"${plainText(written.slice(0, 100))}"`
}

function describe(setting: Setting<unknown>): string {
  const { fallback } = setting
  const isPlain = typeof fallback === 'string' || typeof fallback === 'number'
  const words = setting.fallbackWords ?? (isPlain ? String(fallback) : undefined)
  return `${setting.description} (${words === undefined ? '' : `default: ${words}, `}${variableOf(setting)})`
}
