import { readFileSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { addItems } from '../help/help-text.ts'
import { Refusal } from '../refusal.ts'
import { plainText, withoutPassword } from '../terminal-text.ts'
import { fileVariableOf, optionNameOf, unknownVariableFaults, variableOf } from './setting.ts'
import type { Environment, Setting, SettingReader } from './setting.ts'
import { variableNames } from './settings.ts'

/** Adds the flags of these settings to a command, with their variables and defaults in the help. */
export function addSettings(command: Command, settings: readonly Setting<unknown>[]): Command {
  for (const setting of settings.filter(({ variableOnly }) => !variableOnly)) {
    const flag = setting.argument === undefined ? '' : ` <${setting.argument}>`
    command.option(`--${setting.name}${flag}`, describe(setting, variablesOf(setting)))
  }
  const byVariable = settings
    .filter(({ variableOnly }) => variableOnly)
    .map((setting) => ({ term: variablesOf(setting), description: describe(setting) }))
  if (byVariable.length > 0) addItems(command, 'By variable only:', byVariable)
  return command
}

export function readSettings(
  flags: Readonly<Record<string, unknown>>,
  environment: Environment,
): SettingReader {
  const faults = [...unknownVariableFaults(environment, variableNames)]
  return {
    value(setting) {
      try {
        const found = find(setting, flags, environment)
        if (found === undefined) return setting.fallback
        const { written, source } = found
        const value = setting.read(written)
        if (value !== undefined) return value
        faults.push(`${source} is ${shown(setting, written)}, but must be ${setting.expected}.`)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        faults.push(error.message)
      }
      return setting.fallback
    },
    source: (setting) => find(setting, flags, environment)?.source,
    fault(sentence) {
      faults.push(sentence)
    },
    finish() {
      if (faults.length > 0) throw new Refusal(faults.join('\n'))
    },
  }
}

interface WrittenValue {
  readonly written: string
  /** The flag or variable that sets it, or that names the file with it. */
  readonly source: string
}

function find(
  setting: Setting<unknown>,
  flags: Readonly<Record<string, unknown>>,
  environment: Environment,
): WrittenValue | undefined {
  const flag = flags[optionNameOf(setting)]
  if (flag === true) return { written: 'on', source: `--${setting.name}` }
  if (typeof flag === 'string') return { written: flag, source: `--${setting.name}` }
  // An empty variable counts as not set: compose files and units leave a variable out in that way.
  const variable = variableOf(setting)
  const written = environment[variable] || undefined
  const fileVariable = fileVariableOf(setting)
  const file = fileVariable === undefined ? undefined : environment[fileVariable] || undefined
  if (fileVariable === undefined || file === undefined) {
    return written === undefined ? undefined : { written, source: variable }
  }
  if (written !== undefined)
    throw new Refusal(`${variable} and ${fileVariable} are both set. Leave one of them out.`)
  return { written: secretIn(file, fileVariable), source: `The content of the file in ${fileVariable}` }
}

/** The text of the file, without the line feed that editors leave at its end. */
function secretIn(file: string, variable: string): string {
  try {
    // Secrets of containers are mounted for all users of the container.
    if (
      process.platform !== 'win32' &&
      (statSync(file).mode & 0o004) !== 0 &&
      !file.startsWith('/run/secrets/')
    )
      warn(`${plainText(file)} contains a secret, and every user of this machine can read it: chmod 600 it.`)
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new Refusal(
      `${variable} is "${plainText(file)}", which cannot be read${code}. Name a file that this user may read.`,
    )
  }
}

const warned = new Set<string>()

/** Once each: a command may read a setting several times. */
function warn(sentence: string): void {
  if (!warned.has(sentence)) process.stderr.write(`${sentence}\n`)
  warned.add(sentence)
}

function shown(setting: Setting<unknown>, written: string): string {
  if (setting.secret) return `invalid (${written.length} characters, not shown)`
  return `"${plainText(withoutPassword(written).slice(0, 100))}"`
}

function describe(setting: Setting<unknown>, variables?: string): string {
  const { fallback } = setting
  const isPlain = typeof fallback === 'string' || typeof fallback === 'number'
  const words = setting.fallbackWords ?? (isPlain ? String(fallback) : undefined)
  const facts = [words === undefined ? [] : `default: ${words}`, variables ?? []].flat()
  return facts.length === 0 ? setting.description : `${setting.description} (${facts.join(', ')})`
}

function variablesOf(setting: Setting<unknown>): string {
  return [variableOf(setting), fileVariableOf(setting) ?? []].flat().join(' or ')
}
