import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { parseUuid } from '@property-events/protocol'
import { isTenantName, tenantNameWords } from '@property-events/server'
import type { Leaving, MoveState, StorageEngine, Tenant } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { futureTimeHelp, readTimestamp, timestampJson, timestampText } from '../timestamp-option.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText, shellWord, tableText } from '../terminal-text.ts'
import { addDelete, addDeletions } from './delete.ts'
import { addImport } from './import.ts'
import { addExpectPublisher } from '../consumers/silence.ts'

export function addTenants(program: Command, context: CommandContext): void {
  const tenants = program
    .command('tenants')
    .description('create, import, list, rename, suspend and delete tenants; works while the service runs')
  addCreate(tenants, context)
  addImport(tenants, context)
  addList(tenants, context)
  addRename(tenants, context)
  addSuspend(tenants, context)
  addResume(tenants, context)
  addDuties(tenants, context)
  addExpectPublisher(tenants, context)
  addDelete(tenants, context)
  addDeletions(tenants, context)
}

function addCreate(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('create')
    .description('create a tenant with its empty feeds')
    .argument('<name>', 'name of the tenant')
    .option('--id <uuid>', 'its id, if it has one already (default: a new one)')
  addSettings(command, changeSettings)
  addAction(command, context, async ({ output, settings: reader, flags }, [name = '']) => {
    const given = flagText(flags, 'id')
    const tenantId = given === undefined ? randomUUID() : parseUuid(given)
    if (tenantId === undefined)
      reader.fault('--id must be a UUID such as 0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a0001.')
    if (name.trim() === '' || name.length > 200 || plainText(name) !== name) {
      reader.fault('The name of a tenant has 1 to 200 characters and no control characters.')
    }
    await withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const tenant: Tenant = { tenantId: tenantId ?? '', name, createdMs: Date.now(), suspended: false }
      const outcome = await storage.tenants.createTenant(tenant, actor)
      if (outcome === 'exists')
        throw new Refusal(`There is a tenant ${tenant.tenantId} already. Leave out --id for a new id.`)
      if (outcome === 'nameTaken') throw nameTaken(name, store)
      if (output.json) return output.writeJson(tenantJson(tenant))
      const next = commandLine(`keys create --tenant ${tenant.tenantId} --scope read --label website`, store)
      return output.write(`Created tenant ${tenant.tenantId} "${name}".\nNext: ${next}\n`)
    })
  })
}

function addList(tenants: Command, context: CommandContext): void {
  const command = tenants.command('list').description('list all tenants')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage }) => {
      const all = await storage.tenants.tenants()
      const states = await storage.moves.states()
      const leaving = new Map((await storage.leaving.list()).map((one) => [one.tenantId, one]))
      if (output.json) {
        return output.writeJson(
          all.map((tenant) => {
            const move = states.get(tenant.tenantId)
            return {
              ...tenantJson(tenant, leaving.get(tenant.tenantId)),
              ...(move === undefined ? {} : { move: move.split(' ')[0] }),
            }
          }),
        )
      }
      const rows = all.map(({ tenantId, name, createdMs, suspended, withoutDuties }) => [
        tenantId,
        name,
        timestampText(createdMs),
        [
          suspended ? 'suspended' : '',
          withoutDuties === true ? 'no warnings of duties by law' : '',
          leavingWords(leaving.get(tenantId)),
          movingWords(states.get(tenantId)),
        ]
          .filter(Boolean)
          .join(', '),
      ])
      return output.write(tableText(['id', 'name', 'created (UTC)', ''], rows, 'No tenants yet.'))
    }),
  )
}

function addRename(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('rename')
    .description('give a tenant another name; its id and its keys stay')
    .argument('<tenant>', 'id or name')
    .argument('<name>', 'its new name')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [idOrName = '', name = '']) => {
    if (!isTenantName(name)) reader.fault(`The name of a tenant has ${tenantNameWords}.`)
    return withStore(reader, flags, async (store) => {
      const tenant = await findTenant(store, idOrName)
      const outcome = await store.storage.tenants.changeTenant(tenant.tenantId, { name }, store.actor)
      if (outcome.kind !== 'changed') throw nameTaken(name, store.flags)
      if (output.json) return output.writeJson(tenantJson(outcome.tenant))
      return output.write(`Renamed tenant ${tenant.tenantId} to "${name}".\n`)
    })
  })
}

function addSuspend(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('suspend')
    .description('refuse all keys of a tenant, within 2 seconds; or have it leave')
    .argument('<tenant>', 'id or name')
    .option(
      '--unpublish',
      'it leaves: publishing ends, its properties are removed, its feeds can be read until then',
    )
    .option('--reading-ends <when>', `with --unpublish: ${futureTimeHelp} (default: 7d)`)
  addSettings(command, changeSettings)
  addAction(command, context, async (invocation, [idOrName = '']) => {
    const { output, settings: reader, flags } = invocation
    const ends = flagText(flags, 'readingEnds')
    if (flags['unpublish'] === true) return leave(invocation, idOrName, ends ?? '7d')
    if (ends !== undefined) reader.fault('--reading-ends goes with --unpublish.')
    return withStore(reader, flags, async (store) => {
      const tenant = await findTenant(store, idOrName)
      await store.storage.tenants.changeTenant(tenant.tenantId, { suspended: true }, store.actor)
      if (output.json) return output.writeJson(tenantJson({ ...tenant, suspended: true }))
      return output.write(`Suspended tenant ${tenant.tenantId} "${plainText(tenant.name)}".\n`)
    })
  })
}

