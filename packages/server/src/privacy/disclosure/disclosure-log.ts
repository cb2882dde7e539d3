/**
 * What each key is sent, noted in memory and added to the store every half minute (D28). An answer is noted when it is handed to the
 * transport, before its first byte leaves: what may have been sent counts as sent. A crash loses at most one interval, and the run
 * recorded in the store shows which.
 */
import type { Exchange } from '../../http/routed.ts'
import { randomUUID } from 'node:crypto'
import { numberRanges } from '../../runtime/number-ranges.ts'
import type { NumberRanges } from '../../runtime/number-ranges.ts'
import { feedName } from '../../events/feed-key.ts'
import { numbersPerBlock } from './disclosure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type {
  DisclosureStore,
  NumberRange,
  DisclosurePiece,
  DisclosureView,
  Disclosure,
} from './disclosure.ts'
import { addInParts } from '../../sql/add-in-parts.ts'
import { unreported } from '../../runtime/background-task.ts'
import { startFlushing } from '../../runtime/write-buffer.ts'

export interface DisclosureLog {
  note(keyId: string, sent: Disclosure): void
  /** Adds the notes now. On failure they are kept for the next time, and the failure is thrown. */
  flush(): Promise<void>
  /** Adds the notes a last time, and records that nothing is missing, if the store can still be reached. */
  close(): Promise<void>
}

const piecesPerCommit = 500
const noRest = async (): Promise<void> => undefined
/** With this many ranges in memory they are added early: 100,000 take some 5 MB. */
const mostRanges = 100_000

interface Pending {
  readonly keyId: string
  readonly key: FeedKey
  readonly view: DisclosureView
  readonly hour: number
  readonly ranges: NumberRanges
}

export const hourMs = 3_600_000

/** Resolves when the run is recorded in the store; if the store is away, it is recorded later. `clock`: milliseconds since 1970. */
export async function createDisclosureLog(
  store: Pick<DisclosureStore, 'add' | 'mark'>,
  clock: () => number = Date.now,
): Promise<DisclosureLog> {
  const run = { runId: randomUUID(), beganMs: clock() }
  const ranges = pendingRanges()
  let ended = false
  /** Flushed early; if that fails, the next time is not earlier than usual. */
  let isFull = false

  async function write(): Promise<void> {
    const now = { ...run, throughMs: clock(), ended }
    const batch = ranges.take()
    try {
      const pieces = batch.flatMap(piecesOf)
      const left = await addInParts(pieces, piecesPerCommit, (some) => store.add(some), noRest)
      if (left !== undefined) throw left.failure
      await store.mark(now)
      isFull = false
    } catch (error) {
      for (const one of batch) ranges.put(one.keyId, { ...one, ranges: one.ranges.ranges() }, one.hour)
      throw error
    }
  }

  // A failure of the store shows elsewhere, and the notes are kept.
  const flushing = startFlushing('add_notes', unreported, write)
  const quietly = (): Promise<void> => flushing.flush().catch(() => undefined)
  await quietly()
  return {
    note(keyId, sent) {
      ranges.put(keyId, sent, Math.floor(clock() / hourMs))
      if (ranges.size() < mostRanges || isFull) return
      isFull = true
      void quietly()
    },
    flush: () => flushing.flush(),
    close() {
      ended = true
      return flushing.close()
    },
  }
}

interface PendingRanges {
  put(keyId: string, sent: Disclosure, hour: number): void
  /** Returns everything noted and forgets it. */
  take(): readonly Pending[]
  /** The number of ranges. */
  size(): number
}

function pendingRanges(): PendingRanges {
  let pending = new Map<string, Pending>()
  let count = 0
  return {
    put(keyId, { key, view, ranges }, hour) {
      const name = `${keyId} ${view} ${hour} ${feedName(key)}`
      let entry = pending.get(name)
      if (entry === undefined) {
        entry = { keyId, key, view, hour, ranges: numberRanges() }
        pending.set(name, entry)
      }
      const before = entry.ranges.size
      for (const [first, last] of ranges) entry.ranges.add(first, last)
      count += entry.ranges.size - before
    },
    take() {
      const entries = [...pending.values()]
      pending = new Map()
      count = 0
      return entries
    },
    size: () => count,
  }
}

/** Cut at the ends of blocks. */
function piecesOf({ keyId, key, view, hour, ranges }: Pending): readonly DisclosurePiece[] {
  const pieces = new Map<number, NumberRange[]>()
  for (const [first, last] of ranges.ranges()) {
    const lastBlock = Math.floor(last / numbersPerBlock)
    for (let block = Math.floor(first / numbersPerBlock); block <= lastBlock; block += 1) {
      const from = Math.max(first, block * numbersPerBlock)
      const to = Math.min(last, (block + 1) * numbersPerBlock - 1)
      const found = pieces.get(block)
      if (found === undefined) pieces.set(block, [[from, to]])
      else found.push([from, to])
    }
  }
  return [...pieces].map(([block, within]) => ({ key, keyId, view, hour, block, ranges: within }))
}

/** Records what an answer may send to its key, before its first byte leaves. */
export function recordSending(log: Pick<DisclosureLog, 'note'>, { request, answer, keyId }: Exchange): void {
  if (answer.kind !== 'pieces' && answer.kind !== 'stream') return
  if (answer.sent === undefined || keyId === undefined || request.method === 'HEAD') return
  log.note(keyId, answer.sent)
}
