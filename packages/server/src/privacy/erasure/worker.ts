/**
 * Carries out erasures and restrictions in the background (D17, docs/decisions/0027, 0033): the steps, forgetting what this node holds,
 * and the end.
 */
import type { StorageEngine } from '../../store/storage.ts'
import { reported } from '../../runtime/background-task.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { inSteps, startWorker } from '../../runtime/worker-loop.ts'
import type { StepEnd, Worker } from '../../runtime/worker-loop.ts'
import { nodeSilenceMs } from '../../nodes/node.ts'
import type { ErasureList } from './journal.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Head } from '../../events/event-log.ts'
import type { OpenErasure, ReduceOutcome } from './erasure.ts'
import type { OpenRestriction } from '../restriction/restriction.ts'

/** How often it checks whether there is something to do: one probe of a small index. */
const checkEveryMs = 500
/** While something is under way: other nodes check as often as above. */
const waitMs = 100
/** The wait after a failure. */
const failureWaitMs = 5_000
/** The pause after a step is as long as the step, so that an erasure takes at most half of the writer's time. */
const stepSizes = { first: 50, fewest: 10, most: 500, pausePerStep: 1 } as const
/** A node that could not reach the store for longer than this may have been considered dead: others then end erasures without it. */
const awayMs = nodeSilenceMs / 2
const erasuresPerPiece = 500

interface ErasingParts {
  readonly storage: Pick<StorageEngine, 'erasures' | 'events' | 'restrictions' | 'tenants'>
  /** As announced (`NodeStore`): the others wait until this node has said that it holds nothing from before. */
  readonly nodeId: string
  /** Resolves when no thread of this node answers from anything it has read of the feed before, and no file of its pages holds it. */
  readonly forget: (key: FeedKey) => Promise<void>
  /** The same for all feeds whose state has changed since the file of pages was written. */
  readonly compare: (headOf: (key: FeedKey) => Promise<Head | undefined>) => Promise<void>
  /** Where each erasure gets a line before this node says that it has forgotten anything; left out: nowhere. */
  readonly list?: ErasureList | undefined
  /** Called with failures, which are retried. */
  readonly report: TaskReport
}

/** The parts, and the state. */
interface Running extends ErasingParts {
  /** The file of pages no longer holds what was erased while this node was away. */
  isCompared: boolean
  /** The list has what the store had before this node began, or came back. */
  isListed: boolean
  /** When it last knew of everything that was erased: milliseconds since 1970. */
  currentMs: number
}

/**
 * Checks at once and then continuously; any node continues what a crash has interrupted. An erasure is `unreachable` when each live node
 * has forgotten its feed after the last step.
 */
export function carryOutErasures(parts: ErasingParts): Worker {
  const state = { isCompared: false, isListed: false, currentMs: Date.now() }
  const running: Running = { ...parts, ...state }
  return startWorker({ task: 'erase', report: parts.report, retryMs: failureWaitMs }, (signal) =>
    look(running, signal),
  )
}

async function hasCompared({ compare, storage, report }: Running): Promise<boolean> {
  try {
    await compare((key) => storage.events.head(key))
    return true
  } catch (error) {
    report.failed('erase', error)
    return false
  }
}

/** The open erasures; `undefined`: the store did not answer. A node that has not heard of them for a long time may have missed some. */
async function openErasures(running: Running): Promise<readonly OpenErasure[] | undefined> {
  const { report, storage } = running
  const open = await reported(report, 'erase', storage.erasures.open())
  if (open === undefined || Date.now() - running.currentMs > awayMs) {
    running.isCompared = false
    running.isListed = false
  }
  return open
}

/**
 * Continues what is under way. A store that does not answer is asked again. An erasure that cannot continue does not hold up the others.
 */