/** The service does the removing, so that every node and thread knows of it. */
async function leave(
  { output, settings: reader, flags }: Invocation,
  idOrName: string,
  ends: string,
): Promise<void> {
  const sinceMs = Date.now()
  const readingEndsMs = readTimestamp(ends, sinceMs)
  if (readingEndsMs === undefined)
    reader.fault(`--reading-ends is "${plainText(ends)}", but must be ${futureTimeHelp}.`)
  else if (readingEndsMs <= sinceMs) {
    reader.fault(
      `--reading-ends is "${plainText(ends)}", which has passed. Sites that show the properties need time to read that they are gone.`,
    )
  }
  await withStore(reader, flags, async (store) => {
    const tenant = await findTenant(store, idOrName)
    const { tenantId } = tenant
    await store.storage.leaving.begin({ tenantId, sinceMs, readingEndsMs: readingEndsMs ?? 0 }, store.actor)
    if (output.json) return output.writeJson(tenantJson(tenant, await leavingOf(store.storage, tenantId)))
    return output.write(
      `Tenant ${tenantId} "${plainText(tenant.name)}" is leaving. Nothing can be published for it any more. The service removes its properties ` +
        `as soon as it runs. Its feeds can be read until ${timestampText(readingEndsMs)} UTC.\n` +
        `Next: ${commandLine('tenants list', store.flags)}\n`,
    )
  })
}

function addResume(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('resume')
    .description('let the keys of a tenant work again')
    .argument('<tenant>', 'id or name')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [idOrName = '']) =>
    withStore(reader, flags, async (store) => {
      const { storage, actor } = store
      const tenant = await findTenant(store, idOrName)
      const { tenantId } = tenant
      const wasLeaving = (await leavingOf(storage, tenantId)) !== undefined
      await storage.tenants.changeTenant(tenantId, { suspended: false }, actor)
      await storage.leaving.end(tenantId, actor)
      if (output.json) return output.writeJson(tenantJson({ ...tenant, suspended: false }))
      const removed = wasLeaving ? ' Removed properties stay removed until they are published again.' : ''
      return output.write(`Resumed tenant ${tenantId} "${plainText(tenant.name)}".${removed}\n`)
    }),
  )
}

/** The words of the setting (PROTOCOL §4.11). */
const dutiesWords = { on: 'warn of duties by law', off: 'say nothing of duties by law' } as const

function addDuties(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('duties')
    .description('say whether the receipts of a tenant warn of duties by law; on every node within 2 seconds')
    .argument('<tenant>', 'id or name')
    .argument('<setting>', 'on or off')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [idOrName = '', given = '']) => {
    if (given !== 'on' && given !== 'off')
      reader.fault(`The setting is "${plainText(given.slice(0, 100))}", but must be on or off.`)
    return withStore(reader, flags, async (store) => {
      const tenant = await findTenant(store, idOrName)
      const { tenantId, name } = tenant
      const duties = given === 'on'
      const outcome = await store.storage.tenants.changeTenant(tenantId, { duties }, store.actor)
      if (outcome.kind !== 'changed') throw new Refusal(`The tenant ${tenantId} was deleted meanwhile.`)
      if (output.json) return output.writeJson(tenantJson(outcome.tenant))
      const words = dutiesWords[duties ? 'on' : 'off']
      return output.write(`The receipts of tenant ${tenantId} "${plainText(name)}" ${words}.\n`)
    })
  })
}

async function leavingOf({ leaving }: StorageEngine, tenantId: string): Promise<Leaving | undefined> {
  return (await leaving.list()).find((one) => one.tenantId === tenantId)
}

function leavingWords(leaving: Leaving | undefined): string {
  if (leaving === undefined) return ''
  const { readingEndsMs, unpublishedMs } = leaving
  const properties =
    unpublishedMs === undefined ? 'its properties are being removed' : 'its properties are removed'
  return `leaving: ${properties}, reading ends ${timestampText(readingEndsMs)}`
}

function movingWords(state: MoveState | undefined): string {
  if (state === 'leaving') return 'being moved to another store'
  if (state === 'left') return 'moved to another store'
  if (state === 'deleting') return 'being deleted'
  if (state === 'abandoned') return 'a move to this store was given up'
  return state === undefined || state === 'open' ? '' : 'being moved to this store'
}

function nameTaken(name: string, store: string): Refusal {
  const again = commandLine(`keys create --tenant ${shellWord(name)} --scope read`, store)
  return new Refusal(
    `There is a tenant "${name}" already, and names have to be different. Choose another name, such as one with the town; or create a key for the existing tenant: ${again}`,
  )
}

function tenantJson(
  { tenantId, name, createdMs, suspended, reference, withoutDuties }: Tenant,
  leaving?: Leaving,
) {
  const { sinceMs, readingEndsMs, unpublishedMs } = leaving ?? {}
  return {
    tenantId,
    name,
    reference: reference ?? null,
    created: timestampJson(createdMs),
    suspended,
    duties: withoutDuties !== true,
    ...(leaving === undefined
      ? {}
      : {
          leaving: {
            since: timestampJson(sinceMs),
            readingEnds: timestampJson(readingEndsMs),
            unpublished: timestampJson(unpublishedMs),
          },
        }),
  }
}
