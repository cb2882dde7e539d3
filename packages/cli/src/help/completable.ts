/** What a shell can complete, read from the commands themselves, so that a new one needs no entry here. */
import type { Argument, Command, Option } from 'commander'
import { categories, erasureReasons, feedNames, holdGrounds, scopes } from '@property-events/protocol'
import { commandsOf } from './add-examples.ts'

/** What is allowed in a place: one of some words, a path, or a text of the user's own. */
export type Values = readonly string[] | 'path' | 'text'

export interface CompletableOption {
  /** With its dashes. */
  readonly name: string
  readonly description: string
  /** `undefined`: the option has no value. */
  readonly values: Values | undefined
}

export interface CompletableCommand {
  /** After the program's name, such as `keys create`; the program itself has none. */
  readonly words: string
  readonly below: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletableOption[]
  /** What its operands are. */
  readonly operands: Values
}

/** Placeholders of the help whose values are known. */
const valuesOf: Readonly<Record<string, Values>> = {
  feed: feedNames,
  type: ['property', 'salesproperty', 'lettingsproperty'],
  scopes: [...scopes, 'read', 'publish'],
  channel: categories,
  reason: erasureReasons,
  ground: holdGrounds,
  shell: ['bash', 'zsh'],
  file: 'path',
  folder: 'path',
  store: 'path',
  target: 'path',
}

/** Every command of the program, `help` included. */
export function completable(program: Command): readonly CompletableCommand[] {
  const commands = commandsOf(program).map(({ words, command }) => ({
    words,
    below: belowOf(command, words),
    options: optionsOf(command),
    operands: operandsOf(command.registeredArguments),
  }))
  const names = program.commands.map((command) => command.name())
  return [...commands, { words: 'help', below: [], options: [], operands: names }]
}

function belowOf(command: Command, words: string): CompletableCommand['below'] {
  const below = command.commands.map((one) => ({ name: one.name(), description: one.description() }))
  return words === '' ? [...below, { name: 'help', description: 'print the help of a command' }] : below
}

function optionsOf(command: Command): readonly CompletableOption[] {
  const help = { name: '--help', description: 'print this help', values: undefined }
  const own = command.options
    .filter(({ hidden, long }) => !hidden && long !== undefined)
    .map((option) => ({ name: option.long ?? '', description: option.description, values: valueOf(option) }))
  return [...own, help]
}

/** `--feed <feed>` has a placeholder, `--log-level <info|warn>` its words. */
function valueOf(option: Option): Values | undefined {
  if (option.isBoolean()) return undefined
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? ''
  const known = valuesOf[placeholder]
  if (known !== undefined) return known
  const words = placeholder.split('|')
  if (words.length === 1) return 'text'
  const fixed = words.filter((word) => /^[a-z0-9-]+$/.test(word) && valuesOf[word] === undefined)
  return fixed.length === 0 ? 'text' : fixed
}

function operandsOf([first]: readonly Argument[]): Values {
  return first === undefined ? 'text' : (valuesOf[first.name()] ?? 'text')
}