async function look(running: Running, signal: AbortSignal): Promise<StepEnd> {
  const { storage, report } = running
  const askedMs = Date.now()
  const found = await openErasures(running)
  const erasures = found ?? []
  const restrictions = (await reported(report, 'erase', storage.restrictions.open())) ?? []
  // Before the first step: this node's file of pages may still hold what was erased while it was away.
  running.isCompared ||= await hasCompared(running)
  if (!running.isCompared) return { waitMs: failureWaitMs, hasFailed: true }
  const wasListed = running.isListed
  const isListed = await isOnList(running, erasures, signal)
  if (found !== undefined && isListed) running.currentMs = wasListed ? askedMs : Date.now()
  const open = [
    ...erasures.map((one) => ofErasure(running, one, isListed)),
    ...restrictions.map((one) => ofRestriction(running, one)),
  ]
  let failed = !isListed
  for (const work of open) {
    if (signal.aborted) break
    try {
      if (work.hasSteps) {
        const step = async (limit: number): Promise<'more' | 'done'> =>
          (await work.step(limit)).kind === 'reduced' ? 'more' : 'done'
        await inSteps(stepSizes, signal, step)
      } else if (work.mayEnd) await acknowledge(running, work)
    } catch (error) {
      failed = true
      if (!signal.aborted) report.failed('erase', error, work.ids)
    }
  }
  if (failed) return { waitMs: failureWaitMs, hasFailed: true }
  return { waitMs: open.length > 0 ? waitMs : checkEveryMs, hasFailed: found === undefined }
}

/**
 * A node with a list holds up the end of erasures that it cannot record, so that an erasure whose receipt says `unreachable` is on the
 * list of every node that has one.
 */
async function isOnList(
  running: Running,
  open: readonly OpenErasure[],
  signal: AbortSignal,
): Promise<boolean> {
  const { list, report } = running
  try {
    if (!running.isListed && list !== undefined) await listAll(running, list)
    running.isListed = true
    await list?.note(open)
    return true
  } catch (error) {
    if (!signal.aborted) report.failed('erase', error)
    return false
  }
}

/** For a node that was away, or that got a list later. */
async function listAll({ storage }: Running, list: ErasureList): Promise<void> {
  for (const { tenantId } of await storage.tenants.tenants()) {
    for (let after: string | undefined; ;) {
      const some = await storage.erasures.list(tenantId, after, erasuresPerPiece)
      await list.note(some)
      after = some.at(-1)?.erasureId
      if (some.length < erasuresPerPiece) break
    }
  }
}

/** An erasure or a restriction that is under way. */
interface Work {
  readonly key: FeedKey
  /** For the log. */
  readonly ids: Readonly<Record<string, string>>
  /** Events are left to change; otherwise nodes are left to forget their earlier form. */
  readonly hasSteps: boolean
  /** Nothing prevents this node from saying that it has forgotten. */
  readonly mayEnd: boolean
  readonly acknowledgedBy: readonly string[]
  step(limit: number): Promise<ReduceOutcome>
  acknowledge(nodeId: string | undefined): Promise<unknown>
}

function ofErasure(
  { storage: { erasures } }: Running,
  { erasureId, key, state, acknowledgedBy }: OpenErasure,
  isListed: boolean,
): Work {
  return {
    key,
    ids: { erasureId },
    hasSteps: state === 'reducing',
    mayEnd: isListed,
    acknowledgedBy,
    step: (limit) => erasures.reduce(erasureId, limit),
    acknowledge: (nodeId) => erasures.acknowledge(erasureId, nodeId),
  }
}

function ofRestriction(
  { storage: { restrictions } }: Running,
  { restrictionId, key, state, acknowledgedBy }: OpenRestriction,
): Work {
  return {
    key,
    ids: { restrictionId },
    hasSteps: state !== 'hidden',
    mayEnd: true,
    acknowledgedBy,
    step: (limit) => restrictions.step(restrictionId, limit),
    acknowledge: (nodeId) => restrictions.acknowledge(restrictionId, nodeId),
  }
}

/** After the last step, because what was forgotten earlier may have been read again. */
async function acknowledge({ nodeId, forget }: Running, work: Work): Promise<void> {
  const isKnown = work.acknowledgedBy.includes(nodeId)
  if (!isKnown) await forget(work.key)
  await work.acknowledge(isKnown ? undefined : nodeId)
}
