import { ServiceError } from '@property-events/client'
import type { ProblemError, PublishReceipt } from '@property-events/client'
import { readWholeNumber } from '@property-events/protocol'
import { problemMessage } from '../service-client.ts'
import type { PublishClient } from './publish-client.ts'
import { positionNumber, readEntry } from './read-entry.ts'
import type { Entry, EntryReading, RefusedEntry } from './read-entry.ts'
import type { Source } from './source.ts'
import { splitJson, splitLines } from './split.ts'

interface PublishFileOptions {
  readonly client: PublishClient
  readonly source: Source
  /** UUID of the run, from which the ids of events without one are made. */
  readonly run: string
  /** Place of the last event that was answered earlier, and is left out now; 0 for none. */
  readonly after: number
  readonly unchanged: 'skip' | 'store'
  readonly dryRun: boolean
  /** Ends it between two requests, or in the middle of one: an error is thrown. */
  readonly signal: AbortSignal
  /** After each batch, and before the next one is sent. `isLast`: the whole file is answered. */
  readonly onBatch: (result: BatchResult, batch: Batch, isLast: boolean) => Promise<void>
}

/**
 * Publishes a file of any size, request after request in the order of the file; the next batch is read while one is
 * answered. Throws the client's error when the service cannot continue; earlier batches are stored.
 */
export async function publishFile(options: PublishFileOptions): Promise<void> {
  const { client, dryRun, unchanged, signal } = options
  const send = (text: string) => client.publishText(text, { unchanged, dryRun, signal })
  const batches = groupBatches(readEntries(options))
  let next = batches.next()
  for (;;) {
    const read = await next
    if (read.done === true) return
    signal.throwIfAborted()
    next = batches.next()
    // A fault at the end of the file is reported in its turn, after the answer for the events before it.
    next.catch(() => undefined)
    const result = await sendBatch(read.value.entries, send)
    const isLast = await next.then(
      ({ done }) => done === true,
      () => false,
    )
    const refused = inOrder([...read.value.refused, ...result.refused])
    await options.onBatch({ ...result, refused }, read.value, isLast)
  }
}

async function* readEntries({ source, run, after }: PublishFileOptions): AsyncGenerator<EntryReading> {
  const pieces = source.format === 'json' ? splitJson(source.read()) : splitLines(source.read())
  for await (const piece of pieces) if (positionNumber(piece) > after) yield readEntry(piece, run)
}

function inOrder(refused: readonly RefusedEntry[]): readonly RefusedEntry[] {
  return refused.toSorted((a, b) => a.line - b.line || (a.item ?? 0) - (b.item ?? 0))
}

/** A request takes 1,000 events and 16 MiB: half of both leaves room and keeps an answer quick. */
const maxBatchEvents = 500
const maxBatchBytes = 8 * 2 ** 20

interface Batch {
  readonly entries: readonly Entry[]
  /** Events on the way that were refused without asking the service. */
  readonly refused: readonly RefusedEntry[]
  /** Place of its last event, refused ones included: all up to it are in this batch or in one before. */
  readonly lastPosition: number
  /** How far into the file it reaches, in bytes. */
  readonly endOffset: number
}

/**
 * Gathers events into requests, in the order of the file. An id that comes a second time begins a new batch: whether
 * it is a repeat or a conflict is then decided as if it had come from another file, and not by where batches end.
 */
export async function* groupBatches(readings: AsyncIterable<EntryReading>): AsyncGenerator<Batch> {
  let entries: Entry[] = []
  let refused: RefusedEntry[] = []
  let ids = new Set<string>()
  let bytes = 0
  let endOffset = 0
  let lastPosition = 0
  const take = (): Batch => {
    const batch = { entries, refused, lastPosition, endOffset }
    entries = []
    refused = []
    ids = new Set()
    bytes = 0
    return batch
  }
  for await (const reading of readings) {
    if (reading.kind === 'refused') {
      refused.push(reading.refused)
      lastPosition = positionNumber(reading.refused)
      if (refused.length >= maxBatchEvents) yield take()
      continue
    }
    const { entry } = reading
    const full = entries.length >= maxBatchEvents || bytes + entry.bytes + 1 > maxBatchBytes
    if (entries.length > 0 && (full || ids.has(entry.id))) yield take()
    entries.push(entry)
    lastPosition = positionNumber(entry)
    ids.add(entry.id)
    bytes += entry.bytes + 1
    endOffset = entry.endOffset
  }
  if (entries.length > 0 || refused.length > 0) yield take()
}

