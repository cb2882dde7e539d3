/** Copies a store into another one, of either engine, so that readers cannot distinguish them. */
import type { TenantStore } from '../tenants/tenant.ts'
import type { EventStore } from '../events/event-log.ts'
import { feedNames } from '@property-events/protocol'
import { feedName } from '../events/feed-key.ts'
import type { Actor } from '../audit/actor.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { KeyRecord } from '../keys/key.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { StoreRecord } from '../store/store-records.ts'
import { CopyRefusal, compareFeeds, heldPosition, withoutThinning } from './compare.ts'
import type { CopiedFeed } from './compare.ts'
import { copyAudit, copyLeaving, copyRecords, copyRules } from './copy-settings.ts'
import { copyWebhooks } from './copy-webhooks.ts'

interface CopyOptions {
  readonly from: StorageEngine
  readonly to: StorageEngine
  /** Who copies. */
  readonly actor: Actor
  /** Events copied, and after that compared, so far in this run. */
  readonly onProgress: (copied: number, compared: number) => void
  readonly signal: AbortSignal
}

/**
 * Copies the events that the target's feeds do not have yet, as of one moment of the source, which may be in use, and
 * the tenants and keys of that moment, or a little later. Run again, it continues where it was stopped and adds the new
 * events. The target cannot be published to before a run has ended. Rejects with a `CopyRefusal` when the target holds
 * something else, and then leaves it as it was.
 */
export function copyStore(options: CopyOptions): Promise<readonly CopiedFeed[]> {
  return withoutThinning(options.from, () => copyWhole(options))
}

async function copyWhole(options: CopyOptions): Promise<readonly CopiedFeed[]> {
  const { from, to, actor, signal } = options
  await refuseStrangers(from, to)
  await refuseWhileDeleting(from)
  const held = await heldOf(from, to)
  await copyAudit(from, to)
  await to.importRecords(
    [{ kind: 'whole', firstOffset: from.settings.startSequence, needsEpoch: true }],
    actor,
  )
  let copied = 0
  let keys: readonly FeedKey[] | undefined
  let whole: StoreRecord | undefined
  const take = async (records: readonly StoreRecord[]): Promise<void> => {
    if (signal.aborted) throw new CopyRefusal('Stopped. Run the same command again to continue.')
    // Not earlier: the moment is now fixed, so that every tenant with a record is in the list. A later tenant comes
    // without events.
    keys ??= await copyTenantsAndKeys(from, to, actor)
    // The last record opens the copy for publishing: only when everything has been compared.
    whole = records.find((record) => record.kind === 'whole') ?? whole
    await to.importRecords(
      records.filter((record) => record.kind !== 'whole'),
      actor,
    )
    copied += records.filter((record) => record.kind === 'event').length
    options.onProgress(copied, 0)
  }
  await from.exportRecords((key) => held.get(feedName(key)) ?? 0, take)
  const feeds: CopiedFeed[] = []
  let compared = 0
  for (const key of keys ?? []) {
    const before = compared
    const feed = await compare(from, to, key, (events) => options.onProgress(copied, before + events))
    compared += feed.events
    feeds.push(feed)
  }
  // Including what changed meanwhile.
  await copyAudit(from, to)
  await copyDeletions(from, to)
  await copyNames(from, to, actor)
  await copyRecords(from, to, actor)
  await copyWebhooks(from, to, actor)
  if (whole !== undefined) await to.importRecords([whole], actor)
  return feeds
}

/** The number of events in a store, or of some tenants in it. */
export async function eventsIn(
  { events, tenants }: { readonly events: EventStore; readonly tenants: TenantStore },
  tenantIds?: readonly string[],
): Promise<number> {
  let count = 0
  for (const tenantId of tenantIds ?? (await tenants.tenants()).map((tenant) => tenant.tenantId)) {
    for (const feed of feedNames) count += (await events.head({ tenantId, feed }))?.position ?? 0
  }
  return count
}

/**
 * The number of events of each feed in the target. Each feed has to end with an event of the source: the target may be
 * in use by now.
 */
