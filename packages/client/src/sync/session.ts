/** One running sync: its position in the feed, the collected events, and the one way in which a batch gets into the copy. */
import type { AppliedPosition } from './acknowledgement-state.ts'
import { changeOf } from './change.ts'
import type { Change, OddEvent } from './change.ts'
import {
  checkSource,
  createLatestPerSubject,
  newCheckpoint,
  readCheckpoint,
  withPending,
} from './checkpoint.ts'
import type { Checkpoint, LatestPerSubject } from './checkpoint.ts'
import { guardRemovals } from './guard-removals.ts'
import type { SyncOptions } from './options.ts'
import {
  advance,
  beginAnew,
  beginBatch,
  bindTenant,
  checkpointOf,
  forgetBefore,
  endSweep,
  mayHoldRemains,
  numbersOf,
  openRead,
  recordLatest,
  resume,
  settle,
} from './position.ts'
import type { Numbers, CopyPosition } from './position.ts'
import type { ResyncReason } from './plan.ts'
import type { Reading } from './reading.ts'
import { subjectOf } from '../event.ts'
import type { FeedEvent, FeedName } from '../wire.ts'

/** UTF-16 units of payload after which a batch is full, however few subjects it has: memory stays under about 50 MB. */
const maxBatchLength = 16 * 2 ** 20

export interface Session {
  readonly reading: Reading
  /** A batch failed half-way: the collected events are lost, and only the kept checkpoint is valid. */
  readonly broken: boolean
  readonly counts: { readonly events: number; readonly changes: number; readonly removals: number }
  /**
   * How far the copy is, by the kept checkpoint; `undefined` if the feed was not read by its numbers, or the copy may still hold what the
   * feed does not have.
   */
  readonly applied: AppliedPosition | undefined
  /**
   * Takes the events of one answer, and the progress of reading once they are in the copy. Throws `CheckpointError`, and takes none of
   * them, when one is another tenant's.
   */
  gather(events: readonly FeedEvent[], reading: Reading): void
  /** Applies the collected events if they are enough for a batch. */
  flushIfFull(): Promise<void>
  /** Applies the collected events, and keeps the checkpoint if it moved. */
  flush(): Promise<void>
  /**
   * Nothing is left to read: applies the collected events and, after a read of the whole feed, removes subjects that
   * the copy held before and the feed does not have. Subjects whose last event is older than `forgetBeforeMs` are then
   * forgotten.
   */
  finish(forgetBeforeMs: number): Promise<void>
  /** Throws `CheckpointError` when the feed is another tenant's than the checkpoint's. */
  checkTenant(tenantId: string): void
  /** Begins to read the whole feed. */
  open(reading: Reading): Promise<void>
  /** Forgets the progress of reading: the next `open` begins again. */
  startOver(reason: ResyncReason): void
}

/** The state of a session. The functions below are its steps. */
interface State<F extends FeedName> {
  readonly feed: F
  readonly options: SyncOptions<F>
  readonly now: () => number
  /** The contents of the checkpoint store, as far as this sync knows. */
  kept: Checkpoint
  position: CopyPosition
  readonly numbers: Numbers
  readonly gathered: LatestPerSubject
  /**
   * Subjects seen since the read of the whole feed began. They are not kept, so such a read begins again after a crash.
   */
  readonly seen: Set<string>
  broken: boolean
  readonly counts: { events: number; changes: number; removals: number }
}

export async function openSession<F extends FeedName>(
  feed: F,
  options: SyncOptions<F>,
  now: () => number,
): Promise<Session> {
  const state = await load(feed, options, now)
  return {
    get reading() {
      return state.position.reading
    },
    get broken() {
      return state.broken
    },
    counts: state.counts,
    get applied() {
      const { reading, sweep } = state.kept
      if (reading.kind !== 'numbers' || sweep) return undefined
      return { sequenceNumber: reading.after, epoch: reading.epoch }
    },
    gather: (events, reading) => gather(state, events, reading),
    flushIfFull: () => flushIfFull(state),
    flush: () => flush(state),
    finish: (forgetBeforeMs) => finish(state, forgetBeforeMs),
    checkTenant(tenantId) {
      state.position = bindTenant(state.position, tenantId)
    },
    async open(reading) {
      const isFilled = await holdsSomething(options)
      state.position = openRead(state.position, reading, isFilled)
      state.seen.clear()
    },
    startOver: (reason) => startOver(state, reason),
  }
}

async function load<F extends FeedName>(
  feed: F,
  options: SyncOptions<F>,
  now: () => number,
): Promise<State<F>> {
  const source = { feed, apiEventType: options.apiEventType ?? null }
  const loaded = await options.checkpoint.load()
  const kept = loaded === undefined || loaded === null ? newCheckpoint(source) : readCheckpoint(loaded)
  checkSource(kept, source)
  const position = resume(kept, mayHoldRemains(kept) && (await holdsSomething(options)))
  const numbers = numbersOf({ ...kept, ...position })
  const gathered = createLatestPerSubject(numbers)
  const counts = { events: 0, changes: 0, removals: 0 }
  return { feed, options, now, kept, position, numbers, gathered, seen: new Set(), broken: false, counts }
}

