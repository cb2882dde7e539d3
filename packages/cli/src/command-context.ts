import type { Command } from 'commander'
import { parseUuid, readWholeNumber } from '@property-events/protocol'
import type { FeedName, NumberRange } from '@property-events/protocol'
import { createOutput } from './output.ts'
import type { Output } from './output.ts'
import { commandLine } from './program-name.ts'
import { Refusal } from './refusal.ts'
import { readSettings } from './settings/read-settings.ts'
import type { Environment, SettingReader } from './settings/setting.ts'
import { plainText } from './terminal-text.ts'

/** What every command gets from `main`. */
export interface CommandContext {
  readonly environment: Environment
  /** The command did its work, and a part of it failed: the program ends with exit code 1, or with this one. */
  failed(exitCode?: number): void
}

/** What a command's action works with. */
export interface Invocation {
  readonly output: Output
  readonly settings: SettingReader
  readonly flags: Readonly<Record<string, unknown>>
}

/** Gives a command the flags that all have, and an action that receives its settings and output. */
export function addAction(
  command: Command,
  context: CommandContext,
  action: (invocation: Invocation, operands: readonly string[]) => Promise<void>,
): Command {
  return command
    .option('--json', 'print JSON for machines')
    .option('--debug', 'show where an unexpected error came from')
    .action(async () => {
      const flags: Readonly<Record<string, unknown>> = command.opts()
      const output = createOutput({ json: flags['json'] === true, environment: context.environment })
      await action({ output, flags, settings: readSettings(flags, context.environment) }, command.args)
    })
}

/** The text of a flag, where it was given. */
export function flagText(flags: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/**
 * A flag's whole number within a range; `undefined` when it was not given or is invalid, which the reader then notes.
 * `option` is the flag as it is written.
 */
export function flagNumber(
  { flags, settings }: Pick<Invocation, 'flags' | 'settings'>,
  option: string,
  { from, to }: Required<NumberRange>,
): number | undefined {
  const name = option.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const text = flagText(flags, name)
  if (text === undefined) return undefined
  const number = readWholeNumber(text, { from, to })
  if (number === undefined) {
    const shown = plainText(text.slice(0, 100))
    settings.fault(`${option} is "${shown}", but must be a whole number from ${from} to ${to}.`)
  }
  return number
}

/** The feed of `--feed`. Throws a `Refusal` for another word. */
export function flagFeed({ feed }: Readonly<Record<string, unknown>>): FeedName {
  if (feed === 'property' || feed === 'contact') return feed
  throw new Refusal(`--feed is "${plainText(String(feed).slice(0, 100))}", but must be property or contact.`)
}

/** The reference of a property, in lower case. Another text is noted by the reader, and the empty text returned. */
export function agentRefOf({ settings }: Pick<Invocation, 'settings'>, given: string): string {
  const agentRef = parseUuid(given)
  if (agentRef !== undefined) return agentRef
  settings.fault(
    `"${plainText(given.slice(0, 100))}" is not the reference of a property, a UUID. \`${commandLine('reference')}\` creates one from a reference of your own.`,
  )
  return ''
}
