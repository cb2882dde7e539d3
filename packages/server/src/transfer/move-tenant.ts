/** Moves one tenant into a store that holds others, while both are in use (docs/decisions/0019). */
import { randomUUID } from 'node:crypto'
import { feedNames } from '@property-events/protocol'
import type { Peppers } from '../keys/index.ts'
import { StorageFailure } from '../sql/storage-errors.ts'
import type { Actor } from '../audit/actor.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { MoveState } from '../events/feed.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { Tenant } from '../tenants/tenant.ts'
import type { StoreRecord } from '../store/store-records.ts'
import { CopyRefusal, compareFeeds, heldPosition, withoutThinning } from './compare.ts'
import type { CopiedFeed, FeedComparison } from './compare.ts'
import { eventsIn } from './copy.ts'
import { keysOfTenant, moveKeys, refuseForeignKeys } from './move-keys.ts'
import { endedEarly, movingFault, referenceFault, reopeningFault } from './refusals.ts'
import type { MoveStage } from './refusals.ts'
import { copyLeaving, copyRecords, copyRules } from './copy-settings.ts'
import { copyWebhooks } from './copy-webhooks.ts'

interface MoveOptions {
  readonly from: StorageEngine
  readonly to: StorageEngine
  /** Who moves it. */
  readonly actor: Actor
  /** As the source has it. */
  readonly tenant: Tenant
  /** The operator makes new keys at the target. */
  readonly withoutKeys: boolean
  /** The target's peppers, where they were given. */
  readonly peppers: Peppers | undefined
  /** Events copied so far, in this run. */
  readonly onProgress: (events: number) => void
  /**
   * Looked at between two pieces, until the source is closed: from then on it is quicker to finish than to begin again.
   */
  readonly signal: AbortSignal
}

interface MovedTenant {
  readonly feeds: readonly CopiedFeed[]
  readonly keys: number
  /** How long publishing was refused; `undefined` when an earlier run had moved the tenant, or closed the source. */
  readonly closedMs: number | undefined
}

/** A round with no more events than this is the last before the source is closed. */
const smallRound = 500
/** Where publishers are as fast as the copy, rounds never get small. */
const roundsAtMost = 12
/** Skipped ids are read again for this time back, because a commit under way shows them late. */
const skippedMarginTicks = 6_000_000_000n

/**
 * Copies the events that the target lacks, round by round, while the source serves; closes the source for publishing to
 * this tenant; copies and compares the rest; opens the target. After an interruption at any moment, another run
 * continues. At no moment can the tenant be published to in both. Rejects with a `CopyRefusal` that names the state
 * reached.
 */
export async function moveTenant(options: MoveOptions): Promise<MovedTenant> {
  const stage: { now: MoveStage } = { now: 'before' }
  try {
    return await withoutThinning(options.from, () => move(options, stage))
  } catch (error) {
    // An engine reports an error of the callback that takes records as a failure of its own.
    const cause = error instanceof StorageFailure && error.cause instanceof CopyRefusal ? error.cause : error
    if (cause instanceof StorageFailure) {
      const reason =
        cause.code === 'storage_full'
          ? 'One of the two stores has no room left.'
          : 'One of the two stores failed, or does not answer.'
      throw endedEarly(stage.now, reason, cause.cause)
    }
    throw cause
  }
}

