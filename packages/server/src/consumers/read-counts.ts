/**
 * What consumers have been sent: recorded in memory when the last byte of an answer has been taken, and added to the store with the other
 * counts (D28). No byte is parsed, because an answer says which numbers it holds. A crash loses one interval, so the record may show less
 * than was sent, but never more.
 */
import { mostSentRows } from './consumer.ts'
import type { Acknowledgement, ConsumerName, ConsumerStore } from './consumer.ts'
import { addInParts } from '../sql/add-in-parts.ts'
import type { WriteBuffer } from '../runtime/write-buffer.ts'
import { consumerText } from './consumer-rows.ts'
import { readRanges, newReadOf } from './read-ranges.ts'
import type { Delivered } from './read-ranges.ts'
import { refusalCounts } from './refusal-counts.ts'
import type { RefusedRequest } from './refusal-counts.ts'
import { problems } from '../http/problem/problem.ts'
import type { Exchange } from '../http/routed.ts'
import { feedRead } from '../reading/min-sequence.ts'
import { consumerNameOf } from './consumer-name.ts'

export interface ReadCounts extends WriteBuffer {
  /** Called when the last byte of an answer has been taken. */
  note(keyId: string, name: string, delivered: Delivered, status: number): void
  noteRefusal(refused: RefusedRequest): void
  /** What a consumer reports that it has done. */
  acknowledge(acknowledgement: Omit<Acknowledgement, 'acknowledgedMs'>): void
  /** How often something was left out because too much is counted already. */
  dropped(): number
}

interface ReadCountsOptions {
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
  /** For how many days it is kept when something was first sent, and how results changed. */
  readonly resultDays: number
}

const dayMs = 86_400_000
const rowsPerCommit = 500
const mostAcknowledgements = 50_000
const tidyEveryMs = 3_600_000

type Store = Pick<ConsumerStore, 'add' | 'addRefusals' | 'acknowledge' | 'tidy'>

export function createReadCounts(store: Store, options: ReadCountsOptions): ReadCounts {
  const { clock = Date.now, resultDays } = options
  const ranges = readRanges()
  const refusals = refusalCounts()
  const acknowledgements = lastAcknowledgements()
  let touched = new Map<string, ConsumerName>()
  let tidyMs = clock()

  async function tidy(rest: () => Promise<void>): Promise<void> {
    const nowMs = clock()
    if (nowMs - tidyMs < tidyEveryMs) return
    const consumers = [...touched.values()]
    touched = new Map()
    tidyMs = nowMs
    const kept = { mostRows: mostSentRows, beforeMs: nowMs - resultDays * dayMs }
    for (const some of [...inRows(consumers), []]) {
      while (await store.tidy({ consumers: some, ...kept })) await rest()
    }
  }

  let flushing: Promise<void> = Promise.resolve()

  async function addAll(rest: () => Promise<void>): Promise<void> {
    const parts = ranges.take()
    const refused = refusals.take()
    const latest = acknowledgements.take()
    const addReadings = async (some: typeof parts): Promise<void> => {
      await store.add(some.map(newReadOf))
      for (const { consumer } of some) touched.set(consumerText(consumer), consumer)
    }
    const leftParts = await addInParts(parts, rowsPerCommit, addReadings, rest)
    const leftRefused = await addInParts(refused, rowsPerCommit, (some) => store.addRefusals(some), rest)
    const leftLatest = await addInParts(latest, rowsPerCommit, (some) => store.acknowledge(some), rest)
    ranges.giveBack(leftParts?.rows ?? [])
    refusals.giveBack(leftRefused?.rows ?? [])
    acknowledgements.giveBack(leftLatest?.rows ?? [])
    const left = leftParts ?? leftRefused ?? leftLatest
    if (left !== undefined) throw left.failure
    await tidy(rest)
  }

  return {
    note: (keyId, name, delivered, status) => ranges.note(keyId, name, delivered, status, clock()),
    noteRefusal: (refused) => refusals.note(refused, clock()),
    acknowledge: (one) => acknowledgements.note({ ...one, acknowledgedMs: clock() }),
    dropped: () => ranges.dropped() + refusals.dropped(),
    flush(rest) {
      flushing = flushing.then(
        () => addAll(rest),
        () => addAll(rest),
      )
      return flushing
    },
  }
}

/** The last of each consumer. */
function lastAcknowledgements() {
  let latest = new Map<string, Acknowledgement>()
  return {
    note(one: Acknowledgement): void {
      const name = consumerText(one)
      const before = latest.get(name)
      const isForward = before?.epoch !== one.epoch || one.sequenceNumber > before.sequenceNumber
      if (isForward && latest.size < mostAcknowledgements) latest.set(name, one)
    },
    take(): readonly Acknowledgement[] {
      const batch = [...latest.values()]
      latest = new Map()
      return batch
    },
    /** Acknowledgements made since then are kept. */
    giveBack(given: readonly Acknowledgement[]): void {
      for (const one of given) {
        const name = consumerText(one)
        if (!latest.has(name)) latest.set(name, one)
      }
    },
  }
}

function* inRows<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += rowsPerCommit) yield rows.slice(from, from + rowsPerCommit)
}

/**
 * What a consumer was sent is counted once the last byte was taken, and what it was refused (D28). `aborted`: the client went away before
 * it had the answer.
 */
export function recordReading(
  readCounts: ReadCounts,
  { request, routed, answer, keyId, tenantId, problem }: Exchange,
  aborted: boolean,
  status: number,
): void {
  // An answer to `HEAD` sends no events, and a consumer's report is not a read.
  if (keyId === undefined || request.method !== 'GET') return
  if (problem !== undefined) {
    // A path that does not exist refused nothing.
    if (feedRead(routed.access) === undefined || status === problems.event_not_found.status) return
    const name = consumerNameOf(request)
    readCounts.noteRefusal({ keyId, name, tenantId, code: problem, status })
    return
  }
  if (aborted || !('delivered' in answer) || answer.delivered === undefined) return
  readCounts.note(keyId, consumerNameOf(request), answer.delivered, status)
}
