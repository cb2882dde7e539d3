/** Writes everything that a tenant owns to a separate store, a file, before the tenant is deleted (PROTOCOL §12.9). */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { TenantExporter } from '../tenants/deletion/worker.ts'
import { writeNewFile } from '../store/new-file.ts'
import { makeFolder, openStorage, storeFileOf } from '../store/open-storage.ts'
import { StorageRefusal } from '../sql/storage-errors.ts'
import type { Actor } from '../audit/actor.ts'
import type { BeginDeletionOutcome, DeletedExport, Deletion } from '../tenants/deletion/deletion.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { Tenant } from '../tenants/tenant.ts'
import { moveKeys } from './move-keys.ts'
import { withoutThinning } from './compare.ts'
import { copyAudit, copyLeaving, copyRecords, copyRules } from './copy-settings.ts'
import { copyWebhooks } from './copy-webhooks.ts'

/**
 * For a service: a file in the folder, named by tenant and deletion. The folder is created if it is missing, for its owner alone; what a
 * killed process has left under that name is replaced.
 */
export function exporterTo(folder: string | undefined, storage: StorageEngine): TenantExporter | undefined {
  if (folder === undefined) return undefined
  makeFolder(folder)
  return async ({ deletionId, tenantId, name = '' }) => {
    const path = join(folder, `tenant-${tenantId}-${deletionId}.db`)
    await rm(path, { force: true })
    const tenants = await storage.tenants.tenants()
    const tenant = tenants.find((one) => one.tenantId === tenantId)
    return exportTenant(storage, tenant ?? { tenantId, name, createdMs: 0, suspended: true }, path, 'service')
  }
}

/**
 * The file is a store that holds only this tenant, with its numbers, keys and audit: `serve` opens it, and `copy --tenant` brings the
 * tenant back. Nothing may be published to the tenant meanwhile. Rejects with the `StorageRefusal` `already_exists` rather than replace a
 * file.
 */
async function exportTenant(
  from: StorageEngine,
  tenant: Tenant,
  path: string,
  actor: Actor,
): Promise<DeletedExport> {
  await writeNewFile(path, async (partial) => {
    const { catalogue, startSequence } = from.settings
    const made = { kind: 'sqlite', folder: partial, catalogue, startSequence, create: true } as const
    await using to = await openStorage(made)
    await withoutThinning(from, () => fill(from, to, tenant, actor))
  })
  return exportedFile(path)
}

/**
 * For the caller of a deletion: writes into the file of this name. If an earlier run wrote it for the same deletion, and was killed
 * before it could report that, the file counts. Any other existing file is refused, as by `exportTenant`.
 */
export async function exportFor(
  from: StorageEngine,
  { isNew, deletion }: BegunDeletion,
  tenant: Tenant,
  path: string,
  actor: Actor,
): Promise<DeletedExport> {
  if (!isNew && existsSync(path) && (await isExportOf(path, deletion))) return exportedFile(path)
  return exportTenant(from, tenant, path, actor)
}

type BegunDeletion = Extract<BeginDeletionOutcome, { kind: 'begun' }>

/** A file gets its name only once it is complete, so it is enough that it is a store with the feeds of this tenant as they were. */
async function isExportOf(path: string, { tenantId, feeds }: Deletion): Promise<boolean> {
  try {
    await using store = await openStorage({ kind: 'sqlite', folder: storeFileOf(path), create: false })
    const heads = await Promise.all(feeds.map(({ feed }) => store.events.head({ tenantId, feed })))
    return feeds.every(({ epoch, sequenceNumber }, index) => {
      const head = heads[index]
      return head?.epoch === epoch && head.sequenceNumber === sequenceNumber
    })
  } catch (error) {
    if (error instanceof StorageRefusal) return false
    throw error
  }
}

async function exportedFile(path: string): Promise<DeletedExport> {
  const { size } = await stat(path)
  return { file: basename(path), bytes: size, sha256: await digestOf(path) }
}

async function fill(from: StorageEngine, to: StorageEngine, tenant: Tenant, actor: Actor): Promise<void> {
  const { tenantId } = tenant
  await to.tenants.createTenant(tenant, actor)
  const nothing = () => ({ position: 0, skippedUntil: 0n })
  await from.moves.exportTenant(tenantId, nothing, (records) =>
    to.importRecords(
      // The tenant is closed here and now, and at home in the export.
      records.map((record) => (record.kind === 'feed' ? { ...record, move: 'open' } : record)),
      actor,
    ),
  )
  await moveKeys(from, to, tenantId, actor)
  await copyRecords(from, to, actor, tenantId)
  await copyWebhooks(from, to, actor, tenantId)
  await copyRules(from, to, actor, tenantId)
  await copyLeaving(from, to, actor, tenantId)
  await copyAudit(from, to, tenantId)
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const piece of createReadStream(path)) digest.update(piece)
  return digest.digest('hex')
}