async function holdsSomething<F extends FeedName>({ copy }: SyncOptions<F>): Promise<boolean> {
  return copy !== undefined && (await copy.count()) > 0
}

function gather<F extends FeedName>(state: State<F>, events: readonly FeedEvent[], reading: Reading): void {
  // Before any of them is taken: an event of another tenant must not come in among others.
  for (const { tenantId } of events) state.position = bindTenant(state.position, tenantId)
  for (const event of events) {
    const subjectId = subjectOf(state.feed, event)
    state.gathered.add(subjectId, event)
    if (state.position.sweep) state.seen.add(subjectId)
  }
  state.counts.events += events.length
  state.position = advance(state.position, reading)
}

async function flushIfFull<F extends FeedName>(state: State<F>): Promise<void> {
  const { gathered, numbers, options } = state
  // While the whole feed is walked page by page, the checkpoint grows with the number of subjects, so batches grow too.
  const enough = Math.max(options.batchSize ?? 1_000, Math.floor(numbers.applied.size / 8))
  if (gathered.size >= enough || gathered.length >= maxBatchLength) await flush(state)
}

async function flush<F extends FeedName>(state: State<F>, forgetBeforeMs = -Infinity): Promise<void> {
  const { feed, numbers, position, kept } = state
  const latest = state.gathered.take()
  if (position.reading.kind === 'pages') recordLatest(numbers, latest)
  forgetBefore(numbers, forgetBeforeMs)
  const hasMoved = position.opens || JSON.stringify(position.reading) !== JSON.stringify(kept.reading)
  if (latest.length === 0 && !hasMoved) return
  const changes: Change<F>[] = []
  const odd: OddEvent[] = []
  for (const { subjectId, event } of latest) {
    const change = changeOf(feed, subjectId, event)
    if (change.kind === 'odd') odd.push(change)
    else changes.push(change)
  }
  await applyBatch(state, changes, odd)
}

async function finish<F extends FeedName>(state: State<F>, forgetBeforeMs: number): Promise<void> {
  if (!state.position.sweep) return flush(state, forgetBeforeMs)
  await flush(state)
  const stale = await staleOf(state)
  state.position = endSweep(state.position)
  state.seen.clear()
  forgetBefore(state.numbers, forgetBeforeMs)
  return applyBatch(state, stale)
}

/** Removals of what the copy held before the whole feed was read, and the feed does not have. */
async function staleOf<F extends FeedName>({
  options,
  seen,
  numbers,
}: State<F>): Promise<readonly Change<F>[]> {
  const stale: Change<F>[] = []
  for await (const subjectId of options.copy?.subjects() ?? []) {
    if (seen.has(subjectId) || numbers.applied.has(subjectId)) continue
    stale.push({ kind: 'remove', subjectId, sequenceNumber: 0, quirks: [] })
  }
  return stale
}

async function applyBatch<F extends FeedName>(
  state: State<F>,
  changes: readonly Change<F>[],
  odd: readonly OddEvent[] = [],
): Promise<void> {
  const { options, numbers, counts } = state
  const { checkpoint: store } = options
  state.broken = true
  const startsOver = state.position.opens && options.copy === undefined
  const removals = await countRemovals(state, changes)
  const numbered = changes.filter(({ sequenceNumber }) => sequenceNumber > 0)
  if (store.save !== undefined && numbered.length > 0) {
    // Kept before it is done: after a crash in between, an older event of these subjects must not be applied.
    const underWay = numbered.map((change) => [change.subjectId, change.sequenceNumber] as const)
    const { reading, sweep, tenantId } = state.position
    await store.save(withPending(state.kept, { reading, sweep, tenantId }, underWay))
  }
  state.position = beginBatch(state.position, removals)
  for (const { subjectId, sequenceNumber } of [...numbered, ...odd])
    settle(numbers, subjectId, sequenceNumber)
  const checkpoint = checkpointOf(state.kept, state.position, numbers)
  if (changes.length > 0 || startsOver || store.save === undefined) {
    await options.apply({ changes, startsOver, checkpoint })
  }
  await store.save?.(checkpoint)
  state.kept = checkpoint
  counts.changes += changes.length
  counts.removals += changes.filter(({ kind }) => kind === 'remove').length
  state.broken = false
  for (const event of odd) options.onOdd?.(event)
}

/** The breaker's window with the removals of this batch in it. Throws `MassRemovalError` when they are too many. */
async function countRemovals<F extends FeedName>(
  { options, position, now }: State<F>,
  changes: readonly Change<F>[],
): Promise<CopyPosition['removals']> {
  const { copy, breaker, allowMassRemoval } = options
  const subjectIds = changes.filter(({ kind }) => kind === 'remove').map(({ subjectId }) => subjectId)
  if (copy === undefined || subjectIds.length === 0) return position.removals
  const allow = allowMassRemoval === true
  const window = position.removals ?? undefined
  return (await guardRemovals({ copy, subjectIds, window, nowMs: now(), allow, breaker })) ?? null
}

function startOver<F extends FeedName>(state: State<F>, reason: ResyncReason): void {
  state.gathered.take()
  state.numbers.applied.clear()
  state.numbers.pending.clear()
  state.position = beginAnew(state.position)
  state.kept = checkpointOf(state.kept, state.position, state.numbers)
  state.options.onResync?.(reason)
}
