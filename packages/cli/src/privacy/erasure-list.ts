/** The list of erasures outside the store: when a service may start with it, and what `epoch start` does with it. */
import { sep } from 'node:path'
import { countMissing, openErasureList, replayErasures } from '@property-events/server'
import type { ErasureList, FeedKey, ListedErasure, Replay, StorageEngine } from '@property-events/server'
import type { OpenedStore } from '../open-store.ts'
import { commandLine, epochNumber } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { plainText, shellWord } from '../terminal-text.ts'

interface ServedStore {
  readonly data: string
  readonly database: string | undefined
  /** `undefined`: no list is kept. */
  readonly erasures: string | undefined
}

/**
 * A restored store would answer with data that was erased since its backup, so it is not served before `epoch start` has erased that data
 * again. The list also reveals a store that does not know that it is an older one, such as a snapshot of its disk.
 */
export async function openServedErasureList(
  { data, database, erasures: path }: ServedStore,
  storage: StorageEngine,
): Promise<ErasureList | undefined> {
  if (path === undefined) return undefined
  if (database === undefined && path.startsWith(`${data}${sep}`)) {
    throw new Refusal(
      `The list of erasures ${plainText(path)} lies in the data folder, and would be lost with the store. Name a file elsewhere with --erasures, best on another disk.`,
    )
  }
  const list = await openErasureList(path)
  const missing = await countMissing(storage, await notAccepted(storage, list.listed))
  if (missing === 0) return list
  await list.close()
  const storeFlag = database === undefined ? ` --data ${shellWord(data)}` : ' --database ADDRESS'
  throw new Refusal(
    `This store is an older copy: it contains again what ${missing} of the erasures in ${plainText(path)} had erased, so it is not served. First run:\n` +
      `${commandLine(`epoch start --continue-after N --erasures ${shellWord(path)}`, storeFlag)}\n${epochNumber}.`,
  )
}

const acceptancesAtMost = 1_000

/** Without those whose loss an operator has accepted. */
async function notAccepted(
  { audit, settings }: StorageEngine,
  listed: readonly ListedErasure[],
): Promise<readonly ListedErasure[]> {
  const action = 'erasures.loss_accepted'
  const query = { first: 'newest', action, target: settings.storeId, limit: acceptancesAtMost } as const
  const rows = await audit.read(query)
  if (rows === 'unknownRow') return listed
  return listed.filter(
    ({ key, begunMs }) =>
      !rows.some(({ tenant, atMs }) => begunMs <= atMs && (tenant === null || tenant === key.tenantId)),
  )
}

/** Recorded, so that a node with a list still serves the store. */
export async function acceptLoss(
  { storage, actor }: OpenedStore,
  tenantId: string | undefined,
): Promise<void> {
  const target = storage.settings.storeId
  const tenant = tenantId ?? null
  await storage.audit.note({ action: 'erasures.loss_accepted', tenant, target, detail: {} }, actor)
}

/**
 * Why a new epoch needs to know what was erased since the backup, in a sentence; `undefined`: nothing in the store suggests that anything
 * was.
 */
export async function erasureEvidence(
  storage: StorageEngine,
  feeds: readonly FeedKey[] | undefined,
): Promise<string | undefined> {
  const tenants = new Set(feeds?.map(({ tenantId }) => tenantId))
  const isConcerned = (tenantId: string) => feeds === undefined || tenants.has(tenantId)
  for (const { tenantId } of await storage.tenants.tenants()) {
    if (!isConcerned(tenantId)) continue
    const [first] = await storage.erasures.list(tenantId, undefined, 1)
    if (first !== undefined) return 'The store has erasures'
  }
  const keys = await storage.keys.keys()
  const mayErase = keys.some(({ grants }) =>
    grants.some(
      ({ tenantId, scopes }) => isConcerned(tenantId) && scopes.some((scope) => scope.endsWith(':erase')),
    ),
  )
  return mayErase ? 'The store has keys that may erase' : undefined
}

export function lostErasuresRefusal(sign: string, storeFlags: string): Refusal {
  return new Refusal(
    `${sign}, and what was erased after the backup was made is here again. Nothing was changed. Name the list that a node has kept (\`serve --erasures FILE\`) to erase it once more:\n` +
      `${commandLine('epoch start --continue-after N --erasures FILE', storeFlags)}\n` +
      'If nothing was erased since, or there is no such list, use --accept-lost-erasures instead.',
  )
}

/** In the feeds in which the new epoch has begun. */
export async function replayList(
  { storage, actor }: OpenedStore,
  listed: readonly ListedErasure[],
  feeds: readonly FeedKey[] | undefined,
): Promise<Replay> {
  const own = listed.filter(
    ({ key }) =>
      feeds === undefined ||
      feeds.some(({ tenantId, feed }) => tenantId === key.tenantId && feed === key.feed),
  )
  return replayErasures(storage, own, actor)
}

export function replayText({ begun, known, absent, moved, widened, endedHolds }: Replay): string {
  const lines = [
    `Of the erasures on the list, ${begun} were carried out again, ${known} were already known here, and ${absent} concern data that is not in this store.`,
    ...(widened.length === 0
      ? []
      : [
          `For these an erased event was the latest here, so all that is held about them was erased; publish them again: ${widened.join(', ')}.`,
        ]),
    ...(endedHolds.length === 0
      ? []
      : [`Holds that had ended before were ended again: ${endedHolds.join(', ')}.`]),
    ...(moved === 0
      ? []
      : [`${moved} concern tenants that were moved to another store, and must be carried out again there.`]),
  ]
  return `${lines.join('\n')}\n`
}