async function move(options: MoveOptions, stage: { now: MoveStage }): Promise<MovedTenant> {
  const { from, to, actor, tenant, withoutKeys } = options
  const { tenantId } = tenant
  const here = await stateIn(from, tenantId)
  const there = await stateIn(to, tenantId)
  const isEmptyThere = there === undefined || (await isEmpty(to, tenantId))
  const fault = movingFault(tenant, here ?? 'open', there, isEmptyThere)
  if (fault !== undefined) throw endedEarly('before', fault)
  await refuseWithoutEpoch(from, to)
  if (await isErasing(from, tenantId)) throw endedEarly('before', erasing)
  if (here === 'left' && there === 'open') return await alreadyMoved(options)
  const copy = tenantCopy(options, stage)
  await copy.begin()
  if (!withoutKeys) await refuseForeignKeys(from, to, tenant, options.peppers)

  stage.now = here === 'open' ? 'copying' : 'closed'
  const arriving: MoveState = `arriving ${randomUUID()}`
  const made = there ?? (await to.tenants.createTenant(tenant, actor, { sameName: 'allowed' }))
  if (made === 'referenceTaken') throw endedEarly('before', referenceFault(tenant))
  if ((await to.moves.change(tenantId, there ?? 'open', arriving, actor)) !== 'done') {
    throw changedMeanwhile(stage.now)
  }
  const holdOn = async (): Promise<void> => {
    if ((await stateIn(to, tenantId)) !== arriving) throw changedMeanwhile(stage.now)
  }

  if (here === 'open') {
    for (let rounds = 1; (await copy.round(arriving)) > smallRound && rounds < roundsAtMost; rounds += 1);
    await holdOn()
    if ((await from.moves.change(tenantId, 'open', 'leaving', actor)) !== 'done')
      throw changedMeanwhile(stage.now)
    // Begun during the rounds: it could not go on here, and the target would never take the payloads.
    if (await isErasing(from, tenantId)) {
      await from.moves.change(tenantId, 'leaving', 'open', actor)
      throw endedEarly(stage.now, erasing)
    }
  }
  const closed = performance.now()
  stage.now = 'closed'
  await copy.round(arriving)
  await holdOn()
  if (here !== 'left' && (await from.moves.change(tenantId, 'leaving', 'left', actor)) !== 'done') {
    throw changedMeanwhile(stage.now)
  }
  // Once more for the counters: the source answers no window any more, so their floors are the last ones.
  await copy.round(arriving)
  const feeds = await copy.end()
  const keys = withoutKeys ? 0 : await moveKeys(from, to, tenantId, actor)
  await copyRecords(from, to, actor, tenantId)
  await copyWebhooks(from, to, actor, tenantId)
  await copyRules(from, to, actor, tenantId)
  const { suspended, withoutDuties } = tenant
  await to.tenants.changeTenant(tenantId, { suspended, duties: withoutDuties !== true }, actor)
  await copyLeaving(from, to, actor, tenantId)
  stage.now = 'opening'
  if ((await to.moves.change(tenantId, arriving, 'open', actor)) !== 'done') throw changedMeanwhile('closed')
  return { feeds, keys, closedMs: here === 'open' ? Math.round(performance.now() - closed) : undefined }
}

async function stateIn(store: StorageEngine, tenantId: string): Promise<MoveState | undefined> {
  const states = await store.moves.states()
  const known = (await store.tenants.tenants()).some((tenant) => tenant.tenantId === tenantId)
  return known ? (states.get(tenantId) ?? 'open') : undefined
}

/** True for a tenant without events and keys: made by a run that ended in the next moment. */
async function isEmpty(store: StorageEngine, tenantId: string): Promise<boolean> {
  return (await eventsIn(store, [tenantId])) === 0 && (await keysOfTenant(store, tenantId)).length === 0
}

const erasing =
  'An erasure or a restriction of this tenant is under way. Wait a moment, until `erasures list` and `contacts restrictions` show none, and run this again.'

async function isErasing({ erasures, restrictions }: StorageEngine, tenantId: string): Promise<boolean> {
  const [erasing, restricting] = [await erasures.open(), await restrictions.open()]
  return (
    erasing.some(({ key, state }) => key.tenantId === tenantId && state === 'reducing') ||
    restricting.some(({ key, state }) => key.tenantId === tenantId && state !== 'hidden')
  )
}

async function refuseWithoutEpoch(from: StorageEngine, to: StorageEngine): Promise<void> {
  for (const [name, store] of [
    ['source', from],
    ['target', to],
  ] as const) {
    // A feed that waits for an epoch by itself is moved as it is, and waits in the target.
    if ((await store.epochNeed()) !== 'all') continue
    const reason = `Publishing to the ${name} waits for a new epoch: it was restored, or is being filled by a copy.`
    throw endedEarly('before', `${reason} Finish that first (\`epoch start\`).`)
  }
}

/** Only the report is left: the target has all events of the source. */
async function alreadyMoved({ from, to, tenant: { tenantId } }: MoveOptions): Promise<MovedTenant> {
  const feeds: CopiedFeed[] = []
  for (const feed of feedNames) {
    const key = { tenantId, feed }
    const differs = () => differsFrom('before', key)
    // The target is in use: its events beyond the source's are not compared.
    const comparison = compareFeeds(to, from, key, differs)
    await comparison.goOn()
    feeds.push(await comparison.end())
  }
  return { feeds, keys: (await keysOfTenant(to, tenantId)).length, closedMs: undefined }
}

