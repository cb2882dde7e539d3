/** Prints a script with which a shell completes commands, options and their values. */
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { bashCompletion } from './bash.ts'
import { completable } from './completable.ts'
import { zshCompletion } from './zsh.ts'
import { addNote } from './help-text.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

const scripts = { bash: bashCompletion, zsh: zshCompletion } as const

export function addCompletion(program: Command, context: CommandContext): void {
  const command = program
    .command('completion')
    .description('print a script that completes commands, options and values in bash or zsh')
    .argument('<shell>', 'bash or zsh')
  addNote(
    command,
    'The shell completes the program by its name, so `property-events` must be on the PATH; a command line that begins ' +
      'with npx is not completed. If starting the program in each new shell is too slow, write the script to a file.',
  )
  addAction(command, context, async ({ output }, [shell = '']) => {
    if (shell !== 'bash' && shell !== 'zsh') {
      throw new Refusal(
        `There is no completion for "${plainText(shell.slice(0, 40))}", only for bash and zsh.`,
      )
    }
    const script = scripts[shell](program.name(), completable(program))
    return output.json ? output.writeJson({ shell, script }) : output.write(script)
  })
}
