/**
 * Every command, by the groups of the program's help. A new command is a file in this folder, a row here, and its examples in
 * help/examples.ts.
 */
import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import { addCompletion } from './completion.ts'
import { addCompact } from './compact.ts'
import { addContacts } from './contacts.ts'
import { addCopy } from './copy.ts'
import { addDoctor } from './doctor.ts'
import { addEpoch } from './epoch.ts'
import { addErasures } from './erasures.ts'
import { addEvents } from './events.ts'
import { addExposure } from './exposure.ts'
import { addGenerate } from './generate.ts'
import { addHolds } from './holds.ts'
import { addKeys } from './keys.ts'
import { addMaintenance } from './maintenance.ts'
import { addMigrate } from './migrate.ts'
import { addPepper } from './pepper.ts'
import { addProperties } from './properties.ts'
import { addPublish } from './publish.ts'
import { addReference } from './reference.ts'
import { addRestore } from './restore.ts'
import { addRetention } from './retention.ts'
import { addDemo, addServe } from './serve.ts'
import { addSync } from './sync.ts'
import { addTenants } from './tenants.ts'

type AddCommand = (program: Command, context: CommandContext) => void

interface CommandGroup {
  /** As it stands in the help. */
  readonly heading: string
  readonly commands: readonly AddCommand[]
}

export const commandGroups: readonly CommandGroup[] = [
  { heading: 'Run the service:', commands: [addServe, addDemo, addMigrate, addDoctor] },
  { heading: 'Tenants and keys:', commands: [addTenants, addKeys, addPepper, addAudit] },
  { heading: 'Publish:', commands: [addPublish, addReference, addGenerate] },
  { heading: 'Read:', commands: [addEvents, addProperties, addSync] },
  { heading: 'Personal data:', commands: [addContacts, addErasures, addHolds, addRetention, addExposure] },
  {
    heading: 'Keep and move a store:',
    commands: [addBackup, addRestore, addCopy, addCompact, addEpoch, addMaintenance],
  },
  { heading: 'This program:', commands: [addCompletion] },
]
