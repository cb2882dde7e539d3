/** Parts that both shells share: the arms of a `case` over commands and options. */
import type { CompletableCommand, Values } from './completable.ts'

/** A word in single quotes, which both shells accept. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `'keys create:--scope'|…` for all options that take a value, so that what follows is not taken for a command. */
export function valueOptions(commands: readonly CompletableCommand[]): string {
  return commands
    .flatMap(placesOf)
    .map(({ place }) => quoted(place))
    .join('|')
}

/** `':keys'|'keys:create'|…`: what continues a command. */
export function steps(commands: readonly CompletableCommand[]): string {
  return commands.flatMap(({ words, below }) => below.map(({ name }) => quoted(`${words}:${name}`))).join('|')
}

export interface Arm {
  readonly pattern: string
  readonly values: Values
}

/** The values that may follow each option: places with the same values share an arm. */
export function armsOfOptions(commands: readonly CompletableCommand[]): readonly Arm[] {
  return armsOf(commands.flatMap(placesOf))
}

/** The possible operands of commands without subcommands. */
export function armsOfOperands(commands: readonly CompletableCommand[]): readonly Arm[] {
  return armsOf(
    commands
      .filter(({ below }) => below.length === 0)
      .map(({ words, operands }) => ({ place: words, values: operands })),
  )
}

interface Place {
  readonly place: string
  readonly values: Values
}

function placesOf({ words, options }: CompletableCommand): readonly Place[] {
  return options.flatMap(({ name, values }) =>
    values === undefined ? [] : [{ place: `${words}:${name}`, values }],
  )
}

function armsOf(places: readonly Place[]): readonly Arm[] {
  const groups = Map.groupBy(places, ({ values }) => JSON.stringify(values))
  return [...groups.values()].map((group) => ({
    pattern: group.map(({ place }) => quoted(place)).join('|'),
    values: group[0]?.values ?? 'text',
  }))
}
