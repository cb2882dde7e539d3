/**
 * `tenants delete`: deletes a tenant with everything it owns, after an export; and shows the certificates of deletions (PROTOCOL §12.9).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { uuidV7 } from '@property-events/protocol'
import { certificateOf, removeRows } from '@property-events/server'
import type { Deletion, DeletionRefusal, OwnedCounts, Tenant } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { exportFor } from '@property-events/server'
import { timestampText } from '../timestamp-option.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { withProgress } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText, tableText } from '../terminal-text.ts'

const pollIntervalMs = 250
const certificatesPerPiece = 200

export function addDelete(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('delete')
    .description('delete a tenant that is suspended or has left, with all it owns; it is exported first')
    .argument('<tenant>', 'id or name')
    .option('--export <file>', 'first write all it owns to this file, a store that serve can open')
    .option('--without-export', 'delete it without an export')
    .option('--dry-run', 'show what would be deleted, without changing anything')
  addSettings(command, changeSettings)
  addAction(command, context, (invocation, [idOrName = '']) => {
    const { settings: reader, flags } = invocation
    const path = flagText(flags, 'export')
    const isDry = flags['dryRun'] === true
    const isWithout = flags['withoutExport'] === true
    if (!isDry && (path === undefined) !== isWithout) {
      reader.fault('Give --export <file> or --without-export, and not both.')
    }
    return withStore(reader, flags, async (store) => {
      const tenant = await findTenant(store, idOrName)
      if (isDry) return plan(invocation, store, tenant)
      return deleteTenant(invocation, store, tenant, path)
    })
  })
}

export function addDeletions(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('deletions')
    .description('show the certificates of tenants that have been or are being deleted')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage }) => {
      const all: Deletion[] = []
      for (let after: string | undefined; ;) {
        const some = await storage.deletions.list(after, certificatesPerPiece)
        all.push(...some)
        after = some.at(-1)?.deletionId
        if (some.length < certificatesPerPiece) break
      }
      if (output.json) return output.writeJson(all.map(certificateOf))
      const rows = all.map((one) => [
        one.deletionId,
        one.tenantId,
        one.state,
        timestampText(one.begunMs),
        timestampText(one.deletedMs),
        String(one.counts.events),
      ])
      return output.write(
        tableText(['id', 'tenant', 'state', 'started (UTC)', 'deleted (UTC)', 'events'], rows),
      )
    }),
  )
}

async function plan({ output }: Invocation, { storage }: OpenedStore, tenant: Tenant): Promise<void> {
  const { tenantId, name } = tenant
  const counted = await storage.deletions.count(tenantId)
  if (counted.kind !== 'counted') throw new Refusal('The tenant no longer exists.')
  const refusal = await storage.deletions.refusal(tenantId)
  if (output.json) {
    const refusedBecause = refusal === undefined ? null : wordsOf(refusal)
    return output.writeJson({ dryRun: true, tenantId, counts: counted.counts, refusedBecause })
  }
  const would =
    refusal === undefined ? 'Nothing was changed.' : `It cannot be deleted now: ${wordsOf(refusal)}`
  return output.write(
    `Tenant ${tenantId} "${plainText(name)}" would be deleted with:\n${countsText(counted.counts)}${would}\n`,
  )
}

async function deleteTenant(
  { output }: Invocation,
  store: OpenedStore,
  tenant: Tenant,
  path: string | undefined,
): Promise<void> {
  const { deletions } = store.storage
  const { tenantId, name } = tenant
  const request = {
    deletionId: uuidV7(Date.now()),
    tenantId,
    export: path === undefined ? ('none' as const) : ('caller' as const),
  }
  const outcome = await deletions.begin(request, store.actor)
  if (outcome.kind !== 'begun') {
    const suspend = commandLine(`tenants suspend ${tenantId}`, store.flags)
    const remedy = outcome.kind === 'inUse' ? ` To suspend it: ${suspend}` : ''
    throw new Refusal(`${wordsOf(outcome)} Nothing was changed.${remedy}`)
  }
  const { deletion } = outcome
  const { deletionId } = deletion
  if (deletion.state === 'exporting' && path !== undefined) {
    await deletions.exported(deletionId, await exportFor(store.storage, outcome, tenant, path, store.actor))
  }
  const signal = stopSignal()
  const events = deletion.feeds.reduce((sum, feed) => sum + feed.events, 0)
  const measure = async () => {
    const done = (await deletions.find(deletionId))?.counts.events ?? 0
    return { done, part: done / Math.max(1, events) }
  }
  await withProgress(output, 'events deleted', measure, removeRows(deletions, deletion, signal))
  // Nodes that serve the store have to forget the tenant first; for one that has ended without a word this waits a minute at most.
  while (!signal.aborted && (await deletions.acknowledge(deletionId, undefined)) !== 'deleted') {
    await delay(pollIntervalMs)
  }
  const last = await deletions.find(deletionId)
  if (signal.aborted || last?.state !== 'deleted') {
    throw new Refusal(
      'Stopped. Run the same command again to continue; a running service continues by itself.',
    )
  }
  if (output.json) return output.writeJson(certificateOf(last))
  const file =
    last.exported === undefined
      ? ''
      : `Its export is ${plainText(last.exported.file)} (SHA-256 ${last.exported.sha256}).\n`
  return output.write(
    `Deleted tenant ${tenantId} "${plainText(name)}"; its name can be used again:\n${countsText(last.counts)}${file}` +
      `Certificate ${deletionId}: ${commandLine('tenants deletions --json', store.flags)}\n` +
      `The free space of the store may still hold its data until the store is rewritten: ${commandLine('compact', store.flags)}\n`,
  )
}

function wordsOf(refusal: DeletionRefusal): string {
  switch (refusal.kind) {
    case 'unknownTenant':
      return 'The tenant no longer exists.'
    case 'inUse':
      return 'Its keys still work. Suspend it first, or have it leave (--unpublish) and wait until reading has ended.'
    case 'erasing':
      return 'An erasure or a restriction of it is in progress. Run this again in a moment.'
    case 'onHold':
      return `${refusal.holds} of its properties or contacts are on hold, the last until ${timestampText(refusal.untilMs)} UTC (\`holds list\`).`
    case 'tenantMoving':
  }
  return 'It is being moved to or from another store (`tenants list`).'
}

function countsText(counts: OwnedCounts): string {
  const names: readonly (readonly [keyof OwnedCounts, string])[] = [
    ['events', 'events'],
    ['subjects', 'properties and contacts'],
    ['keys', 'keys'],
    ['grants', 'grants of keys that stay, because they open other tenants'],
    ['erasures', 'receipts of erasures'],
    ['holds', 'holds'],
    ['restrictions', 'restrictions'],
    ['sent', 'records of what was sent'],
  ]
  return tableText(
    ['number', 'what'],
    names.map(([name, words]) => [String(counts[name]), words]),
  )
}
