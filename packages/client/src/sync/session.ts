/**
 * The state of a running sync: the collected events, the state of the copy, and the one way in which a batch gets into
 * it.
 */
import type { FeedEvent, FeedName } from '../wire.ts'
import { CheckpointError } from '../errors.ts'
import type { RemovalWindow } from './breaker.ts'
import { changeOf, subjectOf } from './change.ts'
import type { Change } from './change.ts'
import { announcing, checkSource, newCheckpoint, readCheckpoint } from './checkpoint.ts'
import type { Checkpoint } from './checkpoint.ts'
import { guardRemovals } from './guard-removals.ts'
import { createLatestPerSubject } from './latest-per-subject.ts'
import type { Applied } from './latest-per-subject.ts'
import type { SyncOptions } from './options.ts'
import { createdMsOf } from './plan.ts'
import { beginningOf, isTied } from './reading.ts'
import type { ResyncReason } from './plan.ts'
import type { Reading } from './reading.ts'

/** UTF-16 units of payload after which a batch is full, however few subjects it has: memory stays under about 50 MB. */
const maxBatchLength = 16 * 2 ** 20

export interface Session {
  readonly reading: Reading
  /** A batch failed half-way: the collected events are lost, and only the kept checkpoint is valid. */
  readonly broken: boolean
  readonly counts: { readonly events: number; readonly changes: number; readonly removals: number }
  /** Takes the events of one answer, and the progress of reading once they are in the copy. */
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

export async function openSession<F extends FeedName>(
  feed: F,
  options: SyncOptions<F>,
  now: () => number,
): Promise<Session> {
  const { checkpoint: store, copy, batchSize = 1_000 } = options
  const source = { feed, apiEventType: options.apiEventType ?? null }
  const loaded = await store.load()
  /** The contents of the checkpoint store, as far as this sync knows. */
  let kept: Checkpoint =
    loaded === undefined || loaded === null ? newCheckpoint(source) : readCheckpoint(loaded)
  checkSource(kept, source)

  let { reading, sweep, opens, tenantId } = kept
  let removals: RemovalWindow | undefined = kept.removals ?? undefined
  const applied = new Map<string, Applied>(Object.entries(kept.applied))
  const pending = new Map<string, number>(Object.entries(kept.pending))
  const gathered = createLatestPerSubject({ applied, pending })
  /**
   * Subjects seen since the read of the whole feed began. They are not kept, so such a read begins again after a crash.
   */
  const seen = new Set<string>()
  let broken = false
  const counts = { events: 0, changes: 0, removals: 0 }
  // The first batch failed in its middle: if the feed has lost events of it, no change will report that.
  if (opens && copy !== undefined && reading.kind !== 'start') sweep ||= (await copy.count()) > 0
  if (sweep && (reading.kind === 'snapshot' || reading.kind === 'numbers')) reading = beginningOf(reading)
  // Earlier versions kept these numbers without naming the feed: in a rebuilt feed they would hide every event.
  if (!isTied(reading)) pending.clear()

  const checkpointNow = (): Checkpoint => ({
    ...kept,
    reading,
    sweep,
    opens,
    tenantId,
    applied: Object.fromEntries(applied),
    pending: Object.fromEntries(pending),
    removals: removals ?? null,
  })

  async function countAgainstBreaker(changes: readonly Change<F>[]): Promise<RemovalWindow | undefined> {
    const subjectIds = changes.filter(({ kind }) => kind === 'remove').map(({ subjectId }) => subjectId)
    if (copy === undefined || subjectIds.length === 0) return removals
    const allow = options.allowMassRemoval === true
    const { breaker } = options
    return guardRemovals({ copy, subjectIds, window: removals, nowMs: now(), allow, breaker })
  }

  async function applyBatch(changes: readonly Change<F>[]): Promise<void> {
    broken = true
    const startsOver = opens && copy === undefined
    const removalsAfter = await countAgainstBreaker(changes)
    const numbers = changes.filter(({ sequenceNumber }) => sequenceNumber > 0)
    if (store.save !== undefined && numbers.length > 0) {
      // Kept before it is done: after a crash in between, an older event of these subjects must not be applied.
      const underWay = numbers.map((change) => [change.subjectId, change.sequenceNumber] as const)
      await store.save(announcing(kept, { reading, sweep, tenantId }, underWay))
    }
    removals = removalsAfter
    opens = false
    for (const { subjectId, sequenceNumber } of numbers) {
      if ((pending.get(subjectId) ?? Infinity) <= sequenceNumber) pending.delete(subjectId)
    }
    const checkpoint = checkpointNow()
    if (changes.length > 0 || startsOver || store.save === undefined) {
      await options.apply({ changes, startsOver, checkpoint })
    }
    await store.save?.(checkpoint)
    kept = checkpoint
    counts.changes += changes.length
    counts.removals += changes.filter(({ kind }) => kind === 'remove').length
    broken = false
  }

  function forgetBefore(createdMs: number): void {
    for (const [subjectId, entry] of applied) if (entry[1] < createdMs) applied.delete(subjectId)
  }

  async function flush(forgetBeforeMs = -Infinity): Promise<void> {
    const latest = gathered.take()
    if (reading.kind === 'pages') {
      for (const { subjectId, event } of latest) {
        applied.set(subjectId, [event.sequenceNumber, Math.max(0, createdMsOf(event.createdDate))])
      }
    }
    forgetBefore(forgetBeforeMs)
    const moved = opens || JSON.stringify(reading) !== JSON.stringify(kept.reading)
    if (latest.length === 0 && !moved) return
    await applyBatch(latest.map(({ subjectId, event }) => changeOf(feed, subjectId, event)))
  }

  return {
    get reading() {
      return reading
    },
    get broken() {
      return broken
    },
    counts,
    gather(events, next) {
      for (const event of events) {
        const subjectId = subjectOf(feed, event)
        gathered.add(subjectId, event)
        if (sweep) seen.add(subjectId)
      }
      counts.events += events.length
      reading = next
    },
    async flushIfFull() {
      // While the whole feed is walked page by page, the checkpoint grows with the number of subjects, so batches grow
      // too.
      const enough = Math.max(batchSize, Math.floor(applied.size / 8))
      if (gathered.size >= enough || gathered.length >= maxBatchLength) await flush()
    },
    flush: () => flush(),
    async finish(forgetBeforeMs) {
      if (!sweep) {
        await flush(forgetBeforeMs)
        return
      }
      await flush()
      const stale: Change<F>[] = []
      for await (const subjectId of copy?.subjects() ?? []) {
        if (!seen.has(subjectId) && !applied.has(subjectId)) {
          stale.push({ kind: 'remove', subjectId, sequenceNumber: 0, quirks: [] })
        }
      }
      sweep = false
      seen.clear()
      forgetBefore(forgetBeforeMs)
      await applyBatch(stale)
    },
    checkTenant(id) {
      if (id === '') return
      if (tenantId !== null && tenantId.toLowerCase() !== id.toLowerCase()) {
        throw new CheckpointError(
          `The checkpoint belongs to tenant ${tenantId}, the key reads tenant ${id}. Use one checkpoint and one copy for each.`,
        )
      }
      tenantId ??= id
    },
    async open(next) {
      sweep = copy !== undefined && (await copy.count()) > 0
      opens = true
      seen.clear()
      reading = next
    },
    startOver(reason) {
      gathered.take()
      applied.clear()
      pending.clear()
      reading = { kind: 'start' }
      opens = true
      kept = checkpointNow()
      options.onResync?.(reason)
    },
  }
}
