import { ServiceError } from '@property-events/client'
import type { ProblemFault, PublishReceipt } from '@property-events/client'
import { readWholeNumber } from '@property-events/protocol'
import { problemSentence } from '../service-client.ts'
import type { Entry, RefusedEntry } from './read-entry.ts'

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
export async function sendBatch(entries: readonly Entry[], send: Send): Promise<BatchResult> {
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
): ReadonlyMap<Entry, ProblemFault> {
  const named = new Map<Entry, ProblemFault>()
  for (const fault of faults) {
    const pointer = fault.pointer ?? ''
    const place = /^\/([^/]*)/.exec(pointer)?.[1] ?? ''
    const entry = entries[readWholeNumber(place) ?? -1]
    if (entry === undefined || named.has(entry)) continue
    named.set(entry, { ...fault, pointer: pointer.slice(place.length + 1) })
  }
  return named
}

function refusalOf(
  { line, item }: Entry,
  fault: ProblemFault | undefined,
  answer: ServiceError,
): RefusedEntry {
  if (fault !== undefined) {
    return { line, item, code: fault.code, pointer: fault.pointer, message: fault.message }
  }
  const message = answer.detail ?? problemSentence(answer)
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
