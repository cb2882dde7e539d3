/** The layout of the help: groups, columns, wrapped at the terminal's width, in colours if it has them. */
import { Help } from 'commander'
import type { AddHelpTextContext, Command, HelpConfiguration } from 'commander'
import type { Environment } from '../settings/setting.ts'
import { columnsOf, hasColours, styleOf } from '../terminal-style.ts'
import type { MaybeTerminal } from '../terminal-style.ts'

/** A longer term has its description on the lines below it, so that it does not narrow all the others. */
const longestTerm = 28

/** A narrower column of descriptions would not help. */
const narrowestColumn = 30
const indent = 2
const indentBelow = 6

const style = styleOf(true)

/** For `configureHelp`. The parser removes colours that the terminal lacks. */
export const helpConfiguration: HelpConfiguration = {
  minWidthToWrap: narrowestColumn,
  styleTitle: style.bold,
  styleCommandText: style.bold,
  styleSubcommandText: style.cyan,
  styleOptionText: style.cyan,
  styleArgumentText: style.cyan,
  /** Without `[options]`, which nearly all have. */
  subcommandTerm: (command) => [command.name(), ...argumentsOf(command)].join(' '),
  /** In the list of commands it is a phrase, in the command's own help a sentence. */
  commandDescription: (command) => sentence(command.description()),
  formatItem,
}

function sentence(phrase: string): string {
  const begins = phrase.slice(0, 1).toUpperCase() + phrase.slice(1)
  return phrase === '' || phrase.endsWith('.') ? begins : `${begins}.`
}

/** For `configureOutput`. */
export function helpStreams(environment: Environment, stdout: MaybeTerminal, stderr: MaybeTerminal) {
  return {
    getOutHelpWidth: () => columnsOf(stdout),
    getErrHelpWidth: () => columnsOf(stderr),
    getOutHasColors: () => hasColours(stdout, environment),
    getErrHasColors: () => hasColours(stderr, environment),
  }
}

function argumentsOf(command: Command): readonly string[] {
  return command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
}

function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  const shown = help.displayWidth(term)
  const columns = help.helpWidth ?? columnsOf({})
  const column = indent + Math.min(termWidth, longestTerm) + 2
  const isBeside = columns - column >= narrowestColumn && shown <= longestTerm
  const begins = columns - column >= narrowestColumn ? column : indentBelow
  const lines = help.boxWrap(description, columns - begins).split('\n')
  const between = isBeside ? ' '.repeat(column - indent - shown) : `\n${' '.repeat(begins)}`
  if (description === '') return ' '.repeat(indent) + term
  return `${' '.repeat(indent)}${term}${between}${lines.join(`\n${' '.repeat(begins)}`)}`
}

/** Paragraphs, divided by empty lines, below the options of a command. Line ends within one do not count. */
export function addNote(command: Command, text: string): void {
  command.addHelpText('after', (context) => {
    const paragraphs = text.trim().split(/\n\s*\n/)
    const columns = columnsIn(context)
    return paragraphs.map((paragraph) => `\n${wrapped(paragraph, columns)}`).join('\n')
  })
}

/** A heading and items below the options of a command. */
export function addItems(
  command: Command,
  heading: string,
  items: readonly { readonly term: string; readonly description: string }[],
): void {
  command.addHelpText('after', (context) => {
    const columns = columnsIn(context)
    const lines = items.map(({ term, description }) => [
      indented(wrapped(term, columns - indent), indent, style.cyan),
      indented(wrapped(description, columns - indentBelow), indentBelow),
    ])
    return ['', style.bold(heading), ...lines.flat()].join('\n')
  })
}

function columnsIn({ command, error }: AddHelpTextContext): number {
  const output = command.configureOutput()
  return (error ? output.getErrHelpWidth?.() : output.getOutHelpWidth?.()) ?? columnsOf({})
}

function wrapped(paragraph: string, columns: number): string {
  const help = Object.assign(new Help(), { minWidthToWrap: narrowestColumn })
  return help.boxWrap(paragraph.trim().replaceAll(/\s*\n\s*/g, ' '), columns)
}

function indented(text: string, by: number, paint = (line: string): string => line): string {
  return text
    .split('\n')
    .map((line) => ' '.repeat(by) + paint(line))
    .join('\n')
}
