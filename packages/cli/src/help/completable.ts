/** What a shell can complete, read from the commands themselves, so that a new one needs no entry here. */
import { categories, erasureReasons, feedNames, holdGrounds, scopes } from '@property-events/protocol'
import type { Argument, Command, Option } from 'commander'
import { commandsOf } from './examples.ts'

/** What is allowed in a context: one of some words, a path, or a text of the user's own. */
export type Values = readonly string[] | 'path' | 'text'

interface CompletableOption {
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

/** A word in single quotes, which both shells accept. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `'keys create:--scope'|…` for all options that take a value, so that what follows is not taken for a command. */
export function valueOptions(commands: readonly CompletableCommand[]): string {
  return commands
    .flatMap(contextsOf)
    .map(({ context }) => quoted(context))
    .join('|')
}

/** `':keys'|'keys:create'|…`: what continues a command. */
export function steps(commands: readonly CompletableCommand[]): string {
  return commands.flatMap(({ words, below }) => below.map(({ name }) => quoted(`${words}:${name}`))).join('|')
}

interface Arm {
  readonly pattern: string
  readonly values: Values
}

/** The values that may follow each option: contexts with the same values share an arm. */
export function armsOfOptions(commands: readonly CompletableCommand[]): readonly Arm[] {
  return armsOf(commands.flatMap(contextsOf))
}

/** The possible operands of commands without subcommands. */
export function armsOfOperands(commands: readonly CompletableCommand[]): readonly Arm[] {
  return armsOf(
    commands
      .filter(({ below }) => below.length === 0)
      .map(({ words, operands }) => ({ context: words, values: operands })),
  )
}

interface ValueContext {
  readonly context: string
  readonly values: Values
}

function contextsOf({ words, options }: CompletableCommand): readonly ValueContext[] {
  return options.flatMap(({ name, values }) =>
    values === undefined ? [] : [{ context: `${words}:${name}`, values }],
  )
}

function armsOf(contexts: readonly ValueContext[]): readonly Arm[] {
  const groups = Map.groupBy(contexts, ({ values }) => JSON.stringify(values))
  return [...groups.values()].map((group) => ({
    pattern: group.map(({ context }) => quoted(context)).join('|'),
    values: group[0]?.values ?? 'text',
  }))
}