async function heldOf(from: StorageEngine, to: StorageEngine): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>()
  for (const { tenantId } of await to.tenants.tenants()) {
    for (const feed of feedNames) {
      const key = { tenantId, feed }
      const position = await heldPosition(from, to, key, (number) => {
        return new CopyRefusal(
          `The ${feed} events of tenant ${tenantId} in the target end with one that the source does not have (${number}), ` +
            'so something else publishes to the target. Nothing was changed. Copy into an empty store.',
        )
      })
      if (position > 0) held.set(feedName(key), position)
    }
  }
  return held
}

async function refuseStrangers(from: StorageEngine, to: StorageEngine): Promise<void> {
  const wanted = new Set((await from.tenants.tenants()).map(({ tenantId }) => tenantId))
  const stranger = (await to.tenants.tenants()).find(({ tenantId }) => !wanted.has(tenantId))
  if (stranger !== undefined) {
    throw new CopyRefusal(
      `The target holds a tenant that the source does not have (${stranger.tenantId}). Copy into an empty store.`,
    )
  }
}

/** A copy of a tenant that is partly deleted would be closed for ever. */
async function refuseWhileDeleting({ deletions }: StorageEngine): Promise<void> {
  const [one] = await deletions.open()
  if (one === undefined) return
  throw new CopyRefusal(
    `Tenant ${one.tenantId} is being deleted in the source (\`tenants deletions\`). Run this again when that is done.`,
  )
}

const certificatesPerPiece = 200

/** Names of actors; those that were erased in the source are erased in the copy. */
async function copyNames(from: StorageEngine, to: StorageEngine, actor: Actor): Promise<void> {
  const names = await from.names.list()
  for (const name of names) await to.names.set(name, actor)
  for (const held of await to.names.list()) {
    if (!names.some((name) => name.actor === held.actor)) await to.names.erase(held.actor, actor)
  }
}

/** Certificates of tenants that were deleted. */
async function copyDeletions(from: StorageEngine, to: StorageEngine): Promise<void> {
  for (let after: string | undefined; ;) {
    const some = await from.deletions.list(after, certificatesPerPiece)
    await to.deletions.take(some.filter(({ state }) => state === 'deleted'))
    after = some.at(-1)?.deletionId
    if (some.length < certificatesPerPiece) return
  }
}

async function copyTenantsAndKeys(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
): Promise<readonly FeedKey[]> {
  // The keys first, so that their tenants are in the list too.
  const keys = await from.keys.keys()
  const tenants = await from.tenants.tenants()
  for (const tenant of tenants) {
    const { tenantId, name, reference = null, suspended, withoutDuties } = tenant
    await to.tenants.createTenant(tenant, actor, { sameName: 'allowed' })
    await to.tenants.changeTenant(
      tenantId,
      { name, reference, suspended, duties: withoutDuties !== true },
      actor,
    )
  }
  await copyKeys(keys, to, actor)
  await copyRules(from, to, actor)
  await copyLeaving(from, to, actor)
  return tenants.flatMap(({ tenantId }) => feedNames.map((feed) => ({ tenantId, feed })))
}

async function copyKeys(keys: readonly KeyRecord[], to: StorageEngine, actor: Actor): Promise<void> {
  for (const key of keys) {
    if ((await to.keys.insertKey(key, actor)) !== 'exists') continue
    const { label, expiresMs = null, rate = null, networks = null } = key
    await to.keys.changeKey(key.keyId, { label, expiresMs, rate, networks }, actor)
    if (key.revokedMs !== undefined) await to.keys.revokeKey(key.keyId, key.revokedMs, actor)
  }
  const uses = keys.flatMap(({ keyId, lastUsedMs }) =>
    lastUsedMs === undefined ? [] : [{ keyId, usedMs: lastUsedMs }],
  )
  if (uses.length > 0) await to.keys.recordKeyUses(uses)
}

/** Reads the feed from both stores, up to the end of the copy, which is every event that its counter knows of. */
async function compare(
  from: StorageEngine,
  to: StorageEngine,
  key: FeedKey,
  onCompared: (events: number) => void,
): Promise<CopiedFeed> {
  const differs = (): CopyRefusal =>
    new CopyRefusal(
      `The copy of the ${key.feed} events of tenant ${key.tenantId} differs from the source. Copy into an empty store.`,
    )
  const comparison = compareFeeds(from, to, key, differs, onCompared)
  await comparison.goOn()
  return comparison.end()
}
