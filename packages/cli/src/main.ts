/** Builds the program, and turns every end of it into an exit code and, at most, a sentence. */
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { addAudit } from './commands/audit.ts'
import { addBackup } from './commands/backup.ts'
import { addCompact } from './commands/compact.ts'
import { addContacts } from './commands/contacts.ts'
import { addCopy } from './commands/copy.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEpoch } from './commands/epoch.ts'
import { addErasures } from './commands/erasures.ts'
import { addExposure } from './commands/exposure.ts'
import { addEvents } from './commands/events.ts'
import { addGenerate } from './commands/generate.ts'
import { addHolds } from './commands/holds.ts'
import { addKeys } from './commands/keys.ts'
import { addMaintenance } from './commands/maintenance.ts'
import { addMigrate } from './commands/migrate.ts'
import { addProperties } from './commands/properties.ts'
import { addPepper } from './commands/pepper.ts'
import { addPublish } from './commands/publish.ts'
import { addReference } from './commands/reference.ts'
import { addRestore } from './commands/restore.ts'
import { addDemo, addServe } from './commands/serve.ts'
import { addSync } from './commands/sync.ts'
import { addTenants } from './commands/tenants.ts'
import type { CommandContext } from './command-context.ts'
import { OutputCut } from './output.ts'
import { refuseRepeatedOptions } from './repeated-options.ts'
import { readSettings } from './read-settings.ts'
import type { Environment } from './read-settings.ts'
import { sentencesOf } from './sentences-of.ts'
import { settings } from './settings.ts'
import { withoutSecrets } from './without-secrets.ts'

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
    await buildProgram(context)
      .hook('preAction', (_, command) => {
        const hasData = command.options.some((option) => option.attributeName() === settings.data.name)
        if (hasData) dataFolder = readSettings(command.opts(), environment).value(settings.data)
      })
      .parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (error instanceof OutputCut) return exitCode
    process.stderr.write(`${withoutSecrets(sentencesOf(error, dataFolder))}\n`)
    if (args.includes('--debug')) process.stderr.write(`${withoutSecrets(stackOf(error))}\n`)
    return 1
  }
}

function buildProgram(context: CommandContext): Command {
  const program = new Command('property-events')
  program
    .description('A feed of UK property listing events: publish, list and fetch, with nothing lost.')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutSecrets(text)) })
    .showHelpAfterError('(--help lists the options)')
    .configureHelp({ showGlobalOptions: true })
  addServe(program, context)
  addDemo(program, context)
  addTenants(program, context)
  addKeys(program, context)
  addPepper(program, context)
  addAudit(program, context)
  addContacts(program, context)
  addExposure(program, context)
  addPublish(program, context)
  addEvents(program, context)
  addProperties(program, context)
  addErasures(program, context)
  addHolds(program, context)
  addSync(program, context)
  addReference(program, context)
  addGenerate(program, context)
  addBackup(program, context)
  addRestore(program, context)
  addCopy(program, context)
  addCompact(program, context)
  addEpoch(program, context)
  addMaintenance(program, context)
  addMigrate(program, context)
  addDoctor(program, context)
  refuseRepeatedOptions(program)
  return program
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`
  return (error.stack ?? error.message) + cause
}
