/** Builds the program, and turns every end of it into an exit code and, at most, a sentence. */
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import type { CommandContext } from './command-context.ts'
import { addCommands } from './commands.ts'
import { addExamples } from './help/examples.ts'
import { helpConfiguration, helpStreams } from './help/help-text.ts'
import { OutputClosed } from './output.ts'
import { Refusal } from './refusal.ts'
import { readSettings } from './settings/read-settings.ts'
import type { Environment } from './settings/setting.ts'
import { settings } from './settings/settings.ts'
import { withoutSecrets } from './terminal-text.ts'

/** Runs one command line (without `node` and the script) to its end. Resolves with the exit code. */
export async function main(args: readonly string[], environment: Environment): Promise<number> {
  let exitCode = 0
  let dataFolder: string | undefined
  const context: CommandContext = {
    environment,
    failed(code = 1) {
      exitCode = code
    },
  }
  // Without a listener a closed pipe would end the program with a stack trace; the promise of each write reports the
  // failure.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  try {
    const program = await buildProgram(context, args[0])
    await program
      .hook('preAction', (_, command) => {
        const hasData = command.options.some((option) => option.attributeName() === settings.data.name)
        if (hasData) dataFolder = readSettings(command.opts(), environment).value(settings.data)
      })
      .parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (error instanceof OutputClosed) return exitCode
    process.stderr.write(`${withoutSecrets(await messageFor(error, dataFolder))}\n`)
    if (args.includes('--debug')) process.stderr.write(`${withoutSecrets(stackOf(error))}\n`)
    return 1
  }
}

/** The program with all its commands, or only with the one called `name`; none of them is run. */
export async function buildProgram(context: CommandContext, name?: string): Promise<Command> {
  const { environment } = context
  const program = new Command('property-events')
  program
    .description('A feed of UK property listing events: publish, list and fetch, with nothing lost.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({
      ...helpStreams(environment, process.stdout, process.stderr),
      outputError: (text, write) => write(withoutSecrets(text)),
    })
    .showHelpAfterError('(--help lists the options)')
    .configureHelp(helpConfiguration)
  await addCommands(program, context, name)
  program.helpCommand('help [command]', 'print the help of a command')
  addExamples(program)
  refuseRepeatedOptions(program)
  nameCommandsAfterErrors(program)
  return program
}

/** The rest is loaded on demand: it knows the errors of the client and so loads the client, which most commands do not use. */
async function messageFor(error: unknown, dataFolder: string | undefined): Promise<string> {
  if (error instanceof Refusal) return error.message
  const { errorMessage } = await import('./error-message.ts')
  return errorMessage(error, dataFolder)
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`
  return (error.stack ?? error.message) + cause
}

/** A command of a group that does not exist is answered with those that do. */
function nameCommandsAfterErrors(program: Command): void {
  for (const group of program.commands) {
    if (group.commands.length === 0) continue
    const names = group.commands.map((command) => command.name())
    group.showHelpAfterError(`(Commands of ${group.name()}: ${names.join(', ')})`)
  }
}

/**
 * Refuses options that are given twice, in every command below this one: the parser would silently use the last, and a
 * key would be for one of the two tenants named. Options that collect their values have a parser of their own and may
 * be repeated; options without a value mean the same when they are repeated.
 */
function refuseRepeatedOptions(program: Command): void {
  for (const command of program.commands) {
    refuseRepeatedOptions(command)
    for (const option of command.options) {
      if (option.isBoolean() || option.variadic || option.parseArg !== undefined) continue
      let given = 0
      command.on(`option:${option.name()}`, () => {
        given += 1
        if (given < 2) return
        const name = option.long ?? option.flags
        command.error(
          `error: ${name} is given twice, and only one could count. Give it once; for several, run the command once for each.`,
        )
      })
    }
  }
}
