import { resolve } from 'node:path'
import {
  copyStore,
  eventsIn,
  findPeppers,
  moveTenant,
  openStorage,
  reopenTenant,
} from '@property-events/server'
import type { Actor, CopiedFeed, Peppers, StorageEngine, Tenant } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { readPeppers } from '../keys/pepper.ts'
import type { GivenPeppers } from '../keys/pepper.ts'
import { findTenant, readActor, storeFlags } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { createProgress } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import { settings as known } from '../settings/settings.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText, tableText } from '../terminal-text.ts'

const storeHelp = 'data folder, or postgres:// address of a database'

const help = `
Run the command again and it continues where it stopped, with what was published since. To move a store for good: stop
publishing, run the command a last time, and serve the new store with the old key pepper.

With --tenant it moves one tenant into a store that may hold others, while both are served: its events with every id,
number, time and byte, and its keys. The source takes publications for the tenant until nearly everything is copied, and
answers 503 tenant_moving while the rest is copied. Then the target takes them: send the tenant’s clients there. The
source can be read until you suspend the tenant there. If the command is interrupted, run it again; or run it with
--reopen to publish to the source again. If the target has no keys yet, set PROPERTY_EVENTS_KEY_PEPPER to its pepper.`

export function addCopy(program: Command, context: CommandContext): void {
  const command = program
    .command('copy')
    .description('copy a store into another one, or move one tenant, with every id, number, time and byte')
    .requiredOption('--from <store>', `${storeHelp}; it may be in use`)
    .option('--to <store>', `${storeHelp}; created if missing`)
    .option('--tenant <tenant>', 'move this tenant alone: its id or name')
    .option('--without-keys', 'with --tenant: do not move its keys; create new ones in the target')
    .option('--reopen', 'with --tenant: cancel the move; leave out --to if that store is lost for good')
  addNote(command, help)
  addAction(command, context, async (invocation) => {
    const { settings, flags } = invocation
    const [source, target] = [flagText(flags, 'from') ?? '', flagText(flags, 'to')]
    const tenant = flagText(flags, 'tenant')
    const [reopens, withoutKeys] = [flags['reopen'] === true, flags['withoutKeys'] === true]
    if (source === '' || source === target || target === '' || (target === undefined && !reopens)) {
      settings.fault(
        '--from and --to must be two different stores, each a data folder or the address of a database.',
      )
    }
    if (tenant === undefined && (reopens || withoutKeys)) {
      settings.fault(
        `--${reopens ? 'reopen' : 'without-keys'} is about one tenant: name it with --tenant, by its id or name.`,
      )
    }
    const pepper = readPeppers(settings)
    const actor = readActor(settings)
    settings.finish()
    await using from = await openStorage({ ...locationOf(source), create: false })
    if (tenant === undefined) return await copyAll(invocation, from, target ?? '', actor)
    const opened = { folder: source, database: undefined, flags: storeFlag(source), storage: from, actor }
    const found = await findTenant(opened, tenant)
    if (reopens) return await reopen(invocation, from, found, target, actor)
    return await moveOne(invocation, from, found, target ?? '', {
      withoutKeys,
      pepper,
      actor,
      source: opened.flags,
    })
  })
}

async function copyAll(
  { output }: Invocation,
  from: StorageEngine,
  target: string,
  actor: Actor,
): Promise<void> {
  // With the source's event types and start, because the stored events contain their numbers.
  const { catalogue, startSequence } = from.settings
  await using to = await openStorage({ ...locationOf(target), catalogue, startSequence, create: true })
  refuseSameStore(from, to)
  const all = await eventsIn(from)
  // Each is copied, unless it already exists, and all are compared.
  const work = all - (await eventsIn(to)) + all
  const progress = createProgress(output, 'events copied')
  const feeds = await copyStore({
    from,
    to,
    actor,
    onProgress: (copied, compared) => progress.update(copied, (copied + compared) / Math.max(1, work)),
    signal: stopSignal(),
  }).finally(() => progress.end())
  if (output.json) return output.writeJson(feeds.map(feedJson))
  return output.write(feedTable(feeds))
}