/** The results for the events of a batch. */
export interface BatchResult {
  readonly published: number
  readonly repeated: number
  readonly unchanged: number
  readonly refused: readonly RefusedEntry[]
  readonly advice: readonly RefusedEntry[]
}

/** Sends one request, of one event a line. */
type Send = (ndjson: string) => Promise<PublishReceipt>

/** Statuses that are about the events of a request, not about the request. */
const eventStatuses = new Set([400, 409, 413])

/**
 * Sends one batch. A request that is refused for some of its events is sent again without them or, when the answer does
 * not name them, in halves, until the rest is stored: the order of the file stays. Throws the error of `send` when that
 * concerns the whole: a key that may not publish, a wrong address.
 */
async function sendBatch(entries: readonly Entry[], send: Send): Promise<BatchResult> {
  let left = entries
  const refused: RefusedEntry[] = []
  while (left.length > 0) {
    const answer = await answerTo(left, send)
    if (!(answer instanceof ServiceError)) return { ...countReceipt(answer, left), refused }
    const named = faultsByEvent(answer, left)
    if (named.size === 0) {
      const [first] = left
      if (left.length > 1 || first === undefined) return await sendHalves(left, refused, send)
      refused.push(refusalOf(first, undefined, answer))
      break
    }
    for (const [entry, fault] of named) refused.push(refusalOf(entry, fault, answer))
    left = left.filter((entry) => !named.has(entry))
  }
  return { published: 0, repeated: 0, unchanged: 0, refused, advice: [] }
}

/** A refusal of events is an answer: it names those to leave out. */
async function answerTo(entries: readonly Entry[], send: Send): Promise<PublishReceipt | ServiceError> {
  try {
    return await send(entries.map((entry) => `${entry.text}\n`).join(''))
  } catch (error) {
    if (error instanceof ServiceError && eventStatuses.has(error.status)) return error
    throw error
  }
}

async function sendHalves(
  entries: readonly Entry[],
  refusedBefore: readonly RefusedEntry[],
  send: Send,
): Promise<BatchResult> {
  const middle = Math.ceil(entries.length / 2)
  const first = await sendBatch(entries.slice(0, middle), send)
  const second = await sendBatch(entries.slice(middle), send)
  return {
    published: first.published + second.published,
    repeated: first.repeated + second.repeated,
    unchanged: first.unchanged + second.unchanged,
    refused: [...refusedBefore, ...first.refused, ...second.refused],
    advice: [...first.advice, ...second.advice],
  }
}

/** The first fault of each event that the answer names with a pointer such as `/3/payload/price`. */
function faultsByEvent(
  { faults }: ServiceError,
  entries: readonly Entry[],
): ReadonlyMap<Entry, ProblemError> {
  const named = new Map<Entry, ProblemError>()
  for (const fault of faults) {
    const pointer = fault.pointer ?? ''
    const segment = /^\/([^/]*)/.exec(pointer)?.[1] ?? ''
    const entry = entries[readWholeNumber(segment) ?? -1]
    if (entry === undefined || named.has(entry)) continue
    named.set(entry, { ...fault, pointer: pointer.slice(segment.length + 1) })
  }
  return named
}

function refusalOf(
  { line, item }: Entry,
  fault: ProblemError | undefined,
  answer: ServiceError,
): RefusedEntry {
  if (fault !== undefined) {
    return { line, item, code: fault.code, pointer: fault.pointer, message: fault.message }
  }
  const message = answer.detail ?? problemMessage(answer)
  return { line, item, code: answer.code, pointer: undefined, message }
}

function countReceipt(
  { events, warnings }: PublishReceipt,
  entries: readonly Entry[],
): Omit<BatchResult, 'refused'> {
  let published = 0
  let unchanged = 0
  for (const event of events) {
    // Derived events are listed beside the event of the file that caused them.
    if (event.derived === true || event.repeated === true) continue
    if (event.unchanged === true) unchanged += 1
    else published += 1
  }
  // Not counted one by one: the repeat of an event that caused another brings both back.
  const repeated = entries.length - published - unchanged
  const advice = warnings.flatMap(({ index, code, pointer, message }) => {
    const entry = entries[index]
    return entry === undefined ? [] : [{ line: entry.line, item: entry.item, code, pointer, message }]
  })
  return { published, repeated, unchanged, advice }
}
