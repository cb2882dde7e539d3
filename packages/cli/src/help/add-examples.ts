import type { Command } from 'commander'
import { commandLine } from '../program-name.ts'
import { styleOf } from '../terminal-style.ts'
import { examples } from './examples.ts'

const style = styleOf(true)

/** Puts the examples of each command at the end of its help, as lines that can be copied. */
export function addExamples(program: Command): void {
  for (const { words, command } of commandsOf(program)) {
    const lines = (examples[words] ?? []).flatMap(([does, line]) => [
      style.dim(`  # ${does}`),
      `  ${commandLine(line)}`,
    ])
    if (lines.length > 0) command.addHelpText('after', ['', style.bold('Examples:'), ...lines].join('\n'))
  }
}

export interface NamedCommand {
  /** After the program's name, such as `keys create`; the program itself has none. */
  readonly words: string
  readonly command: Command
}

/** The program and every command below it. */
export function commandsOf(command: Command, words = ''): readonly NamedCommand[] {
  const below = command.commands.flatMap((one) => commandsOf(one, `${words} ${one.name()}`.trim()))
  return [{ words, command }, ...below]
}
