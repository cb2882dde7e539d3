/**
 * Every command, by the groups of the program's help. A new command is a file in its feature's folder, a row here, and its examples in
 * help/examples.ts. Each is loaded on demand: a command line that names one starts in two thirds of the time that all of them take.
 */
import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

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
      serve: async () => (await import('./service/serve.ts')).addServe,
      demo: async () => (await import('./service/serve.ts')).addDemo,
      env: async () => (await import('./service/env.ts')).addEnv,
      console: async () => (await import('./console/console.ts')).addConsole,
      config: async () => (await import('./service/config.ts')).addConfig,
      migrate: async () => (await import('./store/migrate.ts')).addMigrate,
      doctor: async () => (await import('./doctor/doctor.ts')).addDoctor,
    },
  },
  {
    heading: 'Tenants and keys:',
    commands: {
      tenants: async () => (await import('./tenants/tenants.ts')).addTenants,
      keys: async () => (await import('./keys/keys.ts')).addKeys,
      branches: async () => (await import('./tenants/branches.ts')).addBranches,
      pepper: async () => (await import('./keys/pepper.ts')).addPepper,
      audit: async () => (await import('./audit/audit.ts')).addAudit,
    },
  },
  {
    heading: 'Publish:',
    commands: {
      publish: async () => (await import('./publishing/publish.ts')).addPublish,
      publications: async () => (await import('./publications/publications.ts')).addPublications,
      reference: async () => (await import('./publishing/reference.ts')).addReference,
      generate: async () => (await import('./publishing/generate.ts')).addGenerate,
    },
  },
  {
    heading: 'Read:',
    commands: {
      events: async () => (await import('./events/events.ts')).addEvents,
      properties: async () => (await import('./properties/properties.ts')).addProperties,
      sync: async () => (await import('./sync/sync.ts')).addSync,
      webhooks: async () => (await import('./webhooks/webhooks.ts')).addWebhooks,
      listen: async () => (await import('./webhooks/listen.ts')).addListen,
      why: async () => (await import('./consumers/why.ts')).addWhy,
      consumers: async () => (await import('./consumers/consumers.ts')).addConsumers,
    },
  },
  {
    heading: 'Personal data:',
    commands: {
      contacts: async () => (await import('./contacts/contacts.ts')).addContacts,
      erasures: async () => (await import('./privacy/erasures.ts')).addErasures,
      holds: async () => (await import('./privacy/holds.ts')).addHolds,
      retention: async () => (await import('./privacy/retention.ts')).addRetention,
      exposure: async () => (await import('./privacy/disclosure.ts')).addExposure,
    },
  },
  {
    heading: 'Keep and move a store:',
    commands: {
      backup: async () => (await import('./store/backup.ts')).addBackup,
      copy: async () => (await import('./store/copy.ts')).addCopy,
      compact: async () => (await import('./store/compact.ts')).addCompact,
      epoch: async () => (await import('./store/epoch.ts')).addEpoch,
      maintenance: async () => (await import('./store/maintenance.ts')).addMaintenance,
    },
  },
  {
    heading: 'This program:',
    commands: {
      completion: async () => (await import('./help/completion.ts')).addCompletion,
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
