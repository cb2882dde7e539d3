import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { parseUuid } from '@property-events/protocol'
import type { MoveState, Tenant } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { momentJson, momentText } from '../moment.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { addSettings } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText, shellWord, tableText } from '../terminal-text.ts'

export function addTenants(program: Command, context: CommandContext): void {
  const tenants = program
    .command('tenants')
    .description('make, list and suspend tenants; works while the service runs')
  addCreate(tenants, context)
  addList(tenants, context)
  addSuspension(tenants, context, 'suspend', true)
  addSuspension(tenants, context, 'resume', false)
}

function addCreate(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('create')
    .description('make a tenant with its empty feeds')
    .argument('<name>', 'name of the tenant')
    .option('--id <uuid>', 'its id, where it has one already (default: a new one)')
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
      const outcome = await storage.keys.createTenant(tenant, actor)
      if (outcome === 'exists')
        throw new Refusal(`There is a tenant ${tenant.tenantId} already. Leave out --id for a new id.`)
      if (outcome === 'nameTaken') throw nameTaken(name, store)
      if (output.json) return output.writeJson(tenantJson(tenant))
      const next = commandLine(`keys create --tenant ${tenant.tenantId} --scope read --label website`, store)
      return output.write(`Tenant ${tenant.tenantId} "${name}" is made.\nNext: ${next}\n`)
    })
  })
}

function addList(tenants: Command, context: CommandContext): void {
  const command = tenants.command('list').description('list all tenants')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage }) => {
      const all = await storage.keys.tenants()
      const states = await storage.moves.states()
      if (output.json) {
        return output.writeJson(
          all.map((tenant) => {
            const move = states.get(tenant.tenantId)
            return { ...tenantJson(tenant), ...(move === undefined ? {} : { move: move.split(' ')[0] }) }
          }),
        )
      }
      const rows = all.map(({ tenantId, name, createdMs, suspended }) => [
        tenantId,
        name,
        momentText(createdMs),
        [suspended ? 'suspended' : '', movingWords(states.get(tenantId))].filter(Boolean).join(', '),
      ])
      return output.write(tableText(['id', 'name', 'made (UTC)', ''], rows))
    }),
  )
}

function addSuspension(
  tenants: Command,
  context: CommandContext,
  verb: 'suspend' | 'resume',
  suspended: boolean,
): void {
  const command = tenants
    .command(verb)
    .description(
      suspended ? 'refuse all keys of a tenant, within 2 seconds' : 'let the keys of a tenant work again',
    )
    .argument('<tenant>', 'id or name')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [idOrName = '']) =>
    withStore(reader, flags, async (store) => {
      const { storage } = store
      const tenant = await findTenant(store, idOrName)
      await storage.keys.setTenantSuspended(tenant.tenantId, suspended, store.actor)
      if (output.json) return output.writeJson(tenantJson({ ...tenant, suspended }))
      return output.write(
        `Tenant ${tenant.tenantId} "${plainText(tenant.name)}" is ${suspended ? 'suspended' : 'active'}.\n`,
      )
    }),
  )
}

function movingWords(state: MoveState | undefined): string {
  if (state === 'leaving') return 'being moved to another store'
  if (state === 'left') return 'moved to another store'
  if (state === 'abandoned') return 'a move to this store was given up'
  return state === undefined || state === 'open' ? '' : 'being moved to this store'
}

function nameTaken(name: string, store: string): Refusal {
  const again = commandLine(`keys create --tenant ${shellWord(name)} --scope read`, store)
  return new Refusal(
    `There is a tenant "${name}" already, and names have to be different. Choose another name, such as one with the town; or make a key for the existing tenant: ${again}`,
  )
}

function tenantJson({ tenantId, name, createdMs, suspended }: Tenant) {
  return { tenantId, name, created: momentJson(createdMs), suspended }
}