async function moveOne(
  { output }: Invocation,
  from: StorageEngine,
  tenant: Tenant,
  target: string,
  options: {
    readonly withoutKeys: boolean
    readonly pepper: GivenPeppers
    readonly actor: Actor
    /** Flags that find the source. */
    readonly source: string
  },
): Promise<void> {
  // Its event types have to be the same; sequence numbers belong to each feed.
  const { catalogue } = from.settings
  await using to = await openStorage({ ...locationOf(target), catalogue, create: true })
  refuseSameStore(from, to)
  const progress = createProgress(output, 'events copied')
  const ofTenant = [tenant.tenantId]
  const missing = (await eventsIn(from, ofTenant)) - (await eventsIn(to, ofTenant))
  const { feeds, keys, closedMs } = await moveTenant({
    from,
    to,
    actor: options.actor,
    tenant,
    withoutKeys: options.withoutKeys,
    peppers: peppersOf(target, options.pepper),
    onProgress: (events) => progress.update(events, events / Math.max(1, missing)),
    signal: stopSignal(),
  }).finally(() => progress.end())
  if (output.json) return output.writeJson({ feeds: feeds.map(feedJson), keys, closedMs: closedMs ?? null })
  const closed =
    closedMs === undefined
      ? 'An earlier run closed it in the source.'
      : `Publishing was refused for ${(closedMs / 1_000).toFixed(1)} s.`
  return output.write(
    `${feedTable(feeds)}
Moved tenant ${tenant.tenantId} "${plainText(tenant.name)}" to the target, with ${keys} keys. ${closed}
Send its clients there. The source answers their publications with 503 tenant_moving; when no client reads there any
more, suspend the tenant in the source: ${commandLine(`tenants suspend ${tenant.tenantId}`, options.source)}
`,
  )
}

async function reopen(
  { output }: Invocation,
  from: StorageEngine,
  tenant: Tenant,
  target: string | undefined,
  actor: Actor,
): Promise<void> {
  await using to =
    target === undefined ? undefined : await openStorage({ ...locationOf(target), create: false })
  if (to !== undefined) refuseSameStore(from, to)
  await reopenTenant({ from, to, actor, tenant })
  if (output.json) return output.writeJson({ tenantId: tenant.tenantId, reopened: true })
  return output.write(
    `Reopened tenant ${tenant.tenantId} "${plainText(tenant.name)}" in the source: it is published there again.\n`,
  )
}

function refuseSameStore(from: StorageEngine, to: StorageEngine): void {
  if (to.settings.storeId !== from.settings.storeId) return
  throw new Refusal(
    '--from and --to are the same store under two names, or a backup of it. Copy into an empty store.',
  )
}

/** No pepper is made where there is none yet. */
function peppersOf(target: string, given: GivenPeppers): Peppers | undefined {
  return findPeppers({ folder: isDatabase(target) ? undefined : resolve(target), ...given })
}

function isDatabase(store: string): boolean {
  return /^postgres(ql)?:\/\//.test(store)
}

function locationOf(store: string) {
  return isDatabase(store)
    ? ({ kind: 'postgres', url: store, readConnections: 2 } as const)
    : ({ kind: 'sqlite', folder: resolve(store) } as const)
}

function storeFlag(store: string): string {
  return storeFlags(
    isDatabase(store) ? { database: store } : {},
    isDatabase(store) ? known.data.fallback : store,
  )
}

function feedJson({ key, events, checksum }: CopiedFeed) {
  return { ...key, events, checksum }
}

function feedTable(feeds: readonly CopiedFeed[]): string {
  const rows = feeds.map(({ key, events, checksum }) => {
    return [key.tenantId, key.feed, String(events), checksum.slice(0, 16)]
  })
  return tableText(['tenant', 'feed', 'events', 'checksum'], rows)
}