function changedMeanwhile(stage: MoveStage): CopyRefusal {
  return endedEarly(
    stage === 'before' ? 'copying' : stage,
    'Another run of this command has moved this tenant further meanwhile.',
  )
}

function differsFrom(stage: MoveStage, { feed, tenantId }: FeedKey): CopyRefusal {
  return endedEarly(
    stage,
    `The ${feed} events of tenant ${tenantId} in the target differ from the source's, so the target cannot take it.`,
  )
}

function tenantCopy(
  { from, to, actor, tenant: { tenantId }, onProgress, signal }: MoveOptions,
  stage: { readonly now: MoveStage },
) {
  const positions = new Map<string, number>()
  const latestSkipped = new Map<string, bigint>()
  const comparisons = feedNames.map((feed): FeedComparison => {
    const key = { tenantId, feed }
    return compareFeeds(from, to, key, () => differsFrom(stage.now, key))
  })
  let copied = 0

  const held = ({ feed }: FeedKey) => {
    const skippedUntil = (latestSkipped.get(feed) ?? 0n) - skippedMarginTicks
    return { position: positions.get(feed) ?? 0, skippedUntil: skippedUntil > 0n ? skippedUntil : 0n }
  }
  const note = (record: StoreRecord): void => {
    if (record.kind === 'event') {
      copied += 1
      positions.set(record.key.feed, record.position)
    }
    if (record.kind !== 'id' || record.skipped === null) return
    const { feed } = record.key
    if (record.skipped > (latestSkipped.get(feed) ?? 0n)) latestSkipped.set(feed, record.skipped)
  }

  return {
    /** Rejects where the target ends with an event that the source does not have. */
    async begin(): Promise<void> {
      for (const feed of feedNames) {
        const key = { tenantId, feed }
        positions.set(feed, await heldPosition(from, to, key, () => differsFrom('before', key)))
      }
    },
    /** Copies the events that the target lacks, and compares them. Returns their number. */
    async round(arriving: MoveState): Promise<number> {
      const before = copied
      await from.moves.exportTenant(tenantId, held, async (records) => {
        if (signal.aborted && stage.now === 'copying') throw endedEarly('copying', 'Stopped.')
        await to.importRecords(
          records.map((record) => (record.kind === 'feed' ? { ...record, move: arriving } : record)),
          actor,
        )
        for (const record of records) note(record)
        onProgress(copied)
      })
      for (const comparison of comparisons) await comparison.goOn()
      return copied - before
    },
    /** All events have been copied. */
    async end(): Promise<readonly CopiedFeed[]> {
      const feeds: CopiedFeed[] = []
      for (const comparison of comparisons) feeds.push(await comparison.end())
      return feeds
    },
  }
}

interface ReopenOptions {
  readonly from: StorageEngine
  /** `undefined`: the operator says that it is gone for good. */
  readonly to: StorageEngine | undefined
  /** Who takes it back. */
  readonly actor: Actor
  readonly tenant: Tenant
}

/**
 * Takes the tenant back, so that it is published in the source again. Rejects with a `CopyRefusal` where the target may
 * have been published to.
 */
export async function reopenTenant({ from, to, actor, tenant }: ReopenOptions): Promise<void> {
  const { tenantId } = tenant
  const here = (await stateIn(from, tenantId)) ?? 'open'
  // Without a target, it counts as one that a run never opened.
  const there = to === undefined ? 'abandoned' : await stateIn(to, tenantId)
  const fault = reopeningFault(tenant, here, there)
  if (fault !== undefined) throw new CopyRefusal(`${fault} Nothing was changed.`)
  if (to !== undefined && there !== undefined && there !== 'abandoned') {
    // First the target: the run that was to open it then finds another state than its own, and cannot.
    const outcome = await to.moves.change(tenantId, there, 'abandoned', actor)
    if (outcome !== 'done')
      throw new CopyRefusal('The target has changed meanwhile. Nothing was changed. Run this again.')
  }
  if ((await from.moves.change(tenantId, here, 'open', actor)) !== 'done') {
    throw new CopyRefusal('The source has changed meanwhile, and is as it was. Run this again.')
  }
}
