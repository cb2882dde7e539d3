/**
 * Every command, by the groups of the program's help. A new command is a file in this folder, a row here, and its examples in
 * help/examples.ts. Each is loaded on demand: a command line that names one starts in two thirds of the time that all of them take.
 */
import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

type AddCommand = (program: Command, context: CommandContext) => void

interface CommandGroup {
  /** As written in the help. */
  readonly heading: string
  /** By name. */
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>
}

const groups: readonly CommandGroup[] = [
  {
    heading: 'Run the service:',
    commands: {
      serve: async () => (await import('./serve.ts')).addServe,
      demo: async () => (await import('./serve.ts')).addDemo,
      env: async () => (await import('./env.ts')).addEnv,
      console: async () => (await import('./console.ts')).addConsole,
      config: async () => (await import('./config.ts')).addConfig,
      migrate: async () => (await import('./migrate.ts')).addMigrate,
      doctor: async () => (await import('./doctor.ts')).addDoctor,
    },
  },
  {
    heading: 'Tenants and keys:',
    commands: {
      tenants: async () => (await import('./tenants.ts')).addTenants,
      keys: async () => (await import('./keys.ts')).addKeys,
      branches: async () => (await import('./branches.ts')).addBranches,
      pepper: async () => (await import('./pepper.ts')).addPepper,
      audit: async () => (await import('./audit.ts')).addAudit,
    },
  },
  {
    heading: 'Publish:',
    commands: {
      publish: async () => (await import('./publish.ts')).addPublish,
      publications: async () => (await import('./publications.ts')).addPublications,
      reference: async () => (await import('./reference.ts')).addReference,
      generate: async () => (await import('./generate.ts')).addGenerate,
    },
  },
  {
    heading: 'Read:',
    commands: {
      events: async () => (await import('./events.ts')).addEvents,
      properties: async () => (await import('./properties.ts')).addProperties,
      sync: async () => (await import('./sync.ts')).addSync,
      why: async () => (await import('./why.ts')).addWhy,
      consumers: async () => (await import('./consumers.ts')).addConsumers,
    },
  },
  {
    heading: 'Personal data:',
    commands: {
      contacts: async () => (await import('./contacts.ts')).addContacts,
      erasures: async () => (await import('./erasures.ts')).addErasures,
      holds: async () => (await import('./holds.ts')).addHolds,
      retention: async () => (await import('./retention.ts')).addRetention,
      exposure: async () => (await import('./exposure.ts')).addExposure,
    },
  },
  {
    heading: 'Keep and move a store:',
    commands: {
      backup: async () => (await import('./backup.ts')).addBackup,
      copy: async () => (await import('./copy.ts')).addCopy,
      compact: async () => (await import('./compact.ts')).addCompact,
      epoch: async () => (await import('./epoch.ts')).addEpoch,
      maintenance: async () => (await import('./maintenance.ts')).addMaintenance,
    },
  },
  {
    heading: 'This program:',
    commands: {
      completion: async () => (await import('./completion.ts')).addCompletion,
    },
  },
]

/** It describes all the others. */
const completion = 'completion'

/** Adds all commands to the program, or only the one called `name`. */
export async function addCommands(program: Command, context: CommandContext, name?: string): Promise<void> {
  const isCommand = groups.some(({ commands }) => name !== undefined && Object.hasOwn(commands, name))
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading)
    for (const [known, load] of Object.entries(commands)) {
      if (isCommand && name !== completion && name !== known) continue
      const add = await load()
      add(program, context)
    }
  }
}
