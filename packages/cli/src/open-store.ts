/** For commands that work on a store itself, with or without a service that runs on it. */
import { createHash } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { nearestName, parseUuid } from '@property-events/protocol'
import { openStorage } from '@property-events/server'
import type { Actor, StorageEngine, Tenant } from '@property-events/server'
import { flagText } from './command-context.ts'
import { commandLine } from './program-name.ts'
import { Refusal } from './refusal.ts'
import type { SettingReader } from './settings/setting.ts'
import { settings } from './settings/settings.ts'
import { plainText, shellWord } from './terminal-text.ts'

export interface OpenedStore {
  readonly folder: string
  /** Its address, where the store is in a database. */
  readonly database: string | undefined
  /** Flags that find it, as `storeFlags` makes them. */
  readonly flags: string
  readonly storage: StorageEngine
  /** Who changes something by this command. */
  readonly actor: Actor
}

/** Where a command finds the store. */
export const storeSettings = [settings.data, settings.database] as const

/** The same for a command that changes something. */
export const changeSettings = [...storeSettings, settings.actor] as const

/**
 * Opens the store of `--database` or `--data`, runs the work, and closes it. A folder without a store is refused,
 * because its name may be misspelt.
 */
export async function withStore<Result>(
  reader: SettingReader,
  flags: Readonly<Record<string, unknown>>,
  work: (store: OpenedStore) => Promise<Result>,
): Promise<Result> {
  const folder = reader.value(settings.data)
  const database = reader.value(settings.database)
  const actor = readActor(reader)
  reader.finish()
  const location =
    database === undefined
      ? ({ kind: 'sqlite', folder, writesOn: 'thisThread' } as const)
      : ({ kind: 'postgres', url: database, readConnections: 1 } as const)
  const storage = await openStorage({ ...location, create: false }).catch((error: unknown) => {
    if (database !== undefined) throw error
    if (error instanceof Error && 'code' in error && error.code === 'not_a_store') {
      throw new Refusal(
        `There is no store in ${folder}. Check --data, or start \`${commandLine('serve', storeFlags({}, folder))}\` once to create one.`,
      )
    }
    throw error
  })
  try {
    return await work({ folder, database, flags: storeFlags(flags, folder), storage, actor })
  } finally {
    await storage.close()
  }
}

/**
 * Flags with which a printed command line finds this command's store; those that variables or defaults imply are left
 * out. In the address of a database the word PASSWORD stands for the password, because others may read screens and
 * logs.
 */
export function storeFlags(flags: Readonly<Record<string, unknown>>, folder: string): string {
  const database = flagText(flags, 'database')
  const words = [
    ...(folder === settings.data.fallback ? [] : ['--data', shellWord(folder)]),
    ...(database === undefined ? [] : ['--database', shellWord(withoutPassword(database))]),
  ]
  return words.map((word) => ` ${word}`).join('')
}

function withoutPassword(address: string): string {
  const url = new URL(address)
  if (url.password !== '') url.password = 'PASSWORD'
  if (url.searchParams.has('password')) url.searchParams.set('password', 'PASSWORD')
  return url.href
}

/** The tenant with this id or with exactly this name. */
export async function findTenant({ storage, flags }: OpenedStore, idOrName: string): Promise<Tenant> {
  const tenants = await storage.tenants.tenants()
  const id = parseUuid(idOrName)
  const found = tenants.filter((tenant) => tenant.tenantId === id || tenant.name === idOrName)
  const [tenant] = found
  if (tenant === undefined) {
    throw new Refusal(
      `There is no tenant "${plainText(idOrName)}".${meantTenant(idOrName, tenants)} \`${commandLine('tenants list', flags)}\` lists the tenants.`,
    )
  }
  if (found.length > 1) {
    const ids = found.map((one) => one.tenantId).join(', ')
    throw new Refusal(`Several tenants are called "${plainText(idOrName)}"; name one by its id: ${ids}`)
  }
  return tenant
}

/** ` Did you mean "Hill & Co"?`: for a typing error, or for the beginning of a name. */
function meantTenant(written: string, tenants: readonly Tenant[]): string {
  const names = tenants.map(({ name }) => name)
  const begun = names.filter((name) => name.toLowerCase().startsWith(written.toLowerCase()))
  const meant = nearestName(written, names) ?? (begun.length === 1 ? begun[0] : undefined)
  return meant === undefined ? '' : ` Did you mean "${plainText(meant)}"?`
}

/** The id in PROPERTY_EVENTS_ACTOR, otherwise one that is always the same for an account on a machine and reveals the name of neither. */
export function readActor(reader: SettingReader): Actor {
  const given = reader.value(settings.actor)
  if (given !== undefined) return `cli:${given}`
  const account = process.getuid?.() ?? userInfo().username
  const digest = createHash('sha256').update(`property-events ${account}@${hostname()}`).digest('hex')
  return `cli:${digest.slice(0, 12)}`
}
